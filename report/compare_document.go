package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
)

// CompareDocument is measurements beside predictions.
type CompareDocument struct {
	Schema   string         `json:"schema" const:"railyard.compare/v1" doc:"measurements beside predictions"`
	Topology string         `json:"topology"`
	Profile  string         `json:"profile"`
	Rows     []CompareRow   `json:"rows" csv:""`
	Summary  CompareSummary `json:"summary"`
	Groups   []CompareGroup `json:"groups"`
	Series   []SeriesRow    `json:"-" text:""`
	Skipped  []SkippedLine  `json:"skipped" csv:"+" doc:"rows that could not be compared"`
	Reasons  []string       `json:"-" text:"" note:"skipped"`

	eachRow bool
	footer  []string
}

// CompareRow is a measured row: the columns of its file, then ours. A column of the file that is named like one of ours is called
// <name>_in_file.
type CompareRow struct {
	File        table.Extra `json:"-"`
	Case        string      `json:"-" text:"case"`
	SizeBytes   int64       `json:"-" text:"size" as:"bytes"`
	Way         string      `json:"-" text:"schedule"`
	At          string      `json:"measured_at" doc:"file:line"`
	MeasuredUS  float64     `json:"measured_us" text:"measured"`
	InPlaceUS   *float64    `json:"-" text:"in place" as:"us"`
	PredictedUS float64     `json:"predicted_us"`
	LowUS       *float64    `json:"low_us" text:"normal" doc:"what is normal begins here"`
	HighUS      *float64    `json:"high_us" text:"" join:"–" doc:"and ends here"`
	Error       float64     `json:"error" as:"error" doc:"(predicted − measured)/measured"`
	BusBW       *float64    `json:"-" text:"busbw" as:"GBps"`
	LowBusBW    *float64    `json:"-" text:"normal busbw" as:"GBps"`
	HighBusBW   *float64    `json:"-" text:"" join:"–" as:"GBps"`
	OwnUS       *float64    `json:"nccl_model_us" doc:"NCCL's own estimate"`
	OwnError    *float64    `json:"nccl_model_error" as:"error"`
	Schedule    string      `json:"schedule"`
	Profile     string      `json:"profile"`
	Verdict     string      `json:"verdict" text:"is" doc:"normal, slow or fast; empty where nothing says what is normal"`
	Warnings    []string    `json:"warnings" note:"warning"`
}

// MarshalJSON implements json.Marshaler: the file's columns first.
func (r CompareRow) MarshalJSON() ([]byte, error) {
	type plain CompareRow
	return r.File.Before(plain(r))
}

// SkippedLine is a row that was not compared.
type SkippedLine struct {
	File   table.Extra `json:"-"`
	At     string      `json:"measured_at"`
	Reason string      `json:"reason"`
}

// MarshalJSON implements json.Marshaler: the file's columns first.
func (r SkippedLine) MarshalJSON() ([]byte, error) {
	type plain SkippedLine
	return r.File.Before(plain(r))
}

// ErrorStatistics are null where nothing was compared, so that no error is known.
type ErrorStatistics struct {
	MAPE    *float64 `json:"mape" text:"MAPE" as:"share" doc:"mean of |error|"`
	Geomean *float64 `json:"geomean_factor" text:"factor" as:"factor" doc:"by which predictions are off, either way"`
	Bias    *float64 `json:"bias" text:"bias" as:"factor" doc:"geometric mean of predicted over measured; below 1: predicted too fast"`
}

// CompareSummary is about all rows.
type CompareSummary struct {
	Rows    int `json:"rows"`
	Skipped int `json:"skipped"`
	ErrorStatistics
	Worst *CompareRow   `json:"worst,omitempty" doc:"the row that is furthest off"`
	Own   OwnStatistics `json:"nccl_model" doc:"NCCL's own model on the rows that it covers, and ours on the same rows"`
}

// OwnStatistics compare NCCL's own model with ours.
type OwnStatistics struct {
	Rows int `json:"rows"`
	ErrorStatistics
	Ours ErrorStatistics `json:"ours_on_these"`
}

// CompareGroup is the rows of a collective, algorithm, protocol, launch and number of GPUs.
type CompareGroup struct {
	Collective string `json:"collective" text:"collective"`
	Algo       string `json:"algo" text:"algo"`
	Proto      string `json:"proto" text:"proto"`
	Launch     string `json:"launch" text:"launch"`
	GPUs       int    `json:"gpus" text:"GPUs"`
	Rows       int    `json:"rows" text:"rows"`
	ErrorStatistics
	Worst   float64 `json:"worst_error" text:"worst" as:"error"`
	WorstAt int64   `json:"worst_size_bytes" text:"" join:" at "`
}

// Shows lists every row, or groups of them.
func (d *CompareDocument) Shows(key string) bool {
	return key == "rows" && d.eachRow || key == "groups" && !d.eachRow && d.Series == nil || key == "-"
}

// Answer says how far predictions are off.
func (d *CompareDocument) Answer() []string {
	s := &d.Summary
	if s.Worst == nil {
		return []string{fmt.Sprintf("%s, profile %s: 0 rows could be compared, %d skipped.", d.Topology, d.Profile, s.Skipped)}
	}
	return []string{fmt.Sprintf("%s, profile %s: predictions of %s are off by a factor of %.3f (MAPE %s, bias %.3f; below 1: predicted "+
		"too fast).", d.Topology, d.Profile, units.Counted(s.Rows, "row"),
		*s.Geomean, table.Percent(*s.MAPE), *s.Bias)}
}

// Footer names the worst row, what NCCL's own model says and how many rows are normal.
func (d *CompareDocument) Footer() []string { return d.footer }

// Document is the comparison as commands print it.
func (c *Comparison) Document(topology, profile string) *CompareDocument {
	d := &CompareDocument{Schema: "railyard.compare/v1", Topology: topology, Profile: profile, Rows: []CompareRow{},
		Groups: []CompareGroup{}, Skipped: []SkippedLine{},
		Summary: CompareSummary{Rows: len(c.Rows), Skipped: len(c.Skipped), ErrorStatistics: statistics(c.errors())}, eachRow: c.EachRow}
	names := fileColumns(c.Header)
	for _, r := range c.Rows {
		d.Rows = append(d.Rows, r.row(names, c.Header, profile))
	}
	for _, s := range c.Skipped {
		d.Skipped = append(d.Skipped, SkippedLine{cells(names, c.Header, s.Measured), position(s.File, s.Measured), s.Reason})
		d.Reasons = append(d.Reasons, s.Reason)
	}
	for _, g := range c.groups(summaryKey) {
		k, one := g.key, &Comparison{Rows: g.rows}
		bad := g.rows[one.worst()]
		d.Groups = append(d.Groups, CompareGroup{k.kind.String(), k.algo, k.proto, k.launch, k.gpus, len(g.rows), statistics(one.errors()),
			round6(bad.Error), int64(bad.Measured.Size)})
	}
	ours, theirs := c.both()
	d.Summary.Own = OwnStatistics{len(theirs), statistics(theirs), statistics(ours)}
	if i := c.worst(); i >= 0 {
		d.Summary.Worst = &d.Rows[i]
		r := &c.Rows[i]
		d.footer = append(d.footer, fmt.Sprintf("worst: %s, %v of %s: measured %s, predicted %s (%+.1f %%)", position(r.File, r.Measured),
			r.Measured.Collective, size(int64(r.Measured.Size)),
			table.Microseconds(r.Measured.Time.Microseconds()), table.Microseconds(r.Predicted.Time.Microseconds()), 100*r.Error))
	}
	if len(theirs) > 0 {
		d.footer = append(d.footer, fmt.Sprintf("on %s that NCCL's own model covers: its MAPE %s, factor %.3f; ours %s, %.3f",
			units.Counted(len(theirs), "row"),
			table.Percent(measurement.MAPE(theirs)), measurement.GeomeanFactor(theirs), table.Percent(measurement.MAPE(ours)),
			measurement.GeomeanFactor(ours)))
	}
	d.footer = append(d.footer, c.verdicts()...)
	return d
}

// row is a compared row as the document has it.
func (r *ComparedRow) row(names, header []string, profile string) CompareRow {
	p := &r.Predicted
	if p.Profile != "" {
		profile = p.Profile
	}
	out := CompareRow{File: cells(names, header, r.Measured), Case: keyOf(r.Measured).where(), SizeBytes: int64(r.Measured.Size),
		Way: p.Schedule, At: position(r.File, r.Measured),
		MeasuredUS: r.Measured.Time.Microseconds(), InPlaceUS: OrNil(r.Measured.InPlace), PredictedUS: p.Time.Microseconds(),
		LowUS: OrNil(p.Low), HighUS: OrNil(p.High), Error: round6(r.Error),
		BusBW: positive(r.busBW(r.Measured.Time)), LowBusBW: positive(r.busBW(p.High)), HighBusBW: positive(r.busBW(p.Low)),
		OwnUS:    OrNil(p.Own),
		Schedule: p.Schedule, Profile: profile, Verdict: r.verdict(), Warnings: append([]string{}, p.Warnings...)}
	if p.Own != 0 {
		e := round6(r.ownError())
		out.OwnError = &e
	}
	return out
}

// where is a case in words: all_reduce on 16 GPUs of 2 nodes.
func (k caseKey) where() string {
	out := k.kind.String()
	if k.gpus > 0 {
		out += " on " + units.Counted(k.gpus, "GPU")
	}
	if k.nodes > 1 {
		out += fmt.Sprintf(" of %d nodes", k.nodes)
	}
	return out
}

func statistics(errors []float64) ErrorStatistics {
	if len(errors) == 0 {
		return ErrorStatistics{}
	}
	mape, geomean, bias := round6(measurement.MAPE(errors)), round6(measurement.GeomeanFactor(errors)), round6(measurement.Bias(errors))
	return ErrorStatistics{&mape, &geomean, &bias}
}

// fileColumns are the names of a file's columns beside ours.
func fileColumns(header []string) []string {
	names, ours := slices.Clone(header), append(table.Keys(CompareRow{}), table.Keys(SkippedLine{})...)
	taken := func(name string, but int) bool {
		at := slices.Index(names, name)
		return slices.Contains(ours, name) || at >= 0 && at != but
	}
	for i := range names {
		for taken(names[i], i) {
			names[i] += "_in_file"
		}
	}
	return names
}

// cells are the measurement's own columns. The collective is spelt as everywhere here and the size is in bytes, however the file wrote
// them.
func cells(names, header []string, m measurement.Row) table.Extra {
	out := make(table.Extra, len(header))
	for i, h := range header {
		switch {
		case h == "collective":
			out[i] = table.Member{Key: names[i], Value: m.Collective.String()}
		case h == "size_bytes" && strings.TrimSpace(m.Columns[i]) != "":
			out[i] = table.Member{Key: names[i], Value: int64(m.Size)}
		default:
			out[i] = table.Member{Key: names[i], Value: cell(h, strings.TrimSpace(m.Columns[i]))}
		}
	}
	return out
}

// cell is a number, or null, in columns that are named as numbers; else text, so that a column has one type whatever stands in it.
func cell(column, text string) any {
	numeric := strings.HasSuffix(column, "_us") || strings.HasSuffix(column, "_GBps") || strings.HasSuffix(column, "_bytes") ||
		column == "gpus" || column == "nodes" || column == "gpus_per_node"
	switch {
	case !numeric:
		return text
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.Number(text) // with the digits that were measured
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && v == v && v-v == 0 {
		return v
	}
	return text
}

func position(file string, m measurement.Row) string { return fmt.Sprintf("%s:%d", file, m.Line) }

// OrNil is a time in microseconds, nil where there is none.
func OrNil(t units.Time) *float64 { return positive(t.Microseconds()) }

// positive is a number above 0, else nil.
func positive(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}
