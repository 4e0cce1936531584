package report_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
)

// Residuals have every row of a comparison in the order of its file, with the sizes, medium and kernels that headlines tell
// apart, and the prediction that was compared.
func TestResiduals(t *testing.T) {
	c := &report.Comparison{}
	for _, line := range []int{3, 2} {
		m := measurement.Row{ID: "x", Collective: collective.AllReduce, GPUs: 16, Nodes: 2, Line: line,
			Size: units.Bytes(line) * 4 * units.KiB, Time: 100 * units.Microsecond}
		c.Append(report.Compare(&measurement.Set{File: "rows.csv", Rows: []measurement.Row{m}},
			func(measurement.Row) (report.Predicted, error) {
				return report.Predicted{Time: 80 * units.Microsecond, Low: 40 * units.Microsecond, High: 160 * units.Microsecond,
					Schedule: "ring/ll", Profile: "h100", Basis: "own", Over: "ib"}, nil
			}))
	}
	rows, err := csv.NewReader(strings.NewReader(string(written(t, emitted(table.CSV, c.Residuals()))))).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	cell := func(row int, column string) string { return rows[row][slices.Index(rows[0], column)] }
	for column, want := range map[string]string{"series": "x", "size_bytes": "8192", "sizes": "to 256 KiB", "over": "ib", "kernels": "own",
		"measured_at": "rows.csv:2", "measured_us": "100", "predicted_us": "80", "error": "-0.2", "schedule": "ring/ll", "verdict": "normal",
		"low_us": "40", "high_us": "160", "profile": "h100"} {
		if got := cell(1, column); got != want {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
	if got := cell(2, "measured_at"); got != "rows.csv:3" {
		t.Errorf("second row: %s", got)
	}
}
