package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/report/chart"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
	"railyard/report/topoview"
	"railyard/sim"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/study/measured"
)

// maxDrawn bounds the GPUs whose plans a report searches and draws: of a larger machine it
// takes the first nodes.
const maxDrawn = 64

// latencySeeds is how many runs the distribution of latencies has.
const latencySeeds = 200

// networkStudy is a collective on a machine, or the first nodes of it.
type networkStudy struct {
	f       *reportFlags
	site    study.Site
	topo    *topology.Topology
	spec    collective.Spec
	profile *cost.Profile
	answer  *study.Answer
	size    units.Bytes
	best    *study.Row // at size
	source  string
}

// network is the section about the collective.
func (f *reportFlags) network(cmd *cobra.Command, t *topology.Topology) (out page.Section, err error) {
	out.Heading = "Network"
	s := &networkStudy{f: f, topo: t}
	if s.site, err = f.Training.Topo.site(); err != nil {
		return out, err
	}
	if t.NumRanks() > maxDrawn {
		nodes := max(maxDrawn*t.NumNodes()/t.NumRanks(), 1)
		if s.topo, err = s.site.Part(nodes, s.site.GPUs); err != nil {
			return out, err
		}
		out.Notes = append(out.Notes, fmt.Sprintf("Shown for the first %d of %d nodes.", nodes, t.NumNodes()))
	}
	if s.topo.NumRanks() > maxDrawn {
		out.Notes = []string{fmt.Sprintf("Left out: a node of %d GPUs is more than the %d whose plans are drawn.", s.topo.NumRanks(),
			maxDrawn)}
		return out, nil
	}
	if s.size, err = cli.ParseSize("-s", f.Size); err != nil {
		return out, err
	}
	if s.answer, err = s.ask(cmd, s.topo, study.Detail{Baseline: true}); err != nil {
		return out, err
	}
	s.spec, s.profile = s.answer.Question.Spec(), s.answer.Question.Costs()
	for i := range s.answer.Rows {
		if s.answer.Rows[i].Size == s.size {
			s.best = &s.answer.Rows[i]
		}
	}
	s.source = fmt.Sprintf("Simulated by railyard: %s, %d GPUs, profile %s", s.topo.Name(), s.topo.NumRanks(), s.profile.Name)
	if out.Figures, err = s.figures(cmd); err != nil {
		return out, err
	}
	p := &s.best.Prediction
	out.Text = []string{fmt.Sprintf("%v over %d GPUs; at %v the best schedule is %s (%s: %s), limited by %s.", s.spec.Kind, s.spec.Ranks,
		s.size,
		planner.Name(s.best.Schedule), table.Microseconds(p.Time.Microseconds()), planner.Describe(s.best.Schedule), p.Bottleneck)}
	best, notes := s.table()
	out.Tables, out.Notes = []page.Table{best}, append(out.Notes, notes...)
	return out, nil
}

// reportSizes are 1 KiB to 4 GiB, in steps of 4.
func reportSizes() []units.Bytes {
	var out []units.Bytes
	for s := units.KiB; s <= 4*units.GiB; s *= 4 {
		out = append(out, s)
	}
	return out
}

// ask answers for all sizes of the report on a machine.
func (s *networkStudy) ask(cmd *cobra.Command, t *topology.Topology, detail study.Detail) (*study.Answer, error) {
	sizes := reportSizes()
	if !slices.Contains(sizes, s.size) {
		sizes = append(sizes, s.size)
		slices.Sort(sizes)
	}
	a, err := asked(cmd, &s.f.Coll, &s.f.Training.Profile, t, sizes)
	if err != nil {
		return nil, err
	}
	a.Site, a.Detail = s.site, detail
	return answer(cmd, a)
}

func (s *networkStudy) figures(cmd *cobra.Command) ([]page.Figure, error) {
	plan, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: s.best.Schedule}}, s.profile, sim.CompileOptions{Flat: true})
	if err != nil {
		return nil, err
	}
	r, err := plan.Run(s.size, sim.Options{})
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%v of %v", s.spec.Kind, s.size)
	curves, err := s.curves()
	if err != nil {
		return nil, err
	}
	crossover, err := s.crossover(cmd)
	if err != nil {
		return nil, err
	}
	late, err := s.latencies(cmd, what)
	if err != nil {
		return nil, err
	}
	load := map[topology.LinkID]float64{}
	for _, l := range r.Links {
		load[l.Link] = l.Utilisation
	}
	sent := make([]float64, len(r.SentBytes))
	for i, x := range r.SentBytes {
		sent[i] = float64(x)
	}
	picture := func(file string) (func(io.Writer) error, error) { return topoview.DrawLoaded(s.topo, file, load) }
	list := []page.Figure{{Name: "topology", Picture: picture, Caption: "Use of the links during " + what +
		", mean over its time, by colour and width. " + s.source}}
	list = append(append(list, curves...), crossover)
	if uses := s.uses(load); len(uses) > 0 { // one GPU sends nothing
		list = append(list, page.Figure{Name: "utilisation", Chart: figures.Utilisation(what, s.source, uses)})
	}
	return append(list,
		page.Figure{Name: "latency", Chart: late, Caption: "Ranks start late at random (exponential, mean 5 us) and networks hash flows " +
			"over " +
			"4 queue pairs a connection; seeds 1 to 200."},
		page.Figure{Name: "balance", Chart: figures.Balance(what, s.source, sent),
			Caption: fmt.Sprintf("Mean over maximum: ranks %.3f, links %.3f.", r.Balance.Ranks, r.Balance.Links)}), nil
}

// curves are lines in two figures: of time, and of the bus bandwidth that it is.
type curves struct {
	spec              collective.Spec
	times, bandwidths []chart.Series
}

// add begins a line; what it returns adds a point to it.
func (c *curves) add(name string, style chart.Style, colour chart.Role) func(units.Bytes, units.Time) {
	for _, list := range []*[]chart.Series{&c.times, &c.bandwidths} {
		*list = append(*list, chart.Series{Name: name, Style: style, Colour: colour})
	}
	at := len(c.times) - 1
	return func(size units.Bytes, t units.Time) {
		if t <= 0 {
			return
		}
		_, bus := study.Bandwidths(c.spec, size, t)
		c.times[at].Points = append(c.times[at].Points, chart.XY{X: float64(size), Y: t.Microseconds()})
		c.bandwidths[at].Points = append(c.bandwidths[at].Points, chart.XY{X: float64(size), Y: bus})
	}
}

// curves are predictions, limits and measurements over size.
func (s *networkStudy) curves() ([]page.Figure, error) {
	c := &curves{spec: s.spec}
	limit := c.add("bound by line rates", chart.Dashed, chart.Limit)
	ours := c.add("railyard's plan", chart.Line, chart.Ours)
	library := c.add("NCCL's kernels, predicted", chart.Line, chart.NCCL)
	own := c.add("NCCL's own model", chart.Dashed, chart.Other)
	for _, r := range s.answer.Rows {
		limit(r.Size, r.Bound.Time)
		ours(r.Size, r.Prediction.Time)
		library(r.Size, r.NCCL.Time)
		own(r.Size, r.NCCL.Model)
	}
	errs, err := s.measured(c)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%v, %d GPUs", s.spec.Kind, s.spec.Ranks)
	out := []page.Figure{{Name: "time", Chart: figures.Times(what, s.source, c.times)},
		{Name: "busbw", Chart: figures.Bandwidths(what, s.source, c.bandwidths),
			Caption: "NCCL's kernels: times fitted on measurements; NCCL's own model: what its tuner believes."}}
	if len(errs) > 0 {
		out = append(out, page.Figure{Name: "error", Chart: figures.Errors("NCCL's kernels",
			"Measurements of validation/README.md on this topology, against the prediction of NCCL's kernels", errs)})
	}
	return out, nil
}

// measured adds the measurements on this very topology; it returns the errors of their predictions.
func (s *networkStudy) measured(c *curves) (errs []chart.XY, err error) {
	fleet, err := measured.ShippedFleet()
	if err != nil || s.topo.Healthy() != s.topo || s.site.Shipped() == "" {
		return nil, err
	}
	var add func(units.Bytes, units.Time)
	for _, set := range fleet.Sets {
		for _, m := range set.Rows {
			if m.Collective != s.spec.Kind || m.GPUs != s.spec.Ranks || m.Unusable != "" || m.Size < units.KiB || m.Time <= 0 ||
				max(m.Nodes, 1) != s.topo.NumNodes() || m.Algo != "" && m.Algo != "default" || m.Launch == "stream" {
				continue
			}
			x, cases, err := fleet.Of(m)
			if err != nil || x.Topology != s.site.Shipped() || len(x.Set) > 0 || x.Single {
				continue // measured elsewhere
			}
			if add == nil {
				add = c.add("measured (NCCL)", chart.Dots, chart.Measured)
			}
			add(m.Size, m.Time)
			p, err := cases.Predict(m)
			if not := (nccl.Unsupported{}); err != nil && !errors.As(err, &not) {
				return nil, err
			}
			if err == nil {
				errs = append(errs, chart.XY{X: float64(m.Size), Y: 100 * (p.Time.Seconds()/m.Time.Seconds() - 1)})
			}
		}
	}
	return errs, nil
}

// crossover is the best schedule by size and GPUs.
func (s *networkStudy) crossover(cmd *cobra.Command) (page.Figure, error) {
	out := page.Figure{Name: "crossover", Caption: "Which schedule is fastest for each size and number of GPUs."}
	var columns, names []string
	var best [][]string
	add := func(t *topology.Topology, rows []study.Row) {
		var line []string
		for _, r := range rows {
			line = append(line, planner.Family(r.Schedule))
		}
		names, best = append(names, fmt.Sprintf("%d", t.NumRanks())), append(best, line)
	}
	add(s.topo, s.answer.Rows)
	for _, n := range slices.Backward(halves(s.topo.NumNodes())) {
		gpus := s.site.GPUs
		if s.topo.NumNodes() == 1 {
			gpus = s.topo.NumRanks() / 2
		}
		if n == s.topo.NumNodes() && gpus == 0 || gpus == 1 {
			continue
		}
		t, err := s.site.Part(n, gpus)
		if err != nil {
			out.Caption += fmt.Sprintf(" Without %s: %v.", units.Counted(n, "node"), err)
			continue
		}
		a, err := s.ask(cmd, t, study.Detail{})
		if err != nil {
			return out, err
		}
		add(t, a.Rows)
	}
	for _, r := range s.answer.Rows {
		columns = append(columns, r.Size.String())
	}
	out.Chart = figures.Map(s.spec.Kind.String(), s.source, columns, names, best)
	return out, nil
}

// uses are the links by the kinds of their ends, at most 64 of each.
func (s *networkStudy) uses(load map[topology.LinkID]float64) []figures.Use {
	var out []figures.Use
	index := map[string]int{}
	for i, l := range s.topo.Links() {
		u, ok := load[topology.LinkID(i)]
		if !ok {
			continue
		}
		d := s.topo.Devices()
		name := fmt.Sprintf("%v → %v", d[l.From].Kind, d[l.To].Kind)
		at, ok := index[name]
		if !ok {
			at = len(out)
			index[name] = at
			out = append(out, figures.Use{Name: name})
		}
		if len(out[at].Links) < 64 {
			out[at].Links = append(out[at].Links, min(u, 1))
		}
	}
	return out
}

// latencies are the times of many seeds.
func (s *networkStudy) latencies(cmd *cobra.Command, what string) (chart.Chart, error) {
	o := sim.CompileOptions{}
	if s.topo.NumNodes() > 1 {
		o.Hashing = &sim.Hashing{Seed: 1, QPs: 4}
	}
	plan, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: s.best.Schedule}}, s.profile, o)
	if err != nil {
		return nil, err
	}
	late := sim.Spread{Exponential: true, Mean: 5 * units.Microsecond}
	delays := func(run int) []units.Time {
		out := make([]units.Time, s.topo.NumRanks())
		late.Draw(out, uint64(run)+1)
		return out
	}
	all, err := repeated(cmd, plan, latencySeeds, []units.Bytes{s.size}, delays)
	if err != nil {
		return nil, err
	}
	return chart.Distribution(chart.Frame{Title: "Latency over " + fmt.Sprint(latencySeeds) + " seeds: " + what, X: "time (us)",
		Y: "share of runs", Source: s.source}, what, all), nil
}

// table is the best schedule by size, and what is to be known of it.
func (s *networkStudy) table() (page.Table, []string) {
	d := report.PlanDocument{Rows: make([]report.PlanRow, len(s.answer.Rows))}
	for i := range d.Rows {
		d.Rows[i] = planRow(s.spec, &s.answer.Rows[i], false)
	}
	notes := d.Footer()
	for _, r := range d.Rows {
		for _, w := range r.Warnings {
			if !slices.Contains(notes, w) {
				notes = append(notes, w)
			}
		}
	}
	return table.Of(d.Rows).Page("The best schedule by size"), notes
}
