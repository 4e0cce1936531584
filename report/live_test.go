package report_test

import (
	"bytes"
	"strings"
	"testing"

	"railyard/report/table"
)

// TestLive: rows that are printed as they come look as those that are printed together, and stand there before the next one comes.
func TestLive(t *testing.T) {
	doc := runDocument()
	var all, out bytes.Buffer
	if err := table.Emit(&all, table.Text, doc); err != nil {
		t.Fatal(err)
	}
	live, err := table.NewLive(&out, false, doc)
	if err != nil {
		t.Fatal(err)
	}
	now := *doc
	for i := range doc.Rows {
		lines := strings.Count(out.String(), "\n")
		now.Rows = doc.Rows[:i+1]
		if err := live.Row(&now, i); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n") - lines; n != 1 {
			t.Errorf("row %d: %d lines", i, n)
		}
	}
	if err := live.End(doc); err != nil {
		t.Fatal(err)
	}
	if out.String() != all.String() {
		t.Errorf("one after another:\n%s\ntogether:\n%s", out.String(), all.String())
	}
}
