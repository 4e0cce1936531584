package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
)

// Validation is what shipped profiles predict for shipped measurements.
type Validation struct {
	Systems []ValidatedSystem
	Unseen  []Unseen
}

// Unseen are predictions of rows from kernels fitted without their like.
type Unseen struct {
	What string
	*Comparison
}

// ValidatedSystem is the comparison of all series that one profile is for.
type ValidatedSystem struct {
	Profile string
	*Comparison
}

// Add takes up a comparison; one without rows is kept for what it skipped.
func (v *Validation) Add(profile string, c *Comparison) {
	for i := range c.Rows {
		c.Rows[i].Predicted.Profile = profile
	}
	v.Systems = append(v.Systems, ValidatedSystem{profile, c})
}

// All is one comparison with the columns that the files share.
func (v *Validation) All() *Comparison {
	all := &Comparison{}
	for _, s := range v.Systems {
		all.Rows, all.Skipped = append(all.Rows, s.Rows...), append(all.Skipped, s.Skipped...)
	}
	return all.sharedColumns()
}

// sharedColumns is the comparison with the columns that all files have.
func (c *Comparison) sharedColumns() *Comparison {
	out := &Comparison{Header: []string{"series", "system", "collective", "algo", "proto", "launch", "gpus", "nodes", "size_bytes"}}
	for _, r := range c.Rows {
		r.Measured.Columns = validationColumns(r.Measured)
		out.Rows = append(out.Rows, r)
	}
	for _, x := range c.Skipped {
		x.Measured.Columns = validationColumns(x.Measured)
		out.Skipped = append(out.Skipped, x)
	}
	return out
}

func validationColumns(m measurement.Row) []string {
	return []string{m.ID, m.System, m.Collective.String(), m.Algo, m.Proto, m.Launch, fmt.Sprint(m.GPUs), fmt.Sprint(m.Nodes),
		fmt.Sprint(int64(m.Size))}
}

// Document is the comparison of all rows, with a line for each system and series.
func (v *Validation) Document() *CompareDocument {
	d := v.All().Document("all", "all")
	for i := range v.Systems {
		d.Series = append(d.Series, v.Systems[i].series()...)
	}
	return d
}

// goal is a set of rows that the project has set itself an error for.
type goal struct {
	name string
	want string
	in   func(ComparedRow) bool
}

var goals = []goal{
	{"H200, named algorithm and protocol, graph launch, 1 KiB to 4 GiB", "MAPE ≤ 5 %",
		func(r ComparedRow) bool { return named(r) && r.Measured.Size >= units.KiB }},
	{"the same from 1 MiB", "MAPE ≤ 3 %", func(r ComparedRow) bool { return named(r) && r.Measured.Size >= units.MiB }},
	{"H200, all graph launches", "", func(r ComparedRow) bool { return r.Measured.Launch == "graph" }},
	{"published, one node, from 8 KB", "factor ≤ 1.12", func(r ComparedRow) bool {
		return published(r) && r.Measured.Nodes <= 1 &&
			r.Measured.Size >= 8000
	}},
	{"the same but for those hidden by their run's launch floor", "", func(r ComparedRow) bool {
		return published(r) && r.Measured.Nodes <= 1 && r.Measured.Size >= 8000 && !slices.Contains(r.Predicted.Warnings, HiddenByLaunch)
	}},
	{"published, several nodes", "factor ≤ 1.20", func(r ComparedRow) bool { return published(r) && r.Measured.Nodes > 1 }},
}

func named(r ComparedRow) bool {
	return r.Measured.Launch == "graph" && r.Measured.Algo != "" && r.Measured.Algo != "default"
}

func published(r ComparedRow) bool { return strings.Contains(r.File, "published") }

// WriteMarkdown writes docs/validation.md.
func (v *Validation) WriteMarkdown(w io.Writer) error {
	out := &lines{w: w}
	out.printf("# Predictions beside measurements\n\n")
	out.printf("Written by `lab validate -o docs`; every row is in [validation.csv](validation.csv). Errors are (predicted − measured)/measured;\n")
	out.printf("the factor is the geometric mean of how far off a row is, whichever way. NCCL's own model is NCCL 2.30.7's tuning model on\n")
	out.printf("the same rows, where it has one. Goals are for rows that were not fitted on (second table).\n\n")
	out.printf("Fitted on the very rows that are judged, which flatters:\n\n")
	out.printf("| rows | count | MAPE | factor | NCCL's own model: MAPE | factor |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	all := v.All()
	for _, g := range goals {
		c := all.where(g.in)
		_, theirs := c.both()
		out.printf("| %s | %d | %s |\n", g.name, len(c.Rows), strings.Join(append(errorCells(c.errors()), errorCells(theirs)...), " | "))
	}
	v.writeUnseen(out)
	v.writeUnseenBy(out, "profile", func(r ComparedRow) string { return r.Predicted.Profile })
	v.writeUnseenBy(out, "over", func(r ComparedRow) string { return r.Predicted.Over })
	out.printf("\nNot blind: a floor comes from the smallest sizes of the run that it is used on, in the left-out tables too. Choices that were\n")
	out.printf("made with these measurements in view: the drain of each protocol and of trees and the 16 channels that a chain fills\n")
	out.printf("(`railyard list machines h200`, protocols), the size from which channels are added (12 KiB), what a hop in LL costs (0.95 us, from a\n")
	out.printf("flag's 0.69 us), how far kernels may lie from what is expected of them (report/fit/belief.go), the size from which\n")
	out.printf("point-to-point messages take Simple (64 KiB), and that runs driven from PyTorch have a floor.\n")
	for _, s := range v.Systems {
		out.printf("\n## %s\n\n", s.Profile)
		if len(s.Rows) > 0 {
			out.printf("![measured and predicted](img/validation-%s.png)\n\n", s.Profile)
			out.printf("%s", table.Of(s.series()).Markdown())
		}
		skipped := map[string]int{}
		for _, x := range s.Skipped {
			skipped[x.Measured.ID+": "+x.Reason]++
		}
		if len(skipped) > 0 {
			out.printf("\nNot compared:\n\n")
			writeCounts(out, "-", skipped)
		}
	}
	return out.err
}

// writeUnseen writes a line for each goal and way of leaving rows out.
func (v *Validation) writeUnseen(out *lines) {
	if len(v.Unseen) == 0 {
		return
	}
	out.printf("\nFitted without the rows that are judged, as the goals ask (`lab validate --unseen`); H200 here is one series, so that leaving it out leaves\nthe other machines and NCCL's own model:\n\n")
	out.printf("| rows | goal | left out | count | MAPE | factor | NCCL's own model: factor |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, g := range goals {
		for _, u := range v.Unseen {
			c := u.where(g.in)
			_, theirs := c.both()
			out.printf("| %s | %s | %s | %d | %s | %s |\n", g.name, g.want, u.What, len(c.Rows),
				strings.Join(errorCells(c.errors()), " | "), errorCells(theirs)[1])
		}
	}
}

// writeUnseenBy writes a line for each value of what by says about a row: errors in and
// out of sample of all its rows.
func (v *Validation) writeUnseenBy(out *lines, name string, by func(ComparedRow) string) {
	if len(v.Unseen) == 0 {
		return
	}
	header := []string{name, "rows", "in sample: MAPE", "factor"}
	for _, u := range v.Unseen {
		header = append(header, u.What+" left out: MAPE", "factor")
	}
	out.printf("\n| %s |\n| --- |%s\n", strings.Join(header, " | "), strings.Repeat(" ---: |", len(header)-1))
	all := v.All()
	values := map[string]bool{}
	for _, r := range all.Rows {
		values[by(r)] = true
	}
	for _, value := range slices.Sorted(maps.Keys(values)) {
		in := func(r ComparedRow) bool { return by(r) == value }
		one := all.where(in)
		cells := append([]string{value, fmt.Sprint(len(one.Rows))}, errorCells(one.errors())...)
		for _, u := range v.Unseen {
			cells = append(cells, errorCells(u.where(in).errors())...)
		}
		out.printf("| %s |\n", strings.Join(cells, " | "))
	}
}

// where keeps some rows.
func (c *Comparison) where(in func(ComparedRow) bool) *Comparison {
	return &Comparison{Header: c.Header, Rows: slices.DeleteFunc(slices.Clone(c.Rows), func(r ComparedRow) bool { return !in(r) })}
}

func errorCells(errors []float64) []string {
	if len(errors) == 0 {
		return []string{"–", "–"}
	}
	return []string{percent(measurement.MAPE(errors)), factor(measurement.GeomeanFactor(errors))}
}

// SeriesRow is a series of a system by collective, algorithm, launch and number of GPUs.
type SeriesRow struct {
	Series     string `json:"series" text:"series"`
	Collective string `json:"collective" text:"collective"`
	Algo       string `json:"algo" text:"algorithm"`
	Proto      string `json:"proto" text:"" join:"/"`
	Launch     string `json:"launch" text:"launch"`
	GPUs       int    `json:"gpus" text:"GPUs"`
	Rows       int    `json:"rows" text:"rows"`
	ErrorStatistics
	Own     *float64 `json:"nccl_model_factor" text:"NCCL's model: factor" as:"factor"`
	Worst   float64  `json:"worst_error" text:"worst" as:"error"`
	WorstAt int64    `json:"worst_size_bytes" text:"" join:" at "`
}

// series lists the rows of a system by series.
func (s *ValidatedSystem) series() []SeriesRow {
	var out []SeriesRow
	for _, g := range s.groups(func(m measurement.Row) caseKey {
		return caseKey{kind: m.Collective, algo: m.Algo, proto: m.Proto, launch: m.Launch, gpus: m.GPUs, nodes: m.Nodes, id: m.ID}
	}) {
		k, one := g.key, &Comparison{Rows: g.rows}
		_, theirs := one.both()
		bad := g.rows[one.worst()]
		out = append(out, SeriesRow{k.id, k.kind.String(), k.algo, k.proto, k.launch, k.gpus, len(g.rows), statistics(one.errors()),
			statistics(theirs).Geomean, bad.Error, int64(bad.Measured.Size)})
	}
	return out
}

// Figure is the system's series with the most rows, at most as many as can be told
// apart, those that are furthest off among equals.
func (s *ValidatedSystem) Figure() *Figure {
	groups := s.groups(keyOf)
	slices.SortStableFunc(groups, func(a, b group) int {
		if len(a.rows) != len(b.rows) {
			return len(b.rows) - len(a.rows)
		}
		return int(math.Copysign(1, measurement.MAPE(b.errors())-measurement.MAPE(a.errors())))
	})
	groups = groups[:min(len(groups), maxSeries)]
	c := &Comparison{}
	ids := map[string]bool{}
	for _, g := range groups {
		ids[g.key.id] = true
		c.Rows = append(c.Rows, g.rows...)
	}
	if len(ids) == len(groups) { // the series' name says all
		for i := range c.Rows {
			m := &c.Rows[i].Measured
			m.System, m.Algo, m.Proto = "", "", ""
		}
	}
	f, err := c.Figure(s.Profile, s.Profile)
	if err != nil {
		panic(err) // no more cases than fit
	}
	f.Title = "Measured and predicted with profile " + s.Profile
	return f
}
