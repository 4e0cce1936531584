// Package report joins predictions with measurements and writes every result as text,
// JSON or CSV. The structs here are the versioned documents that the commands print.
package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/measurement"
	"railyard/model/units"
)

// Predicted is what the model says of a measured case.
type Predicted struct {
	Time     units.Time
	Schedule string
	Warnings []string
}

// Predictor predicts a measured case; the error says why it cannot.
type Predictor func(measurement.Row) (Predicted, error)

// Comparison is measurements beside predictions.
type Comparison struct {
	Header  []string
	Rows    []ComparedRow
	Skipped []SkippedRow
}

// ComparedRow is one case; Error is (predicted − measured)/measured.
type ComparedRow struct {
	Measured  measurement.Row
	Predicted Predicted
	Error     float64
}

// SkippedRow is a case that was not predicted, and why.
type SkippedRow struct {
	Measured measurement.Row
	Reason   string
}

// Compare predicts every row; none is dropped.
func Compare(set *measurement.Set, predict Predictor) *Comparison {
	c := &Comparison{Header: set.Header}
	for _, m := range set.Rows {
		if m.Time <= 0 {
			c.Skipped = append(c.Skipped, SkippedRow{m, "no time was measured"})
			continue
		}
		p, err := predict(m)
		if err != nil {
			c.Skipped = append(c.Skipped, SkippedRow{m, err.Error()})
			continue
		}
		c.Rows = append(c.Rows, ComparedRow{m, p, float64(p.Time-m.Time) / float64(m.Time)})
	}
	return c
}

func (c *Comparison) errors() []float64 {
	out := make([]float64, len(c.Rows))
	for i, r := range c.Rows {
		out[i] = r.Error
	}
	return out
}

// worst is the row that is off by the largest factor, −1 if there is none.
func (c *Comparison) worst() int {
	best := -1
	for i, r := range c.Rows {
		if best < 0 || math.Abs(math.Log1p(r.Error)) > math.Abs(math.Log1p(c.Rows[best].Error)) {
			best = i
		}
	}
	return best
}

// round6 keeps outputs short and equal on every machine.
func round6(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// WriteJSON writes schema railyard.compare/v1.
func (c *Comparison) WriteJSON(w io.Writer, topology, profile string) error {
	rows := make([]map[string]any, len(c.Rows))
	for i, r := range c.Rows {
		rows[i] = c.jsonRow(r)
	}
	skipped := make([]map[string]any, len(c.Skipped))
	for i, s := range c.Skipped {
		skipped[i] = columns(c.Header, s.Measured)
		skipped[i]["reason"] = s.Reason
	}
	summary := map[string]any{"rows": len(c.Rows), "skipped": len(c.Skipped),
		"mape": round6(measurement.MAPE(c.errors())), "geomean_factor": round6(measurement.GeomeanFactor(c.errors()))}
	if i := c.worst(); i >= 0 {
		summary["worst"] = c.jsonRow(c.Rows[i])
	}
	return WriteJSON(w, map[string]any{"schema": "railyard.compare/v1", "topology": topology, "profile": profile,
		"rows": rows, "skipped": skipped, "summary": summary})
}

func columns(header []string, m measurement.Row) map[string]any {
	out := map[string]any{}
	for i, h := range header {
		out[h] = m.Columns[i]
	}
	out["collective"], out["size_bytes"] = m.Collective.String(), int64(m.Size)
	return out
}

func (c *Comparison) jsonRow(r ComparedRow) map[string]any {
	out := columns(c.Header, r.Measured)
	out["measured_us"], out["predicted_us"] = r.Measured.Time.Microseconds(), r.Predicted.Time.Microseconds()
	out["error"], out["schedule"], out["warnings"] = round6(r.Error), r.Predicted.Schedule, nonNil(r.Predicted.Warnings)
	return out
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// WriteJSON writes a document with stable key order.
func WriteJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// WriteCSV writes the measurement's own columns, then ours.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(append(append([]string{}, c.Header...), "measured_us", "predicted_us", "error", "schedule"))
	for _, r := range c.Rows {
		out.Write(append(append([]string{}, r.Measured.Columns...), fmt.Sprint(r.Measured.Time.Microseconds()),
			fmt.Sprint(r.Predicted.Time.Microseconds()), fmt.Sprint(round6(r.Error)), r.Predicted.Schedule))
	}
	out.Flush()
	return out.Error()
}

// WriteJSONLine writes a document on one line.
func WriteJSONLine(w io.Writer, doc any) error { return json.NewEncoder(w).Encode(doc) }

// group is a line of the text summary.
type group struct {
	name   string
	errors []float64
}

// WriteText writes a summary by collective, algorithm, protocol and number of GPUs.
func (c *Comparison) WriteText(w io.Writer, topology, profile string) error {
	index := map[string]*group{}
	for _, r := range c.Rows {
		m := r.Measured
		name := fmt.Sprintf("%v|%s|%s|%s|%d", m.Collective, orAny(m.Algo), orAny(m.Proto), orAny(m.Launch), m.GPUs)
		if index[name] == nil {
			index[name] = &group{name: name}
		}
		index[name].errors = append(index[name].errors, r.Error)
	}
	var groups []*group
	for _, g := range index {
		groups = append(groups, g)
	}
	sort.Slice(groups, func(i, j int) bool { return groups[i].name < groups[j].name })
	t := newTable(w)
	t.AppendHeader(table.Row{"collective", "algo", "proto", "launch", "GPUs", "rows", "MAPE", "factor"})
	for _, g := range groups {
		var row table.Row
		for _, cell := range splitName(g.name) {
			row = append(row, cell)
		}
		t.AppendRow(append(row, len(g.errors), percent(measurement.MAPE(g.errors)), fmt.Sprintf("%.3f", measurement.GeomeanFactor(g.errors))))
	}
	t.Render()
	fmt.Fprintf(w, "\n%s, profile %s: %d rows, MAPE %s, geometric-mean factor %.3f\n", topology, profile, len(c.Rows),
		percent(measurement.MAPE(c.errors())), measurement.GeomeanFactor(c.errors()))
	if i := c.worst(); i >= 0 {
		r := c.Rows[i]
		fmt.Fprintf(w, "worst: line %d, %v of %v: measured %v, predicted %v (%+.0f %%)\n", r.Measured.Line, r.Measured.Collective, r.Measured.Size,
			r.Measured.Time, r.Predicted.Time, 100*r.Error)
	}
	return c.writeSkipped(w)
}

func (c *Comparison) writeSkipped(w io.Writer) error {
	reasons := map[string]int{}
	for _, s := range c.Skipped {
		reasons[s.Reason]++
	}
	var list []string
	for r := range reasons {
		list = append(list, r)
	}
	sort.Strings(list)
	for _, r := range list {
		fmt.Fprintf(w, "skipped %d rows: %s\n", reasons[r], r)
	}
	warnings := map[string]int{}
	for _, r := range c.Rows {
		for _, x := range r.Predicted.Warnings {
			warnings[x]++
		}
	}
	list = list[:0]
	for x := range warnings {
		list = append(list, x)
	}
	sort.Strings(list)
	for _, x := range list {
		fmt.Fprintf(w, "warning on %d rows: %s\n", warnings[x], x)
	}
	return nil
}
