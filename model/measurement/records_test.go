package measurement_test

import (
	"strings"
	"testing"

	"railyard/model/measurement"
)

// TestRecords: columns in any order, comments left out, lines as an editor counts them; what is needed is missed by name.
func TestRecords(t *testing.T) {
	rows, err := measurement.Records(strings.NewReader("# made by hand\nb,a\n1, x \n# more\n2,y\n"), "f.csv", "a")
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	if r := rows[1]; r.Line != 5 || r.Cell("a") != "y" || r.Cell("b") != "2" || r.Cell("c") != "" || rows[0].Cell("a") != "x" {
		t.Errorf("%+v", rows)
	}
	for text, want := range map[string]string{"": "f.csv:1: the first line must name the columns, at least a", "b\n1\n": "at least a",
		"a,b\n1\n": "f.csv: record on line 2: wrong number of fields"} {
		if _, err := measurement.Records(strings.NewReader(text), "f.csv", "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
