package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/units"
	"railyard/sim"
)

// simulateCommand plays a plan, or the best one, beside what else goes on.
type simulateCommand struct {
	Plan planFlags `without:"minbytes maxbytes stepbytes stepfactor"`
	How  simulateFlags
}

// Run plays it.
func (c *simulateCommand) Run(cmd *cobra.Command, _ []string) error {
	x, err := newScenario(cmd, &c.Plan, &c.How)
	if err != nil {
		return err
	}
	d, err := x.document(cmd, &c.How)
	if err != nil {
		return err
	}
	d.Library = libraryOf(&x.baseline)
	return c.Plan.Format.Emit(cmd, d)
}

// simulateFlags are what only simulate takes.
type simulateFlags struct {
	Plan       string   `flag:"plan"`
	Trace      string   `flag:"trace,writes"`
	Flat       bool     `flag:"how no-fold"`
	EveryLink  bool     `flag:"how every-link"`
	Ranks      string   `flag:"ranks"`
	With       []string `flag:"with"`
	Ecmp       uint64   `flag:"ecmp"`
	Qps        int      `flag:"qps,default=1,lo=1,hi=1024"`
	Congested  float64  `flag:"congested,default=1"`
	Repeat     int      `flag:"repeat,lo=1,hi=100000"`
	Stragglers stragglerFlags
}

// check looks at flags that need others.
func (o *simulateFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if err := checkPlanFile(cmd, o.Plan); err != nil {
		return err
	}
	switch {
	case changed("qps") && !changed("ecmp"):
		return cli.Usagef("--qps has no effect without --ecmp: give a seed")
	case !(o.Congested > 0 && o.Congested <= 1):
		return cli.Usagef("--congested %v: must be a share, above 0 and at most 1", o.Congested)
	case changed("seed") && len(o.Stragglers.Specs) == 0:
		return cli.Usagef("--seed has no effect without --straggler")
	}
	return nil
}

// newScenario reads and plans everything that the flags name.
func newScenario(cmd *cobra.Command, f *planFlags, o *simulateFlags) (*scenario, error) {
	if err := o.check(cmd); err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("size") && f.Coll.Counts == "" {
		return nil, cli.Usagef("which size? give one with -s")
	}
	sizes, err := f.allSizes(cmd)
	if err != nil {
		return nil, err
	}
	x := &scenario{everyLink: o.EveryLink,
		compile: sim.CompileOptions{Flat: o.Flat, Connections: mostConnections, Operations: mostOperations}}
	if o.Congested < 1 {
		x.compile.Congested = o.Congested
	}
	if cmd.Flags().Changed("ecmp") {
		x.compile.Hashing = &sim.Hashing{Seed: o.Ecmp, QPs: o.Qps}
	}
	if x.topo, err = f.Topo.load(); err != nil {
		return nil, err
	}
	if x.stragglers, err = o.Stragglers.parse(x.topo); err != nil {
		return nil, err
	}
	if o.Repeat > 0 && x.compile.Hashing == nil && !x.stragglers.random() {
		return nil, cli.Usagef("--repeat has no effect without --ecmp or a --straggler by chance (exp:, normal:)")
	}
	x.delays = x.stragglers.delays(o.Stragglers.Seed)
	if x.machine, err = f.Profile.machine(x.topo); err != nil {
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
	specs := make([]jobSpec, len(o.With))
	for i, text := range o.With {
		var err error
		if specs[i], err = parseJob(text, size); err != nil {
			return err
		}
	}
	first, err := x.firstJob(cmd, f, o, size)
	if err != nil {
		return err
	}
	x.jobs, x.counts = append(x.jobs, first), f.Coll.matrix
	protocols, err := f.protocols()
	if err != nil {
		return err
	}
	for i, spec := range specs {
		j, err := x.job(spec, protocols)
		if err != nil {
			return err
		}
		j.name, j.Label = o.With[i], i+1
		x.jobs = append(x.jobs, j)
	}
	return nil
}
