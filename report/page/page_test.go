package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/report/chart"
)

func sample() *Page {
	return &Page{Title: "A <study> & more", Lede: "The answer.", Footer: "railyard",
		Facts: []Fact{{Name: "step", Value: "12 ms", Note: "of which 3 exposed"}},
		Sections: []Section{
			{Heading: "Where the time goes", Text: []string{"First & last."}, Figures: []Figure{{Caption: "a caption",
				Chart: chart.Waterfall(chart.Frame{Title: "step", Source: "simulated", X: "ms"},
					[]chart.Part{{Name: "compute", Value: 9, Colour: chart.Compute}, {Name: "exposed", Value: 3, Colour: chart.Exposed}},
					"step")}}},
			{Heading: "Numbers", Tables: []Table{{Caption: "rows", Header: []string{"what", "GB/s"}, Rows: [][]string{{"a<b", "12.5"}}}},
				Notes: []string{"a note"}},
			{Heading: "More"},
		}}
}

// element is what the test looks at in the parsed page.
type element struct {
	count map[string]int
	text  strings.Builder
	refs  []string
}

// parsed reads a page as a browser would have to: every element closed, entities known.
func parsed(t *testing.T, data []byte) *element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	e := &element{count: map[string]int{}}
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				t.Errorf("%d elements are not closed", depth)
			}
			return e
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			depth++
			e.count[x.Name.Local]++
			for _, a := range x.Attr {
				if name := a.Name.Local; name == "src" || name == "href" {
					e.refs = append(e.refs, a.Value)
				}
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
			e.text.Write(x)
		}
	}
}

func TestPageIsWholeAndAlone(t *testing.T) {
	var out bytes.Buffer
	if err := sample().Write(&out); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, out.Bytes())
	for name, want := range map[string]int{"h1": 1, "h2": 3, "svg": 1, "figcaption": 1, "table": 1, "tr": 2, "script": 0, "link": 0,
		"img": 0, "section": 3} {
		if e.count[name] != want {
			t.Errorf("%d elements %s, want %d", e.count[name], name, want)
		}
	}
	for _, ref := range e.refs {
		if !strings.HasPrefix(ref, "#") {
			t.Errorf("the page fetches %q", ref)
		}
	}
	for _, text := range []string{"A <study> & more", "The answer.", "First & last.", "a<b", "12.5", "compute", "simulated", "a note"} {
		if !strings.Contains(e.text.String(), text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	if bytes.Contains(out.Bytes(), []byte("url(http")) || bytes.Contains(out.Bytes(), []byte("@import")) {
		t.Error("the style fetches something")
	}
	if !bytes.Contains(out.Bytes(), []byte(`<td class="n">12.5</td>`)) {
		t.Error("numbers do not stand to the right")
	}
}

func TestSamePageSameBytes(t *testing.T) {
	var a, b bytes.Buffer
	if err := errors.Join(sample().Write(&a), sample().Write(&b)); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("two pages differ, or %v", err)
	}
}

// picture is drawn already.
func picture(svg []byte) func(string) (func(io.Writer) error, error) {
	return func(string) (func(io.Writer) error, error) {
		return func(w io.Writer) error { _, err := w.Write(svg); return err }, nil
	}
}

func TestBadFigureWritesNothing(t *testing.T) {
	for name, f := range map[string]Figure{
		"empty chart": {Chart: &chart.Lines{}},
		"no svg":      {Picture: picture([]byte("<p>hello</p>"))},
		"script":      {Picture: picture([]byte("<svg><script>x()</script></svg>"))},
		"cut off":     {Picture: picture([]byte("<svg><g>"))},
	} {
		p := &Page{Title: "t", Sections: []Section{{Heading: "h", Figures: []Figure{f}}}}
		var out bytes.Buffer
		if err := p.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes", name, err, out.Len())
		}
	}
}
