package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/sim/nccl"
	"railyard/study/score"
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
	why      bool
	pareto   bool
	inPlace  bool
	executes bool // on GPUs, by railyard's own kernels
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
	cmd.Flags().Var((*countFlag)(&f.channels), "channels", "channels of ring algorithms (default: as many as the topology has disjoint rings)")
	cmd.Flags().Var((*countFlag)(&f.slices), "slices", "pipeline slices (default: try several)")
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

// planned is everything that a plan was made from and led to.
type planned struct {
	source  string // name or path of the topology
	beside  *beside
	topo    *topology.Topology
	spec    collective.Spec
	profile *cost.Profile
	known   *cost.Profile // as asked for, which says what is fastest; profile may be the one by which that runs
	score   *score.Scorer
	rows    []planner.Row
	latency *collective.Bound // found when it is first needed
	counts  *countMatrix      // of all_to_allv, where a file says them
	healthy []planner.Row     // where parts have failed: the same on the whole machine
	kept    []planner.Kept    // and its plans on what is left
	front   *planner.Front    // where it is asked for
	idle    []planner.Row     // where there is background traffic: the same without it
}

func (f *planFlags) plan(cmd *cobra.Command) (*planned, error) {
	if err := f.format.Check(); err != nil {
		return nil, err
	}
	sizes, err := f.allSizes(cmd)
	if err != nil {
		return nil, err
	}
	p := &planned{source: f.topo.name}
	if p.topo, err = f.topo.load(); err != nil {
		return nil, err
	}
	if p.spec, err = f.coll.spec(cmd, p.topo.NumRanks()); err != nil {
		return nil, err
	}
	p.counts = f.coll.matrix
	if p.profile, err = f.profile.load(p.topo); err != nil {
		return nil, err
	}
	if p.beside, err = newBeside(&f.topo, p.topo, p.profile); err != nil {
		return nil, err
	}
	if err := f.running(p); err != nil {
		return nil, err
	}
	return p, f.search(cmd, p, sizes)
}

// running takes the profile of railyard's own kernels where these are what will run: of the machine's
// GPUs where neither the user nor the topology names one. GPUs that pretend to be in several nodes are
// planned with the networks between those, of which such profiles say nothing.
func (f *planFlags) running(p *planned) (err error) {
	if p.known = p.profile; !f.executes || p.topo.NumNodes() > 1 {
		return nil
	}
	if f.profile.name == "" && p.topo.Profile() == "" {
		if p.known, err = cost.Get(nccl.ProfileFor(p.topo)); err != nil {
			return err
		}
	}
	if p.known.Execution != "" {
		p.profile, err = p.known.Running()
	}
	return err
}

// How much of everything a candidate's simulation may do (see score.Scorer.Limit): some
// seconds, longer where slices are asked for.
const (
	affordable       = 9_000_000
	affordableSlices = 8 * affordable
)

func (f *planFlags) search(cmd *cobra.Command, p *planned, sizes []units.Bytes) error {
	protocols, err := f.protocols(p.profile)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "planning")
	defer bar.Finish()
	p.score = score.New(p.topo, p.profile)
	switch {
	case f.algo != "":
	case f.slices > 0:
		p.score.Limit = affordableSlices
	default:
		p.score.Limit = affordable
	}
	o := planner.PlanOptions{Algorithm: f.algo, Protocols: protocols, Progress: bar.Set, Why: f.why, InPlace: f.inPlace,
		Build: planner.Options{Channels: f.channels, Slices: f.slices}}
	if f.pareto {
		p.rows, p.front, err = planner.PlanFront(p.topo, p.spec, sizes, p.score, o)
	} else {
		p.rows, err = planner.Plan(p.topo, p.spec, sizes, p.score, o)
	}
	return err
}

// planOthers plans the same for the machine without its faults, and without the traffic
// of others.
func (f *planFlags) planOthers(cmd *cobra.Command, p *planned) error {
	var err error
	if len(p.topo.Faults()) > 0 {
		g := *f
		g.coll.root, g.coll.matrix = p.topo.OriginalRank(f.coll.root), f.coll.matrix.onHealthy(p.topo)
		if p.healthy, err = g.planOn(cmd, p, p.topo.Healthy()); err != nil {
			return err
		}
		if err := p.keep(); err != nil {
			return err
		}
	}
	if idle := p.topo.Idle(); idle != p.topo {
		p.idle, err = f.planOn(cmd, p, idle)
	}
	return err
}

// planOn plans the same for another machine.
func (f *planFlags) planOn(cmd *cobra.Command, p *planned, topo *topology.Topology) ([]planner.Row, error) {
	other := &planned{source: p.source, topo: topo, profile: p.profile}
	g := *f
	g.why, g.pareto = false, false
	var err error
	if other.spec, err = g.coll.spec(cmd, topo.NumRanks()); err != nil {
		return nil, err
	}
	sizes := make([]units.Bytes, len(p.rows))
	for i, r := range p.rows {
		sizes[i] = r.Size
	}
	err = g.search(cmd, other, sizes)
	return other.rows, err
}

func (f *planFlags) protocols(p *cost.Profile) ([]schedule.Protocol, error) {
	names := f.protos
	if len(names) == 0 {
		names = p.Protocols()
	}
	var out []schedule.Protocol
	for _, n := range names {
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
	cmd := &cobra.Command{
		Use:   "plan -t TOPOLOGY -c COLLECTIVE",
		Short: "Find the best schedule for each size, and say what limits it",
		Example: `  railyard plan -t dgx-h100 --nodes 4 -c all_reduce -b 1K -e 4G
  railyard plan -t dgx1-v100 -c all_gather -s 1G --profile ideal --why
  railyard plan -t dgx1-v100 -c all_reduce --pareto
  railyard plan -t dgx1-v100 -c all_reduce -s 1G --load other-job.json@0.3
  railyard plan -t dgx2 -c broadcast -s 64M -o plan.json
  railyard plan -t dgx-h100 --nodes 4 -c all_reduce -s 1G --fail nic:node2/nic3 --slow link:node0/gpu0--node0/nvswitch1=0.5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := f.plan(cmd)
			if err != nil {
				return err
			}
			if err := f.planOthers(cmd, p); err != nil {
				return err
			}
			if out != "" {
				if err := p.save(out); err != nil {
					return err
				}
			}
			return p.print(cmd.OutOrStdout(), f.format.Name, f.why)
		},
	}
	f.add(cmd, "1K", "4G")
	f.topo.addLoad(cmd)
	cmd.Flags().BoolVar(&f.why, "why", false, "show what else was considered and what the bound is")
	cmd.Flags().BoolVar(&f.inPlace, "in-place", false, "only schedules that also run with input and output in the same memory")
	cmd.Flags().BoolVar(&f.pareto, "pareto", false, "show which schedules no other beats in both latency and bandwidth, and at which sizes each is best; as CSV, only that")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the schedule to this file as JSON (needs a single size)")
	return cmd
}

// save writes the schedule of a single size.
func (p *planned) save(path string) error {
	if len(p.rows) != 1 {
		return cli.Usagef("-o writes one schedule: choose the size with -s (there are %d)", len(p.rows))
	}
	if err := schedule.Check(p.rows[0].Schedule, p.topo); err != nil {
		return err
	}
	return cli.WriteFile(path, func(w io.Writer) error { return schedule.Encode(w, p.rows[0].Schedule) })
}

func (p *planned) print(w io.Writer, format string, why bool) error {
	d, err := p.document(why)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		return report.WriteJSON(w, d)
	case "csv":
		return d.WriteCSV(w)
	}
	return d.WriteText(w)
}

func (p *planned) document(why bool) (*report.PlanDocument, error) {
	d := &report.PlanDocument{Schema: "railyard.plan/v1", Topology: p.topo.Name(), Hash: p.topo.Hash(), Profile: p.profile.Name,
		Ranks: p.spec.Ranks, LostRanks: p.topo.LostRanks(), Rows: []report.PlanRow{}, Crossovers: []report.CrossoverRow{}}
	for _, f := range p.topo.Faults() {
		d.Faults = append(d.Faults, f.String())
	}
	for i, r := range p.rows {
		row := p.row(r, why)
		if p.healthy != nil {
			t := max(p.healthy[i].Prediction.Time, 1)
			row.HealthyUS, row.Slowdown = t.Microseconds(), float64(r.Prediction.Time)/float64(t)
			row.KeptUS, row.KeptTooLarge = p.kept[i].Time.Microseconds(), p.kept[i].Least
		}
		if p.idle != nil {
			t := max(p.idle[i].Prediction.Time, 1)
			row.IdleUS, row.LoadSlowdown = t.Microseconds(), float64(r.Prediction.Time)/float64(t)
		}
		d.Rows = append(d.Rows, row)
	}
	crossings, err := planner.Crossovers(p.rows, p.score)
	for _, c := range crossings {
		d.Crossovers = append(d.Crossovers, report.CrossoverRow{SizeBytes: int64(c.Size), From: planner.Name(c.From), To: planner.Name(c.To)})
	}
	d.Pareto, d.Counts = p.pareto(), p.counts.describe()
	return d, err
}

// pareto is the front as the document has it.
func (p *planned) pareto() *report.Pareto {
	if p.front == nil {
		return nil
	}
	out := &report.Pareto{SmallBytes: int64(p.front.Small), LargeBytes: int64(p.front.Large)}
	for i := range p.front.Points {
		x := &p.front.Points[i]
		alg, bus := bandwidths(p.spec, p.front.Large, x.Transfer)
		point := report.ParetoPoint{Schedule: planner.Name(x.Schedule), LatencyUS: x.Latency.Microseconds(), LargeUS: x.Transfer.Microseconds(), PerByte: x.PerByte(p.front.Large),
			AlgBW: alg, BusBW: bus, OnFront: x.OnFront, Best: []report.SizeRange{}}
		for _, r := range x.Best {
			point.Best = append(point.Best, report.SizeRange{From: int64(r.From), To: int64(r.To)})
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func (p *planned) row(r planner.Row, why bool) report.PlanRow {
	t := r.Prediction.Time
	alg, bus := bandwidths(p.spec, r.Size, t)
	bound, latency := r.Bound, p.latencyBound()
	if latency.Time > bound.Time {
		bound = latency
	}
	row := report.PlanRow{Collective: p.spec.Kind.String(), SizeBytes: int64(r.Size), Schedule: planner.Name(r.Schedule), TimeUS: t.Microseconds(),
		AlgBW: alg, BusBW: bus, BoundUS: bound.Time.Microseconds(), BoundCut: bound.Cut,
		BandwidthBoundUS: r.Bound.Time.Microseconds(), BandwidthBoundCut: r.Bound.Cut,
		LatencyBoundUS: latency.Time.Microseconds(), LatencyBoundCut: latency.Cut,
		Bottleneck: r.Prediction.Bottleneck, Warnings: append([]string{}, r.Prediction.Warnings...)}
	row.Library = p.beside.row(p.spec, r.Size)
	if t > 0 {
		row.OfBound = float64(bound.Time) / float64(t)
		row.OfBandwidthBound = float64(r.Bound.Time) / float64(t)
		row.OfLatencyBound = float64(latency.Time) / float64(t)
	}
	if r.RunnerUp != nil {
		row.RunnerUp = planner.Name(r.RunnerUp)
		row.RunnerLoss = r.RunnerLoss()
	}
	if why {
		for _, c := range r.Why {
			row.WhyNotOther = append(row.WhyNotOther, report.WhyRow{Schedule: planner.Name(c.Schedule), TimeUS: c.Time.Microseconds(), Pruned: c.Pruned, Gain: c.Gain, Limit: c.Limit})
		}
	}
	return row
}

// latencyBound is the bound by latency; computed once. Zero where the profile counts none.
func (p *planned) latencyBound() collective.Bound {
	if p.latency == nil {
		b := planner.LatencyBound(p.topo, p.spec, p.profile)
		if b.Time == 0 {
			b.Cut = ""
		}
		p.latency = &b
	}
	return *p.latency
}

// bandwidths are nccl-tests' algorithm and bus bandwidth in GB/s.
func bandwidths(spec collective.Spec, size units.Bytes, t units.Time) (alg, bus float64) {
	if t <= 0 || spec.Kind == collective.Barrier { // which moves no bytes
		return 0, 0
	}
	alg = float64(size) / t.Seconds() / 1e9
	return alg, alg * spec.Kind.BusFactor(spec.Ranks)
}
