package report

import (
	"fmt"
	"io"

	"railyard/model/units"
)

// SizeDocument is schema railyard.size/v1: clusters for a workload.
type SizeDocument struct {
	Schema   string    `json:"schema"`
	Workload string    `json:"workload"`
	Unit     string    `json:"unit"`
	Target   string    `json:"target"`
	Currency string    `json:"currency"`
	Prices   string    `json:"prices"`
	Date     string    `json:"prices_date"`
	Months   int       `json:"months"`
	Best     int       `json:"best"` // row; −1: none meets the target
	Rows     []SizeRow `json:"rows"`
}

// SizeRow is a design.
type SizeRow struct {
	Design         string  `json:"design"`
	Node           string  `json:"node"`
	Nodes          int     `json:"nodes"`
	GPUs           int     `json:"gpus"`
	StepMS         float64 `json:"step_ms"`
	UnitsPerSecond float64 `json:"units_per_second"`
	Days           float64 `json:"days,omitempty"`
	MFU            float64 `json:"mfu"`
	Layout         string  `json:"layout"`
	Bottleneck     string  `json:"bottleneck"`
	Purchase       float64 `json:"purchase"`
	Total          float64 `json:"total"` // over the months
	Watts          float64 `json:"watts"`
	BisectionGBps  float64 `json:"bisection_GBps"`
	Switches       int     `json:"switches"`
	Cables         int     `json:"cables"`
	Optics         int     `json:"optics"`
	Priced         bool    `json:"priced"`
	Meets          bool    `json:"meets"`
	OnFront        bool    `json:"on_front"`
	Error          string  `json:"error,omitempty"` // why there is no step
	Unpriced       string  `json:"unpriced,omitempty"`
}

// Write writes the document as text, json or csv.
func (d *SizeDocument) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return WriteJSON(w, d)
	case "csv":
		return writeCSV(w, d.rows())
	}
	out := &lines{w: w}
	out.printf("%s, %s; %s, prices %q of %s, cost over %s\n", d.Workload, d.Target, d.Currency, d.Prices, d.Date, units.Counted(d.Months, "month"))
	if d.Best >= 0 {
		b := &d.Rows[d.Best]
		out.printf("best: %s: %.4g %s/s, %s to buy, %s over %s, %.1f kW\n\n", b.Design, b.UnitsPerSecond, d.Unit, money(b.Purchase), money(b.Total), units.Counted(d.Months, "month"), b.Watts/1000)
	} else {
		out.printf("none of the designs meets it\n\n")
	}
	t := newTable(out)
	t.AppendRow([]any{"design", "GPUs", "step ms", d.Unit + "/s", "MFU %", "days", "purchase", "cost", "kW", "GB/s halves", "switches", "cables", "optics", ""})
	for i, r := range d.Rows {
		if r.Error != "" {
			continue
		}
		t.AppendRow([]any{r.Design, r.GPUs, fmt.Sprintf("%.1f", r.StepMS), fmt.Sprintf("%.4g", r.UnitsPerSecond), fmt.Sprintf("%.1f", 100*r.MFU), daysOrDash(r.Days), priceOrDash(r, r.Purchase), priceOrDash(r, r.Total),
			kwOrDash(r), fmt.Sprintf("%.0f", r.BisectionGBps), r.Switches, r.Cables, countOrDash(r.Optics), d.mark(i)})
	}
	alignRight(t, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
	t.Render()
	d.why(out)
	return out.err
}

func (d *SizeDocument) mark(i int) string {
	r := &d.Rows[i]
	switch {
	case i == d.Best:
		return "best"
	case r.OnFront && r.Meets:
		return "front, meets"
	case r.OnFront:
		return "front"
	case r.Meets:
		return "meets"
	}
	return ""
}

// why counts the reasons for what is missing.
func (d *SizeDocument) why(out *lines) {
	failed, unpriced := map[string]int{}, map[string]int{}
	for _, r := range d.Rows {
		if r.Error != "" {
			failed[r.Error]++
		} else if r.Unpriced != "" {
			unpriced[r.Unpriced]++
		}
	}
	writeCounts(out, "left out", failed)
	writeCounts(out, "without a price", unpriced)
}

func daysOrDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", v)
}

func priceOrDash(r SizeRow, v float64) string {
	if !r.Priced {
		return "-"
	}
	return money(v)
}

func kwOrDash(r SizeRow) string {
	if !r.Priced {
		return "-"
	}
	return fmt.Sprintf("%.1f", r.Watts/1000)
}

func (d *SizeDocument) rows() [][]string {
	rows := [][]string{{"design", "node", "nodes", "gpus", "step_ms", "units_per_second", "days", "mfu", "layout", "purchase", "total", "watts", "bisection_GBps", "switches", "cables", "optics", "priced", "meets", "on_front", "error"}}
	for _, r := range d.Rows {
		optics := "" // what nobody has a price or an answer for is no 0
		if r.Priced {
			optics = fmt.Sprint(r.Optics)
		}
		rows = append(rows, []string{r.Design, r.Node, fmt.Sprint(r.Nodes), fmt.Sprint(r.GPUs), positive(r.StepMS), positive(r.UnitsPerSecond), positive(r.Days), positive(r.MFU), r.Layout, positive(r.Purchase), positive(r.Total), positive(r.Watts),
			number(r.BisectionGBps), fmt.Sprint(r.Switches), fmt.Sprint(r.Cables), optics, fmt.Sprint(r.Priced), fmt.Sprint(r.Meets), fmt.Sprint(r.OnFront), r.Error + r.Unpriced})
	}
	return rows
}
