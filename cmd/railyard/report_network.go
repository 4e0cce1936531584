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
	topo    *topology.Topology
	spec    collective.Spec
	profile *cost.Profile
	answer  *study.Answer
	size    units.Bytes
	best    *study.Row // at size
	source  string
}

// network is the section about the collective.
func (f *reportFlags) network(cmd *cobra.Command, b *builder, t *topology.Topology) error {
	s := &networkStudy{f: f, topo: t}
	var err error
	var notes []string
	if t.NumRanks() > maxDrawn {
		x := f.training.topo
		x.fail, x.slow, x.loads = nil, nil, nil
		x.nodes = max(maxDrawn*t.NumNodes()/t.NumRanks(), 1)
		if s.topo, err = x.load(); err != nil {
			return err
		}
		notes = append(notes, fmt.Sprintf("Shown for the first %d of %d nodes.", x.nodes, t.NumNodes()))
	}
	if s.topo.NumRanks() > maxDrawn {
		return b.section("Network", nil, nil, nil,
			[]string{fmt.Sprintf("Left out: a node of %d GPUs is more than the %d whose plans are drawn.", s.topo.NumRanks(), maxDrawn)})
	}
	if s.size, err = cli.ParseSize("-s", f.size); err != nil {
		return err
	}
	if s.answer, err = s.ask(cmd, s.topo, study.Detail{Baseline: true}); err != nil {
		return err
	}
	s.spec, s.profile = s.answer.Question.Spec(), s.answer.Question.Costs()
	for i := range s.answer.Rows {
		if s.answer.Rows[i].Size == s.size {
			s.best = &s.answer.Rows[i]
		}
	}
	s.source = fmt.Sprintf("Simulated by railyard: %s, %d GPUs, profile %s", s.topo.Name(), s.topo.NumRanks(), s.profile.Name)
	list, err := s.figures(cmd)
	if err != nil {
		return err
	}
	p := &s.best.Prediction
	text := fmt.Sprintf("%v over %d GPUs; at %v the best schedule is %s (%s: %s), limited by %s.", s.spec.Kind, s.spec.Ranks, s.size,
		planner.Name(s.best.Schedule),
		table.Microseconds(p.Time.Microseconds()), planner.Describe(s.best.Schedule), p.Bottleneck)
	return b.section("Network", []string{text}, list, []page.Table{s.table()}, notes)
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
	site, err := s.f.training.topo.site()
	if err != nil {
		return nil, err
	}
	a := study.Asked{Topology: t, Site: site, Sizes: sizes, Detail: detail}
	if a.Collective, err = s.f.coll.collective(cmd); err != nil {
		return nil, err
	}
	if a.Machine, err = s.f.training.profile.machine(t); err != nil {
		return nil, err
	}
	q, err := study.New(a)
	if err != nil {
		return nil, err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "planning")
	defer bar.Finish()
	return q.Answer(bar.Set)
}

func (s *networkStudy) figures(cmd *cobra.Command) ([]figure, error) {
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
	list := []figure{{name: "topology", svg: picture, caption: "Use of the links during " + what +
		", mean over its time, by colour and width. " + s.source}}
	list = append(list, curves...)
	return append(list, crossover,
		figure{name: "utilisation", chart: figures.Utilisation(what, s.source, s.uses(load))},
		figure{name: "latency", chart: late, caption: "Ranks start late at random (exponential, mean 5 us) and networks hash flows over " +
			"4 queue pairs a connection; seeds 1 to 200."},
		figure{name: "balance", chart: figures.Balance(what, s.source, sent),
			caption: fmt.Sprintf("Mean over maximum: ranks %.3f, links %.3f.", r.Balance.Ranks, r.Balance.Links)}), nil
}

// curves are predictions, limits and measurements over size.
func (s *networkStudy) curves() ([]figure, error) {
	name := s.spec.Kind.String()
	ours := figures.Curve{Name: "railyard's plan", Role: chart.Ours}
	limit := figures.Curve{Name: "bound by line rates", Role: chart.Limit, Style: chart.Dashed}
	point := func(size units.Bytes, t units.Time) figures.CurvePoint {
		_, bus := study.Bandwidths(s.spec, size, t)
		return figures.CurvePoint{Bytes: float64(size), TimeUS: t.Microseconds(), BusBW: bus}
	}
	for _, r := range s.answer.Rows {
		ours.Points = append(ours.Points, point(r.Size, r.Prediction.Time))
		if r.Bound.Time > 0 {
			limit.Points = append(limit.Points, point(r.Size, r.Bound.Time))
		}
	}
	list := []figures.Curve{limit, ours}
	library, own := s.library(point)
	list = append(list, library, own)
	measured, sizes, errs, err := s.measured(point)
	if err != nil {
		return nil, err
	}
	if len(measured.Points) > 0 {
		list = append(list, measured)
	}
	times, bandwidths := figures.Curves(fmt.Sprintf("%s, %d GPUs", name, s.spec.Ranks), s.source, list)
	out := []figure{{name: "time", chart: times}, {name: "busbw", chart: bandwidths,
		caption: "NCCL's kernels: times fitted on measurements; NCCL's own model: what its tuner believes."}}
	if len(sizes) > 0 {
		out = append(out, figure{name: "error", chart: figures.Errors("NCCL's kernels",
			"Measurements of validation/README.md on this topology, against the prediction of NCCL's kernels", sizes, errs)})
	}
	return out, nil
}

// library are what NCCL's kernels take, and what NCCL itself believes; empty where it has no
// such collective.
func (s *networkStudy) library(point func(units.Bytes, units.Time) figures.CurvePoint) (fitted, own figures.Curve) {
	fitted, own = figures.Curve{Name: "NCCL's kernels, predicted", Role: chart.NCCL}, figures.Curve{Name: "NCCL's own model",
		Role: chart.Other, Style: chart.Dashed}
	for _, row := range s.answer.Rows {
		if row.NCCL.Time > 0 {
			fitted.Points = append(fitted.Points, point(row.Size, row.NCCL.Time))
		}
		if row.NCCL.Model > 0 {
			own.Points = append(own.Points, point(row.Size, row.NCCL.Model))
		}
	}
	return fitted, own
}

// measured are the measurements on this very topology, with the errors of the prediction.
func (s *networkStudy) measured(point func(units.Bytes, units.Time) figures.CurvePoint) (c figures.Curve, sizes, errs []float64,
	err error) {
	c = figures.Curve{Name: "measured (NCCL)", Role: chart.Measured, Style: chart.Dots}
	systems, err := measured.ShippedSystems()
	if err != nil || s.topo.Healthy() != s.topo {
		return c, nil, nil, err
	}
	sets, err := measured.Shipped()
	if err != nil {
		return c, nil, nil, err
	}
	for _, set := range sets {
		for _, m := range set.Rows {
			if m.Collective != s.spec.Kind || m.GPUs != s.spec.Ranks || m.Unusable != "" || m.Size < units.KiB || m.Time <= 0 ||
				max(m.Nodes, 1) != s.topo.NumNodes() {
				continue
			}
			x, err := systems.Of(m.ID)
			if err != nil || x == nil || x.Topology != s.f.training.topo.name || x.Excluded != "" || len(x.Set) > 0 || m.Algo != "" &&
				m.Algo != "default" || m.Launch == "stream" || x.Single {
				continue
			}
			c.Points = append(c.Points, point(m.Size, m.Time))
			machine, err := cost.GetMachine(x.Profile)
			if err != nil {
				return c, nil, nil, err
			}
			cases := measured.NewCases(s.f.training.topo.measured, machine.NCCL())
			cases.Options = x.Options
			p, err := cases.Predict(m)
			var not nccl.Unsupported
			if err != nil && !errors.As(err, &not) {
				return c, nil, nil, err
			}
			if err == nil {
				sizes, errs = append(sizes, float64(m.Size)), append(errs, p.Time.Seconds()/m.Time.Seconds()-1)
			}
		}
	}
	return c, sizes, errs, nil
}

// crossover is the best schedule by size and GPUs.
func (s *networkStudy) crossover(cmd *cobra.Command) (figure, error) {
	var names []string
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
		x := s.f.training.topo
		x.fail, x.slow, x.loads, x.nodes = nil, nil, nil, n
		if s.topo.NumNodes() == 1 {
			x.gpus = s.topo.NumRanks() / 2
		}
		if n == s.topo.NumNodes() && x.gpus == 0 || x.gpus == 1 {
			continue
		}
		t, err := x.load()
		if err != nil {
			continue
		}
		a, err := s.ask(cmd, t, study.Detail{})
		if err != nil {
			return figure{}, err
		}
		add(t, a.Rows)
	}
	var columns []string
	for _, r := range s.answer.Rows {
		columns = append(columns, r.Size.String())
	}
	return figure{name: "crossover", chart: figures.Map(s.spec.Kind.String(), s.source, columns, names, best),
		caption: "Which schedule is fastest for each size and number of GPUs."}, nil
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
	bar := cli.NewProgress(cmd.ErrOrStderr(), "latencies")
	times, err := plan.Repeat(latencySeeds, []units.Bytes{s.size}, delays, func(done int) { bar.Set(done, latencySeeds) })
	bar.Finish()
	if err != nil {
		return nil, err
	}
	all := inMicroseconds(times)
	slices.Sort(all)
	return chart.Distribution(chart.Frame{Title: "Latency over " + fmt.Sprint(latencySeeds) + " seeds: " + what, X: "time (us)",
		Y: "share of runs", Source: s.source}, what, all), nil
}

// table is the plan by size.
func (s *networkStudy) table() page.Table {
	rows := make([]report.PlanRow, len(s.answer.Rows))
	for i := range rows {
		rows[i] = planRow(s.spec, &s.answer.Rows[i], false)
	}
	return table.Of(rows).Page("The best schedule by size")
}
