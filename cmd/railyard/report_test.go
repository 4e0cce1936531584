package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole report parses, needs nothing from elsewhere, and every figure says where it comes
// from.
func TestReportPage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.html")
	root := newRoot()
	root.SetArgs([]string{"report", "-t", "dgx-h100", "-w", "llama-3-8b", "--layout", "dp8 zero1 mb1 gb8 full", "-s", "1M", "--goodput",
		"checkpoint=60s,days=10", "-o", file})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	figures, ids := 0, map[string]bool{}
	var text strings.Builder
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.CharData:
			text.Write(x)
		case xml.StartElement:
			if x.Name.Local == "figure" {
				figures++
			}
			for _, a := range x.Attr {
				switch {
				case a.Name.Local == "id":
					ids[a.Value] = true
				case a.Name.Local == "src", a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#"):
					t.Errorf("<%s %s=%q> leads out of the file", x.Name.Local, a.Name.Local, a.Value)
				case a.Name.Local == "href" && x.Name.Local == "a":
					defer func() {
						if !ids[a.Value[1:]] {
							t.Errorf("the link %s leads nowhere", a.Value)
						}
					}()
				}
			}
		}
	}
	if figures < 10 {
		t.Errorf("%d figures", figures)
	}
	for _, want := range []string{"Where a step of llama-3-8b goes", "Predicted by railyard", "Simulated by railyard: dgx-h100, 8 GPUs",
		"Price book", "P99"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(text.String(), "NaN") || strings.Contains(text.String(), "%!") {
		t.Error("the page has a NaN or a bad format")
	}
}
