package measurement_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/model/measurement"
)

// TestLines: columns in any order, comments left out, lines as an editor counts them; what is needed is missed by name, and what is
// wrong with cells is told with its place.
func TestLines(t *testing.T) {
	var got []string
	read := func(text string) error {
		return measurement.Lines(strings.NewReader(text), "f.csv", func(l *measurement.Line) {
			got = append(got, fmt.Sprint(l.No, l.Cell("a"), l.Count("b"), l.Cell("c"), l.Good()))
		}, "a")
	}
	if err := read("# made by hand\nb,a\n1, x \n# more\n2,y\n"); err != nil || !slices.Equal(got, []string{"3x1true", "5y2true"}) {
		t.Errorf("%q, %v", got, err)
	}
	for text, want := range map[string]string{"": "f.csv:1: the file is empty: the first line must name the columns, at least a",
		"b\n1\n": "at least a", "a,b\n1\n": "f.csv:2: row: 1 cells for 2 columns", "a,b\n1,0\n": `f.csv:2: b: "0" is not a whole number`} {
		if err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
