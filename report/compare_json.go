package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/model/measurement"
	"railyard/model/units"
)

// Our own columns of a compared row, and of a skipped one.
var (
	comparedColumns = []string{"measured_at", "measured_us", "predicted_us", "low_us", "high_us", "error", "nccl_model_us", "nccl_model_error", "schedule", "profile", "warnings"}
	skippedColumns  = []string{"reason"}
)

// WriteJSON writes schema railyard.compare/v1. Members stand in a fixed order: the
// measurement's columns as in its file, then ours. A column of the file that is named
// like one of ours is written as <name>_in_file.
func (c *Comparison) WriteJSON(w io.Writer, topology, profile string) error {
	names := fileColumns(c.Header)
	rows := make([]object, len(c.Rows))
	for i, r := range c.Rows {
		rows[i] = c.json(names, r, profile)
	}
	skipped := make([]object, len(c.Skipped))
	for i, s := range c.Skipped {
		skipped[i] = append(cells(names, c.Header, s.Measured), member{"measured_at", position(s.File, s.Measured)}, member{"reason", s.Reason})
	}
	groups := []object{}
	for _, g := range c.groups(summaryKey) {
		k := g.key
		groups = append(groups, append(object{{"collective", k.kind.String()}, {"algo", k.algo}, {"proto", k.proto}, {"launch", k.launch}, {"gpus", k.gpus}, {"rows", len(g.rows)}}, statistics(g.errors())...))
	}
	summary := append(object{{"rows", len(c.Rows)}, {"skipped", len(c.Skipped)}}, statistics(c.errors())...)
	if i := c.worst(); i >= 0 {
		summary = append(summary, member{"worst", rows[i]})
	}
	return WriteJSON(w, object{{"schema", "railyard.compare/v1"}, {"topology", topology}, {"profile", profile},
		{"rows", rows}, {"summary", append(summary, member{"nccl_model", c.ownStatistics()})}, {"groups", groups}, {"skipped", skipped}})
}

// statistics of no rows are null: nothing was compared, so no error is known.
func statistics(errors []float64) object {
	if len(errors) == 0 {
		return object{{"mape", nil}, {"geomean_factor", nil}, {"bias", nil}}
	}
	return object{{"mape", round6(measurement.MAPE(errors))}, {"geomean_factor", round6(measurement.GeomeanFactor(errors))}, {"bias", round6(measurement.Bias(errors))}}
}

// fileColumns are the names of a file's columns beside ours.
func fileColumns(header []string) []string {
	names := slices.Clone(header)
	taken := func(name string, but int) bool {
		if slices.Contains(comparedColumns, name) || slices.Contains(skippedColumns, name) {
			return true
		}
		at := slices.Index(names, name)
		return at >= 0 && at != but
	}
	for i := range names {
		for taken(names[i], i) {
			names[i] += "_in_file"
		}
	}
	return names
}

// cells are the measurement's own columns. The collective is spelt as everywhere here
// and the size is in bytes, however the file wrote them.
func cells(names, header []string, m measurement.Row) object {
	out := make(object, len(header))
	for i, h := range header {
		switch {
		case h == "collective":
			out[i] = member{names[i], m.Collective.String()}
		case h == "size_bytes" && strings.TrimSpace(m.Columns[i]) != "":
			out[i] = member{names[i], int64(m.Size)}
		default:
			out[i] = member{names[i], cell(h, strings.TrimSpace(m.Columns[i]))}
		}
	}
	return out
}

// cell is a number, or null, in columns that are named as numbers; else text, so that a
// column has one type whatever stands in it.
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

func (c *Comparison) json(names []string, r ComparedRow, profile string) object {
	if r.Predicted.Profile != "" {
		profile = r.Predicted.Profile
	}
	return append(cells(names, c.Header, r.Measured),
		member{"measured_at", position(r.File, r.Measured)}, member{"measured_us", r.Measured.Time.Microseconds()},
		member{"predicted_us", r.Predicted.Time.Microseconds()}, member{"low_us", known(r.Predicted.Low)}, member{"high_us", known(r.Predicted.High)}, member{"error", round6(r.Error)},
		member{"nccl_model_us", own(r, r.Predicted.Own.Microseconds())}, member{"nccl_model_error", own(r, round6(r.ownError()))},
		member{"schedule", r.Predicted.Schedule}, member{"profile", profile}, member{"warnings", nonNil(r.Predicted.Warnings)})
}

// known is a time, null where there is none.
func known(t units.Time) any {
	if t == 0 {
		return nil
	}
	return t.Microseconds()
}

func knownCell(t units.Time) string {
	if t == 0 {
		return ""
	}
	return number(t.Microseconds())
}

// WriteCSV writes the measurement's own columns, then ours; skipped rows follow with
// the reason and without a prediction. The profile is given where a row has its own.
func (c *Comparison) WriteCSV(w io.Writer) error {
	rows := [][]string{slices.Concat(fileColumns(c.Header), comparedColumns, skippedColumns)}
	for _, r := range c.Rows {
		rows = append(rows, append(slices.Clone(r.Measured.Columns), position(r.File, r.Measured), number(r.Measured.Time.Microseconds()),
			number(r.Predicted.Time.Microseconds()), knownCell(r.Predicted.Low), knownCell(r.Predicted.High), number(round6(r.Error)), ownCell(r, r.Predicted.Own.Microseconds()), ownCell(r, round6(r.ownError())), r.Predicted.Schedule, r.Predicted.Profile, strings.Join(r.Predicted.Warnings, "; "), ""))
	}
	for _, s := range c.Skipped {
		rows = append(rows, append(slices.Clone(s.Measured.Columns), position(s.File, s.Measured), "", "", "", "", "", "", "", "", "", "", s.Reason))
	}
	return writeCSV(w, rows)
}
