package report

import (
	"fmt"
	"strings"

	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
)

// JudgeDocument is anybody's measurements beside predictions, each row on the system that it was measured on.
type JudgeDocument struct {
	Schema  string         `json:"schema" const:"railyard.validate/v1" doc:"measurements of several systems beside predictions"`
	Rows    []JudgedRow    `json:"rows" csv:"" text:""`
	Skipped []UnjudgedRow  `json:"skipped" csv:"+" text:"not predicted" doc:"rows that could not be predicted"`
	Series  []JudgedSeries `json:"series" text:""`
}

// JudgedRow is a measured row and what was predicted of it.
type JudgedRow struct {
	Series      string   `json:"series" text:"series"`
	Collective  string   `json:"collective" text:"collective"`
	SizeBytes   int64    `json:"size_bytes" text:"size" as:"bytes"`
	Nodes       int      `json:"nodes" text:"nodes"`
	GPUs        int      `json:"gpus_per_node" text:"GPUs each"`
	Algo        string   `json:"algo" doc:"as predicted"`
	Proto       string   `json:"proto"`
	MeasuredUS  float64  `json:"measured_us" text:"measured"`
	PredictedUS float64  `json:"predicted_us" text:"predicted"`
	OwnUS       *float64 `json:"nccl_model_us" doc:"NCCL's own estimate"`
	LowUS       float64  `json:"low_us" text:"normal" doc:"what is normal begins here"`
	HighUS      float64  `json:"high_us" text:"" join:"–" doc:"and ends here"`
	Warnings    []string `json:"warnings" note:"warning"`
}

// UnjudgedRow is a measured row that could not be predicted.
type UnjudgedRow struct {
	Series     string `json:"series" text:"series"`
	Collective string `json:"collective" text:"collective"`
	SizeBytes  int64  `json:"size_bytes" text:"size" as:"bytes"`
	At         string `json:"measured_at" doc:"file:line"`
	Reason     string `json:"reason" text:"reason"`
}

// JudgedSeries is a series with its error.
type JudgedSeries struct {
	Series string  `json:"series" text:"series"`
	Rows   int     `json:"rows" text:"rows"`
	Factor float64 `json:"factor" text:"factor" as:"factor" doc:"by which predictions are off, either way: geometric mean"`
	Inside float64 `json:"inside" text:"inside what is normal" as:"share"`
}

// Shows lists the series; rows are for other formats.
func (d *JudgeDocument) Shows(key string) bool { return key != "rows" }

// Answer says how far predictions are off.
func (d *JudgeDocument) Answer() []string {
	if len(d.Series) == 0 {
		return []string{fmt.Sprintf("0 rows could be predicted, %d could not.", len(d.Skipped))}
	}
	var factors []float64
	inside := 0.0
	for _, s := range d.Series {
		factors, inside = append(factors, s.Factor), inside+s.Inside*float64(s.Rows)
	}
	return []string{fmt.Sprintf("%s of %s: the median series is off by a factor of %.3f; %s of the rows lie inside what is normal.",
		units.Counted(len(d.Rows), "row"), countedSeries(len(d.Series)), measurement.Median(factors),
		table.Percent(inside/float64(len(d.Rows))))}
}

func countedSeries(n int) string {
	if n == 1 {
		return "one series"
	}
	return fmt.Sprintf("%d series", n)
}

// Judge is the comparison by series.
func (c *Comparison) Judge() *JudgeDocument {
	d := &JudgeDocument{Schema: "railyard.validate/v1", Rows: []JudgedRow{}, Skipped: []UnjudgedRow{}, Series: []JudgedSeries{}}
	for _, r := range c.Rows {
		d.Rows = append(d.Rows, judgedRow(&r))
	}
	for _, x := range c.Skipped {
		m := x.Measured
		d.Skipped = append(d.Skipped, UnjudgedRow{m.ID, m.Collective.String(), int64(m.Size), position(x.File, m), x.Reason})
	}
	for _, g := range c.groups(func(m measurement.Row) caseKey { return caseKey{id: m.ID} }) {
		inside := 0.0
		for i := range g.rows {
			if g.rows[i].inside() {
				inside++
			}
		}
		d.Series = append(d.Series, JudgedSeries{g.key.id, len(g.rows), round6(measurement.GeomeanFactor(g.errors())),
			round6(inside / float64(len(g.rows)))})
	}
	return d
}

func judgedRow(r *ComparedRow) JudgedRow {
	m, p := &r.Measured, &r.Predicted
	out := JudgedRow{Series: m.ID, Collective: m.Collective.String(), SizeBytes: int64(m.Size), Nodes: max(m.Nodes, 1),
		GPUs: m.GPUs / max(m.Nodes, 1), MeasuredUS: m.Time.Microseconds(), PredictedUS: p.Time.Microseconds(),
		LowUS: p.Low.Microseconds(), HighUS: p.High.Microseconds(), Warnings: append([]string{}, p.Warnings...)}
	out.Algo, out.Proto, _ = strings.Cut(p.Schedule, "/")
	out.OwnUS = OrNil(p.Own)
	return out
}

// inside reports whether what was measured is what is normal.
func (r *ComparedRow) inside() bool {
	return r.Measured.Time >= r.Predicted.Low && r.Measured.Time <= r.Predicted.High
}
