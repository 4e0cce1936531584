package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
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

// maxDrawn bounds the GPUs whose links a report draws and plays one by one: of a larger machine it takes the first nodes.
const maxDrawn = 64

// latencySeeds is how many runs the distribution of latencies has.
const latencySeeds = 200

// networkStudy is a collective on a machine, or the first nodes of it.
type networkStudy struct {
	f      *reportFlags
	site   study.Site
	topo   *topology.Topology
	answer *study.Answer
	size   units.Bytes
	best   *study.Row // at size
}

// network is the section about the collective on the whole machine, by the answer that `railyard plan` gives too.
func (f *reportFlags) network(cmd *cobra.Command, t *topology.Topology) (out page.Section, err error) {
	out.Heading = "Network"
	site, err := f.Training.Topo.site()
	if err != nil {
		return out, err
	}
	size, err := cli.ParseSize("-s", f.Size)
	if err != nil {
		return out, err
	}
	sizes := reportSizes()
	if at, ok := slices.BinarySearch(sizes, size); !ok {
		sizes = slices.Insert(sizes, at, size)
	}
	s, err := networkStudy{f: f, site: site, size: size}.on(cmd, t, sizes, study.Detail{Baseline: true})
	if err != nil {
		return out, err
	}
	if out.Figures, err = s.curves(); err != nil {
		return out, err
	}
	crossover, err := s.crossover(cmd, sizes)
	if err != nil {
		return out, err
	}
	p, spec := &s.best.Prediction, s.spec()
	out.Figures = append(out.Figures, crossover)
	out.Text = []string{fmt.Sprintf("%v over %d GPUs; at %v the best schedule is %s (%s: %s), limited by %s.", spec.Kind, spec.Ranks, size,
		planner.Name(s.best.Schedule), table.Microseconds(p.Time.Microseconds()), planner.Describe(s.best.Schedule), p.Bottleneck)}
	best, notes := s.table()
	out.Tables, out.Notes = []page.Table{best}, notes
	f.studied = s
	return out, nil
}

// played is the section about what one run of the collective does to links and ranks; of a large machine, on its first nodes, and its
// heading says so.
func (f *reportFlags) played(cmd *cobra.Command) (out page.Section, err error) {
	s := f.studied
	out.Heading = fmt.Sprintf("%v of %v, simulated", s.spec().Kind, s.size)
	if t := s.topo; t.NumRanks() > maxDrawn {
		nodes := max(maxDrawn*t.NumNodes()/t.NumRanks(), 1)
		part, err := s.site.Part(nodes, s.site.GPUs)
		if err != nil {
			return out, err
		}
		out.Heading += fmt.Sprintf(" on the first %d of %s alone", nodes, units.Counted(t.NumNodes(), "node")) + s.whole()
		if part.NumRanks() > maxDrawn {
			out.Notes = []string{fmt.Sprintf("Left out: a node has %d GPUs, more than the %d whose links are drawn.", part.NumRanks(),
				maxDrawn)}
			return out, nil
		}
		if s, err = s.on(cmd, part, []units.Bytes{s.size}, study.Detail{}); err != nil {
			return out, err
		}
		out.Text = []string{fmt.Sprintf("These %d GPUs are another machine with its own best schedule, %s (%s).", part.NumRanks(),
			planner.Name(s.best.Schedule), table.Microseconds(s.best.Prediction.Time.Microseconds()))}
	}
	out.Figures, err = s.figures(cmd)
	return out, err
}

// whole says of parts of a machine what they lack of its faults.
func (s *networkStudy) whole() string {
	if s.topo.Healthy() == s.topo {
		return ""
	}
	return " without what has failed and what others use"
}

func (s *networkStudy) spec() collective.Spec { return s.answer.Question.Spec() }

// source says where figures are from.
func (s *networkStudy) source() string {
	return fmt.Sprintf("Simulated by railyard: %s, %d GPUs, profile %s", s.topo.Name(), s.topo.NumRanks(), s.answer.Question.Costs().Name)
}

// reportSizes are 1 KiB to 4 GiB, in steps of 4.
func reportSizes() []units.Bytes {
	var out []units.Bytes
	for s := units.KiB; s <= 4*units.GiB; s *= 4 {
		out = append(out, s)
	}
	return out
}

// on asks about a machine.
func (s networkStudy) on(cmd *cobra.Command, t *topology.Topology, sizes []units.Bytes, detail study.Detail) (*networkStudy, error) {
	a, err := asked(cmd, &s.f.Coll, &s.f.Training.Profile, t, sizes)
	if err != nil {
		return nil, err
	}
	s.topo, a.Site, a.Detail = t, s.site, detail
	if s.answer, err = answer(cmd, a); err != nil {
		return nil, err
	}
	s.best = &s.answer.Rows[slices.IndexFunc(s.answer.Rows, func(r study.Row) bool { return r.Size == s.size })]
	return &s, nil
}

// figures are those of a run that is played link by link.
func (s *networkStudy) figures(cmd *cobra.Command) ([]page.Figure, error) {
	plan, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: s.best.Schedule}}, s.answer.Question.Costs(), sim.CompileOptions{Flat: true})
	if err != nil {
		return nil, err
	}
	r, err := plan.Run(s.size, sim.Options{})
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%v of %v", s.spec().Kind, s.size)
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
		", mean over its time, by colour and width. " + s.source()}}
	if uses := s.uses(load); len(uses) > 0 { // one GPU sends nothing
		list = append(list, page.Figure{Name: "utilisation", Chart: figures.Utilisation(what, s.source(), uses)})
	}
	return append(list,
		page.Figure{Name: "latency", Chart: late, Caption: "Ranks start late at random (exponential, mean 5 us) and networks hash flows " +
			"over 4 queue pairs a connection; seeds 1 to 200."},
		page.Figure{Name: "balance", Chart: figures.Balance(what, s.source(), sent),
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
	c := &curves{spec: s.spec()}
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
	what := fmt.Sprintf("%v, %d GPUs", c.spec.Kind, c.spec.Ranks)
	out := []page.Figure{{Name: "time", Chart: figures.Times(what, s.source(), c.times)},
		{Name: "busbw", Chart: figures.Bandwidths(what, s.source(), c.bandwidths),
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
			if m.Collective != c.spec.Kind || m.GPUs != c.spec.Ranks || m.Unusable != "" || m.Size < units.KiB || m.Time <= 0 ||
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

// crossover is the best schedule by size and GPUs: of the machine, and of what halving it gives that is small.
func (s *networkStudy) crossover(cmd *cobra.Command, sizes []units.Bytes) (page.Figure, error) {
	out := page.Figure{Name: "crossover", Caption: "Which schedule is fastest for each size and number of GPUs."}
	if whole := s.whole(); whole != "" {
		out.Caption += fmt.Sprintf(" All but these %d GPUs are%s.", s.topo.NumRanks(), whole)
	}
	var columns, names []string
	var best [][]string
	add := func(x *networkStudy) {
		var line []string
		for _, r := range x.answer.Rows {
			line = append(line, planner.Family(r.Schedule))
		}
		names, best = append(names, fmt.Sprint(x.topo.NumRanks())), append(best, line)
	}
	add(s)
	for _, n := range slices.Backward(halvings(s.topo.NumNodes())) {
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
		if t.NumRanks() > maxDrawn {
			continue
		}
		x, err := s.on(cmd, t, sizes, study.Detail{})
		if err != nil {
			return out, err
		}
		add(x)
	}
	for _, size := range sizes {
		columns = append(columns, size.String())
	}
	out.Chart = figures.Map(s.spec().Kind.String(), s.source(), columns, names, best)
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
	plan, err := sim.CompileJobs(s.topo, []sim.Job{{Schedule: s.best.Schedule}}, s.answer.Question.Costs(), o)
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
		Y: "share of runs", Source: s.source()}, what, all), nil
}

// table is the best schedule by size, and what is to be known of it.
func (s *networkStudy) table() (page.Table, []string) {
	d := report.PlanDocument{Rows: make([]report.PlanRow, len(s.answer.Rows))}
	for i := range d.Rows {
		d.Rows[i] = planRow(s.spec(), &s.answer.Rows[i], false)
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
