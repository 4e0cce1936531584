package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"railyard/model/units"
)

// SearchDocument is the outcome of a search over layouts.
type SearchDocument struct {
	Schema   string      `json:"schema"`
	Topology string      `json:"topology"`
	GPUs     int         `json:"gpus"`
	Workload string      `json:"workload"`
	Runtime  string      `json:"runtime"`
	Layouts  int         `json:"layouts"`
	Timed    int         `json:"timed"`
	Pruned   int         `json:"pruned"`
	TooLarge int         `json:"too_large"`
	Resumed  int         `json:"resumed"`
	Unit     string      `json:"unit"`
	Rows     []SearchRow `json:"rows"`
}

// SearchRow is one of the best layouts.
type SearchRow struct {
	Layout         string  `json:"layout"`
	StepMS         float64 `json:"step_ms"`
	MFU            float64 `json:"mfu"`
	UnitsPerSecond float64 `json:"units_per_second"`
	MemoryGiB      float64 `json:"memory_gib"`
	Slower         float64 `json:"slower"` // than the best, as a share of it
	Why            string  `json:"why"`    // what it loses, or what the best spends its time on
}

// WriteText writes the best layouts for people.
func (d *SearchDocument) WriteText(w io.Writer) error {
	l := &lines{w: w}
	l.printf("%s on %s, %s: %s; %d played, %d ruled out by bounds, %d do not fit", d.Workload, d.Topology, units.Counted(d.GPUs, "GPU"), units.Counted(d.Layouts, "layout"), d.Timed, d.Pruned, d.TooLarge)
	if d.Resumed > 0 {
		l.printf("; %d from the journal", d.Resumed)
	}
	l.printf("\ncommunication by %s\n\n", d.Runtime)
	t := newTable(l)
	t.AppendRow([]any{"layout", "step ms", "MFU %", d.Unit + "/s", "GiB", "slower", "why"})
	for _, r := range d.Rows {
		t.AppendRow([]any{r.Layout, fmt.Sprintf("%.1f", r.StepMS), fmt.Sprintf("%.1f", 100*r.MFU), fmt.Sprintf("%.4g", r.UnitsPerSecond), fmt.Sprintf("%.1f", r.MemoryGiB), fmt.Sprintf("%.1f%%", 100*r.Slower), r.Why})
	}
	alignRight(t, 2, 3, 4, 5, 6)
	t.Render()
	return l.err
}

// WriteCSV writes a line a layout.
func (d *SearchDocument) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	rows := [][]string{{"layout", "step_ms", "mfu", "units_per_second", "memory_gib", "slower", "why"}}
	for _, r := range d.Rows {
		rows = append(rows, []string{r.Layout, number(r.StepMS), number(r.MFU), number(r.UnitsPerSecond), number(r.MemoryGiB), number(r.Slower), r.Why})
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}
