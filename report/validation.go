package report

import (
	"fmt"
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

// goalRow is a goal, with the errors of the rows that it is about.
type goalRow struct {
	Rows    string `json:"rows" text:"rows"`
	Goal    string `json:"goal" text:"goal"`
	LeftOut string `json:"left_out" text:"left out"`
	Count   int    `json:"count" text:"count"`
	ErrorStatistics
	OwnMAPE   *float64 `json:"nccl_model_mape" text:"NCCL's own model: MAPE" as:"share"`
	OwnFactor *float64 `json:"nccl_model_factor" text:"factor" as:"factor"`
}

// goalRows are the errors on a comparison's rows for each goal.
func (c *Comparison) goalRows(leftOut string) []goalRow {
	var out []goalRow
	for _, g := range goals {
		one := c.where(g.in)
		_, theirs := one.both()
		own := statistics(theirs)
		out = append(out, goalRow{g.name, g.want, leftOut, len(one.Rows), statistics(one.errors()), own.MAPE, own.Geomean})
	}
	return out
}

// Blocks are the tables of docs/validation.md.
func (v *Validation) Blocks() []table.Block {
	out := []table.Block{{Name: "in sample", Text: table.Of(v.All().goalRows("nothing")).Markdown()}}
	if len(v.Unseen) > 0 {
		var unseen []goalRow
		for _, u := range v.Unseen { // the first is without its system
			unseen = append(unseen, u.goalRows(u.What)...)
		}
		out = append(out, table.Block{Name: "headline", Text: table.Of(v.Unseen[0].headline()).Markdown()},
			table.Block{Name: "unseen", Text: table.Of(unseen).Markdown()})
	}
	var b strings.Builder
	for i := range v.Systems {
		v.Systems[i].write(&b)
	}
	return append(out, table.Block{Name: "systems", Text: b.String()})
}

// write is the section of a system.
func (s *ValidatedSystem) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n\n", s.Profile)
	if len(s.Rows) > 0 {
		fmt.Fprintf(b, "![measured and predicted](img/validation-%s.png)\n\n%s", s.Profile, table.Of(s.series()).Markdown())
	}
	skipped := map[string]int{}
	for _, x := range s.Skipped {
		skipped[x.Measured.ID+": "+x.Reason]++
	}
	if len(skipped) > 0 {
		b.WriteString("\nNot compared:\n\n")
	}
	for _, x := range sortedKeys(skipped) {
		fmt.Fprintf(b, "- (%d): %s\n", skipped[x], x)
	}
}

// where keeps some rows.
func (c *Comparison) where(in func(ComparedRow) bool) *Comparison {
	return &Comparison{Header: c.Header, Rows: slices.DeleteFunc(slices.Clone(c.Rows), func(r ComparedRow) bool { return !in(r) })}
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
