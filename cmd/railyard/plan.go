package main

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// planFlags are what plan and run share: what to move, over what, at which cost.
type planFlags struct {
	Topo     topoFlags
	Coll     collFlags
	Sizes    cli.SizeFlags
	Profile  profileFlag
	Format   cli.FormatFlag
	Algo     string        `flag:"algo,complete={algorithms}"`
	Protos   []string      `flag:"proto,commas"`
	Channels int           `flag:"channels,lo=1"`
	Slices   int           `flag:"slices,lo=1"`
	Budget   time.Duration `flag:"budget,default=2s"`

	why, pareto, inPlace bool
}

// planned is an answer with what only commands know of its question.
type planned struct {
	*study.Answer
	source string       // name or path of the topology
	counts *countMatrix // of all_to_allv, where a file says them
}

// asked is the question that the flags ask on a topology, for some sizes.
func (f *planFlags) asked(cmd *cobra.Command, t *topology.Topology, sizes []units.Bytes) (a study.Asked, err error) {
	site, err := f.Topo.site()
	if err != nil {
		return a, err
	}
	if a, err = asked(cmd, &f.Coll, &f.Profile, t, sizes); err != nil {
		return a, err
	}
	a.Site, a.Detail = site, study.Detail{Considered: f.why, Pareto: f.pareto}
	a.Search = study.Search{Algorithm: f.Algo, Channels: f.Channels, Slices: f.Slices, InPlace: f.inPlace}
	if cmd.Flags().Changed("budget") {
		if f.Budget <= 0 {
			return a, cli.Usagef("--budget %v: must be positive", f.Budget)
		}
		a.Search.Budget = planner.BudgetOf(f.Budget)
	}
	a.Search.Protocols, err = f.protocols()
	return a, err
}

// plan answers the question that the flags ask.
func (f *planFlags) plan(cmd *cobra.Command, detail study.Detail) (*planned, error) {
	sizes, err := f.allSizes(cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.Topo.load()
	if err != nil {
		return nil, err
	}
	a, err := f.asked(cmd, t, sizes)
	if err != nil {
		return nil, err
	}
	a.Detail.Baseline, a.Detail.Changes = detail.Baseline, detail.Changes
	x, err := answer(cmd, a)
	return &planned{Answer: x, source: f.Topo.Name, counts: f.Coll.matrix}, f.Coll.ofFile(err)
}

// answer answers a question and shows how far it is.
func answer(cmd *cobra.Command, a study.Asked) (*study.Answer, error) {
	bar := cli.NewProgress(cmd.ErrOrStderr(), "planning")
	defer bar.Finish()
	return study.Ask(a, bar)
}

// protocols are those that the flags name; none: all that the costs know.
func (f *planFlags) protocols() ([]schedule.Protocol, error) {
	var out []schedule.Protocol
	for _, n := range f.Protos {
		switch x := schedule.Protocol(strings.ToLower(n)); x {
		case schedule.Simple, schedule.LL, schedule.LL128:
			out = append(out, x)
		default:
			return nil, cli.Usagef("--proto %s: must be simple, ll or ll128", n)
		}
	}
	return out, nil
}

// planCommand plans, or shows what is best where.
type planCommand struct {
	Plan      planFlags
	Why       bool   `flag:"why"`
	InPlace   bool   `flag:"in-place"`
	Pareto    bool   `flag:"pareto"`
	Crossover bool   `flag:"crossover"`
	Out       string `flag:"output,o,writes"`
}

// Args are further topologies.
func (c *planCommand) Args(_ *cobra.Command, args []string) error {
	if len(args) > 0 && !c.Crossover {
		return cli.Usagef("%s: one topology is planned on; --crossover compares several", args[0])
	}
	return nil
}

// Run plans.
func (c *planCommand) Run(cmd *cobra.Command, args []string) error {
	f := &c.Plan
	f.why, f.inPlace, f.pareto = c.Why, c.InPlace, c.Pareto
	if c.Crossover {
		return f.crossover(cmd, append([]string{f.Topo.Name}, args...), c.Out)
	}
	p, err := f.plan(cmd, study.Detail{Baseline: true, Changes: true})
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := p.save(c.Out); err != nil {
			return err
		}
	}
	d, err := p.document(f.why)
	if err != nil {
		return err
	}
	return f.Format.Emit(cmd, d)
}

// save writes the schedule of a single size.
func (p *planned) save(path string) error {
	if len(p.Rows) != 1 {
		return cli.Usagef("-o writes one schedule: choose the size with -s (there are %d)", len(p.Rows))
	}
	if err := schedule.Check(p.Rows[0].Schedule, p.Question.Topology()); err != nil {
		return err
	}
	return outfile.Write(path, func(w io.Writer) error { return schedule.Encode(w, p.Rows[0].Schedule) })
}

func (p *planned) document(why bool) (*report.PlanDocument, error) {
	topo := p.Question.Topology()
	d := &report.PlanDocument{Schema: "railyard.plan/v1", Topology: topo.Name(), Hash: topo.Hash(), Profile: p.Question.Costs().Name,
		Ranks: topo.NumRanks(), LostRanks: topo.LostRanks(), Rows: []report.PlanRow{}, Crossovers: []report.CrossoverRow{}}
	for _, f := range topo.Faults() {
		d.Faults = append(d.Faults, f.String())
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		d.Rows = append(d.Rows, planRow(p.Question.Spec(), r, why))
	}
	crossings, err := p.Crossovers()
	for _, c := range crossings {
		d.Crossovers = append(d.Crossovers, report.CrossoverRow{SizeBytes: int64(c.Size), About: c.About, From: planner.Name(c.From),
			To: planner.Name(c.To)})
	}
	d.Pareto, d.Counts = p.pareto(), p.counts.describe()
	return d, err
}

// pareto is the front as the document has it.
func (p *planned) pareto() *report.Pareto {
	if p.Pareto == nil {
		return nil
	}
	out := &report.Pareto{SmallBytes: int64(p.Pareto.Small), LargeBytes: int64(p.Pareto.Large)}
	for i := range p.Pareto.Points {
		x := &p.Pareto.Points[i]
		alg, bus := study.Bandwidths(p.Question.Spec(), p.Pareto.Large, x.Transfer)
		point := report.ParetoPoint{Schedule: planner.Name(x.Schedule), LatencyUS: x.Latency.Microseconds(),
			LargeUS: x.Transfer.Microseconds(), PerByte: x.PerByte(p.Pareto.Large),
			AlgBW: alg, BusBW: bus, Pareto: x.OnFront, Best: []report.SizeRange{}}
		for _, r := range x.Best {
			point.Best = append(point.Best, report.SizeRange{From: int64(r.From), To: int64(r.To), About: r.About})
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func planRow(spec collective.Spec, r *study.Row, why bool) report.PlanRow {
	t, limit := r.Prediction.Time, r.Limit()
	alg, bus := study.Bandwidths(spec, r.Size, t)
	row := report.PlanRow{Collective: spec.Kind.String(), SizeBytes: int64(r.Size), Schedule: planner.Name(r.Schedule),
		How: planner.Describe(r.Schedule), Basis: r.Basis.String(), Source: r.Basis.Source, Unsure: r.Basis.Unsure(),
		TimeUS: t.Microseconds(),
		AlgBW:  alg, BusBW: bus, BoundUS: limit.Time.Microseconds(), BoundCut: limit.Cut, OfBound: r.Share(limit),
		BandwidthBoundUS: r.Bound.Time.Microseconds(), BandwidthBoundCut: r.Bound.Cut, OfBandwidthBound: r.Share(r.Bound),
		LatencyBoundUS: r.Latency.Time.Microseconds(), LatencyBoundCut: r.Latency.Cut, OfLatencyBound: r.Share(r.Latency),
		Bottleneck: r.Prediction.Bottleneck, Warnings: append([]string{}, r.Prediction.Warnings...), Library: libraryOf(&r.NCCL)}
	if r.RunnerUp != nil {
		row.RunnerUp, row.RunnerLoss = planner.Name(r.RunnerUp), r.RunnerLoss()
	}
	if b := r.Before; b != nil {
		row.HealthyUS, row.Slowdown = b.Prediction.Time.Microseconds(), slowdown(t, b.Prediction.Time)
		row.KeptUS, row.KeptTooLarge = r.Kept.Time.Microseconds(), r.Kept.Least
	}
	if r.Idle != nil {
		row.IdleUS, row.LoadSlowdown = r.Idle.Prediction.Time.Microseconds(), slowdown(t, r.Idle.Prediction.Time)
	}
	if why {
		for _, c := range r.Why {
			row.WhyNotOther = append(row.WhyNotOther,
				report.WhyRow{Schedule: planner.Name(c.Schedule), TimeUS: c.Time.Microseconds(), Pruned: c.Pruned, Gain: c.Gain,
					Limit: c.Limit})
		}
	}
	return row
}

// libraryOf is the library's side as documents have it.
func libraryOf(b *study.Baseline) report.Library {
	if !b.Runs() {
		return report.Library{MeasuredUS: report.OrNil(b.Measured), MeasuredIn: b.MeasuredIn}
	}
	out := report.Library{Choice: b.Algorithm + "/" + b.Protocol, Basis: b.Basis.String(), Assumed: b.Basis.Unsure(),
		LowUS: report.OrNil(b.Low), HighUS: report.OrNil(b.High), TimeUS: report.OrNil(b.Time), ModelUS: report.OrNil(b.Model),
		MeasuredUS: report.OrNil(b.Measured), MeasuredIn: b.MeasuredIn}
	return out
}
