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
	topo     topoFlags
	coll     collFlags
	sizes    cli.SizeFlags
	profile  profileFlag
	format   cli.FormatFlag
	algo     string
	protos   []string
	channels int
	slices   int
	budget   time.Duration
	why      bool
	pareto   bool
	inPlace  bool
}

func (f *planFlags) add(cmd *cobra.Command, begin, end string) {
	f.topo.add(cmd)
	f.coll.add(cmd)
	f.coll.addCounts(cmd)
	f.sizes.Add(cmd, begin, end)
	f.profile.add(cmd)
	f.format.Add(cmd)
	f.addSearch(cmd)
}

// addSearch adds the flags that narrow the choice.
func (f *planFlags) addSearch(cmd *cobra.Command) {
	addAlgo(cmd, &f.algo)
	cmd.Flags().StringSliceVar(&f.protos, "proto", nil, "protocols to consider: simple, ll, ll128 (default: those the profile knows)")
	cmd.Flags().IntVar(&f.channels, "channels", 0,
		"channels of ring algorithms (default: as many as the topology has disjoint rings)")
	cmd.Flags().IntVar(&f.slices, "slices", 0, "pipeline slices (default: try several)")
	cmd.Flags().DurationVar(&f.budget, "budget", 2*time.Second, "processor time to look for the plan of a size, as a core of 2.8 GHz has "+
		"it: counted as work, so that plans are the same on every machine")
	cli.AtLeast(cmd.Flags(), 1, "channels", "slices")
}

// addAlgo adds --algo, which forces one algorithm.
func addAlgo(cmd *cobra.Command, algo *string) {
	cmd.Flags().StringVar(algo, "algo", "", "use this algorithm only (default: the best one)")
	cli.Must(cmd.RegisterFlagCompletionFunc("algo", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, a := range planner.Algorithms() {
			names = append(names, a.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
}

// planned is an answer with what only commands know of its question.
type planned struct {
	*study.Answer
	source string       // name or path of the topology
	counts *countMatrix // of all_to_allv, where a file says them
}

// asked is the question that the flags ask on a topology, for some sizes.
func (f *planFlags) asked(cmd *cobra.Command, t *topology.Topology, sizes []units.Bytes) (a study.Asked, err error) {
	site, err := f.topo.site()
	if err != nil {
		return a, err
	}
	if a, err = asked(cmd, &f.coll, &f.profile, t, sizes); err != nil {
		return a, err
	}
	a.Site, a.Detail = site, study.Detail{Considered: f.why, Front: f.pareto}
	a.Search = study.Search{Algorithm: f.algo, Channels: f.channels, Slices: f.slices, InPlace: f.inPlace}
	if cmd.Flags().Changed("budget") {
		if f.budget <= 0 {
			return a, cli.Usagef("--budget %v: must be positive", f.budget)
		}
		a.Search.Budget = planner.BudgetOf(f.budget)
	}
	a.Search.Protocols, err = f.protocols()
	return a, err
}

// question is the question that the flags ask.
func (f *planFlags) question(cmd *cobra.Command, detail study.Detail) (*study.Question, error) {
	sizes, err := f.allSizes(cmd)
	if err != nil {
		return nil, err
	}
	t, err := f.topo.load()
	if err != nil {
		return nil, err
	}
	a, err := f.asked(cmd, t, sizes)
	if err != nil {
		return nil, err
	}
	a.Detail.Baseline, a.Detail.Changes = detail.Baseline, detail.Changes
	q, err := study.New(a)
	return q, f.coll.ofFile(err)
}

// plan answers the question.
func (f *planFlags) plan(cmd *cobra.Command, detail study.Detail) (*planned, error) {
	q, err := f.question(cmd, detail)
	if err != nil {
		return nil, err
	}
	a, err := answer(cmd, q)
	return &planned{Answer: a, source: f.topo.name, counts: f.coll.matrix}, err
}

// answer answers a question and shows how far it is.
func answer(cmd *cobra.Command, q *study.Question) (*study.Answer, error) {
	bar := cli.NewProgress(cmd.ErrOrStderr(), "planning")
	defer bar.Finish()
	return q.Answer(bar)
}

// protocols are those that the flags name; none: all that the costs know.
func (f *planFlags) protocols() ([]schedule.Protocol, error) {
	var out []schedule.Protocol
	for _, n := range f.protos {
		switch x := schedule.Protocol(strings.ToLower(n)); x {
		case schedule.Simple, schedule.LL, schedule.LL128:
			out = append(out, x)
		default:
			return nil, cli.Usagef("--proto %s: must be simple, ll or ll128", n)
		}
	}
	return out, nil
}

func newPlan() *cobra.Command {
	var f planFlags
	var out string
	var crossover bool
	cmd := &cobra.Command{
		Use: "plan",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 && !crossover {
				return cli.Usagef("%s: one topology is planned on; --crossover compares several", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if crossover {
				return f.crossover(cmd, append([]string{f.topo.name}, args...), out)
			}
			p, err := f.plan(cmd, study.Detail{Baseline: true, Changes: true})
			if err != nil {
				return err
			}
			if out != "" {
				if err := p.save(out); err != nil {
					return err
				}
			}
			d, err := p.document(f.why)
			if err != nil {
				return err
			}
			return f.format.Emit(cmd, d)
		},
	}
	f.add(cmd, "1K", "4G")
	f.topo.addLoad(cmd)
	cmd.Flags().BoolVar(&f.why, "why", false, "show what else was considered and what the bound is")
	cmd.Flags().BoolVar(&f.inPlace, "in-place", false, "only schedules that also run with input and output in the same memory")
	cmd.Flags().BoolVar(&f.pareto, "pareto", false,
		"show which schedules no other beats in both latency and bandwidth, and at which sizes each is best; as CSV, only that")
	cmd.Flags().BoolVar(&crossover, "crossover", false, "show which schedule is best at which size, on one topology or several")
	cli.OutputFlag(cmd, &out, "write the schedule of a single size as JSON; with --crossover, a chart (.svg or .png)")
	return cmd
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
		d.Rows = append(d.Rows, planRow(p.Question.Spec(), &p.Rows[i], why))
	}
	crossings, err := p.Crossovers()
	for _, c := range crossings {
		d.Crossovers = append(d.Crossovers, report.CrossoverRow{SizeBytes: int64(c.Size), From: planner.Name(c.From),
			To: planner.Name(c.To)})
	}
	d.Pareto, d.Counts = p.pareto(), p.counts.describe()
	return d, err
}

// pareto is the front as the document has it.
func (p *planned) pareto() *report.Pareto {
	if p.Front == nil {
		return nil
	}
	out := &report.Pareto{SmallBytes: int64(p.Front.Small), LargeBytes: int64(p.Front.Large)}
	for i := range p.Front.Points {
		x := &p.Front.Points[i]
		alg, bus := study.Bandwidths(p.Question.Spec(), p.Front.Large, x.Transfer)
		point := report.ParetoPoint{Schedule: planner.Name(x.Schedule), LatencyUS: x.Latency.Microseconds(),
			LargeUS: x.Transfer.Microseconds(), PerByte: x.PerByte(p.Front.Large),
			AlgBW: alg, BusBW: bus, OnFront: x.OnFront, Best: []report.SizeRange{}}
		for _, r := range x.Best {
			point.Best = append(point.Best, report.SizeRange{From: int64(r.From), To: int64(r.To)})
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
		return report.Library{MeasuredUS: report.Known(b.Measured), MeasuredIn: b.MeasuredIn}
	}
	out := report.Library{Way: b.Algorithm + "/" + b.Protocol, Basis: b.Basis.String(), Assumed: b.Basis.Unsure(),
		LowUS: report.Known(b.Low), HighUS: report.Known(b.High), TimeUS: report.Known(b.Time), ModelUS: report.Known(b.Model),
		MeasuredUS: report.Known(b.Measured), MeasuredIn: b.MeasuredIn}
	return out
}
