package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/units"
	"railyard/sim"
)

func newSimulate() *cobra.Command {
	var f planFlags
	var o simulateFlags
	cmd := &cobra.Command{
		Use:  "simulate",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSimulate(cmd, &f, &o)
		},
	}
	f.add(cmd, "", "")
	f.sizes.Only(cmd)
	f.topo.addLoad(cmd)
	o.add(cmd)
	return cmd
}

// simulateFlags are what only simulate takes.
type simulateFlags struct {
	plan, trace string
	flat        bool
	ranks       string
	with        []string
	ecmp        uint64
	qps         int
	congested   float64
	stragglers  stragglerFlags
	everyLink   bool
	repeat      int
}

func (o *simulateFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&o.plan, "plan", "", "simulate this schedule (JSON from \"railyard plan -o\")")
	fl.StringVar(&o.trace, "trace", "", "write a trace that Perfetto and chrome://tracing open")
	cli.Writes(cmd, "trace")
	how := cli.AddOptions(cmd, "how", "how it is played and shown, such as no-fold:")
	how.BoolVar(&o.flat, "no-fold", false, "play every rank's every message, also where ranks are equivalent (same result, slower)")
	fl.StringVar(&o.ranks, "ranks", "", "ranks that run the collective or the plan, e.g. 0-7,16 (default: all)")
	fl.StringArrayVar(&o.with, "with", nil, "another job that runs at once: FILE.json[:SIZE][@RANKS] or COLLECTIVE[:ALGO][:SIZE][@RANKS]")
	fl.Uint64Var(&o.ecmp, "ecmp", 0, "networks hash flows with this seed instead of spreading transfers over all paths")
	fl.IntVar(&o.qps, "qps", 1, "flows (queue pairs) that each connection is split over, with --ecmp")
	fl.Float64Var(&o.congested, "congested", 1, "share of its rate that a switch's port carries while messages compete for it, e.g. 0.9")
	o.stragglers.add(cmd)
	how.BoolVar(&o.everyLink, "every-link", false, "list all links one by one, also of machines with more than 4096 (as --load needs them)")
	cli.Between(fl, 1, 1024, "qps")
	fl.IntVar(&o.repeat, "repeat", 0, "also give P50, P95 and P99 over so many seeds, from --seed and --ecmp on")
	cli.Between(fl, 1, 100_000, "repeat")
}

// check looks at flags that need others.
func (o *simulateFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if err := checkPlanFile(cmd, o.plan); err != nil {
		return err
	}
	switch {
	case changed("qps") && !changed("ecmp"):
		return cli.Usagef("--qps has no effect without --ecmp: give a seed")
	case !(o.congested > 0 && o.congested <= 1):
		return cli.Usagef("--congested %v: must be a share, above 0 and at most 1", o.congested)
	case changed("seed") && len(o.stragglers.specs) == 0:
		return cli.Usagef("--seed has no effect without --straggler")
	}
	return nil
}

func runSimulate(cmd *cobra.Command, f *planFlags, o *simulateFlags) error {
	x, err := newScenario(cmd, f, o)
	if err != nil {
		return err
	}
	d, err := x.document(cmd, o)
	if err != nil {
		return err
	}
	d.Library = libraryOf(&x.baseline)
	return f.format.Emit(cmd, d)
}

// newScenario reads and plans everything that the flags name.
func newScenario(cmd *cobra.Command, f *planFlags, o *simulateFlags) (*scenario, error) {
	if err := o.check(cmd); err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("size") && f.coll.counts == "" {
		return nil, cli.Usagef("which size? give one with -s")
	}
	sizes, err := f.allSizes(cmd)
	if err != nil {
		return nil, err
	}
	x := &scenario{compile: sim.CompileOptions{Flat: o.flat}, everyLink: o.everyLink}
	if o.congested < 1 {
		x.compile.Congested = o.congested
	}
	if cmd.Flags().Changed("ecmp") {
		x.compile.Hashing = &sim.Hashing{Seed: o.ecmp, QPs: o.qps}
	}
	if x.topo, err = f.topo.load(); err != nil {
		return nil, err
	}
	if x.stragglers, err = o.stragglers.parse(x.topo); err != nil {
		return nil, err
	}
	if o.repeat > 0 && x.compile.Hashing == nil && !x.stragglers.random() {
		return nil, cli.Usagef("--repeat has no effect without --ecmp or a --straggler by chance (exp:, normal:)")
	}
	x.delays = x.stragglers.delays(o.stragglers.seed)
	if x.machine, err = f.profile.machine(x.topo); err != nil {
		return nil, err
	}
	x.profile = x.machine.Own(x.topo)
	if err := x.addJobs(cmd, f, o, sizes[0]); err != nil {
		return nil, err
	}
	return x, nil
}

// addJobs makes the first job and those beside it.
func (x *scenario) addJobs(cmd *cobra.Command, f *planFlags, o *simulateFlags, size units.Bytes) error {
	specs := make([]jobSpec, len(o.with))
	for i, text := range o.with {
		var err error
		if specs[i], err = parseJob(text, size); err != nil {
			return err
		}
	}
	first, err := x.firstJob(cmd, f, o, size)
	if err != nil {
		return err
	}
	x.jobs = append(x.jobs, first)
	protocols, err := f.protocols()
	if err != nil {
		return err
	}
	for i, spec := range specs {
		j, err := x.job(spec, protocols)
		if err != nil {
			return err
		}
		j.name, j.Label = o.with[i], i+1
		x.jobs = append(x.jobs, j)
	}
	return nil
}
