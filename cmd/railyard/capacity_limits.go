package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"railyard/capacity/locality"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/interop/slurm"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// limitsFlags say which job is placed, and how much slower it may be.
type limitsFlags struct {
	training trainingFlags
	coll     collFlags
	sizes    cli.SizeFlags
	format   cli.FormatFlag
	job      int
	within   float64
	conf     string
}

// addJob adds the flags of a job that is placed more or less closely.
func (f *limitsFlags) addJob(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.job, "job", 0, "place a job of so many GPUs in one node, in one group of each tier, spread: how closely they "+
		"have to lie together")
	cmd.Flags().Float64Var(&f.within, "within", 0.05, "slowdown of the job that is acceptable, as a share")
	cmd.Flags().StringVar(&f.conf, "topology-conf", "", "with --job, also write the tiers as Slurm's topology.conf (topology/tree)")
	cli.Writes(cmd, "topology-conf")
}

func (f *limitsFlags) run(cmd *cobra.Command) error {
	if !(f.within >= 0) || math.IsInf(f.within, 0) {
		return cli.Usagef("--within %v: must be a share such as 0.05", f.within)
	}
	for _, name := range append([]string{"to", "change", "faster", "with", "goodput", "prices"}, "minbytes", "maxbytes", "stepbytes",
		"stepfactor") {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s has no effect with --job: leave one of them out", name)
		}
	}
	if (f.training.workload != "") == cmd.Flags().Changed("collective") {
		return cli.Usagef("give either a workload (-w) or a collective (-c)")
	}
	t, err := f.training.topo.load()
	if err != nil {
		return err
	}
	list, err := locality.Placements(t, f.job)
	if err != nil {
		return cli.Usagef("--job: %v", err)
	}
	d := &report.LimitsDocument{Schema: "railyard.limits/v1", Topology: t.Name(), GPUs: f.job, Within: f.within, Notes: []string{}}
	if f.training.workload != "" {
		err = f.train(cmd, d, t, list)
	} else {
		err = f.collect(cmd, d, t, list)
	}
	if err != nil {
		return err
	}
	judge(d, t, list)
	if f.conf != "" {
		if err := cli.WriteFile(f.conf, func(w io.Writer) error { return slurm.WriteTree(w, t) }); err != nil {
			return err
		}
	}
	return f.format.Emit(cmd, d)
}

// train times a step on each placement, all in the layout that is best on the closest.
func (f *limitsFlags) train(cmd *cobra.Command, d *report.LimitsDocument, t *topology.Topology, list []locality.Placement) error {
	var layout step.Layout
	for i, p := range list {
		part, err := p.Part(t)
		if err != nil {
			return err
		}
		x := f.training
		q, w, err := x.on(part)
		if err != nil {
			return err
		}
		if i == 0 {
			if layout, _, err = (&capacityStepFlags{training: x}).layout(cmd, q, w); err != nil {
				return err
			}
			d.Subject, d.By = w.Name+" ("+layout.String()+")", q.Runtime()
		}
		r, err := step.Run(q, w, layout, step.Options{})
		if err != nil {
			return err
		}
		d.Rows = append(d.Rows, report.LimitRow{Tier: p.Tier, Groups: p.Groups, Nodes: part.NumNodes(), TimeMS: ms(r.Time),
			Limit: r.Bottleneck()})
	}
	return nil
}

// collect times a collective, planned for each placement.
func (f *limitsFlags) collect(cmd *cobra.Command, d *report.LimitsDocument, t *topology.Topology, list []locality.Placement) error {
	size, err := cli.ParseSize("-s", f.sizes.Single)
	if err != nil {
		return err
	}
	c, err := f.coll.collective(cmd)
	if err != nil {
		return err
	}
	machine, err := f.training.profile.machine(t)
	if err != nil {
		return err
	}
	d.Subject, d.By = fmt.Sprintf("%s of %v", f.coll.name, size), "railyard (profile "+machine.Name+")"
	for _, p := range list {
		part, err := p.Part(t)
		if err != nil {
			return err
		}
		q, err := study.New(study.Asked{Topology: part, Collective: c, Sizes: []units.Bytes{size}, Machine: machine})
		if err != nil {
			return err
		}
		a, err := q.Answer(nil)
		if err != nil {
			return err
		}
		x := a.Rows[0].Prediction
		d.Rows = append(d.Rows, report.LimitRow{Tier: p.Tier, Groups: p.Groups, Nodes: part.NumNodes(), TimeMS: ms(x.Time),
			Limit: planner.Name(a.Rows[0].Schedule) + "; " + x.Bottleneck})
	}
	return nil
}

// judge compares the placements and turns the widest that is fast enough into hints.
func judge(d *report.LimitsDocument, t *topology.Topology, list []locality.Placement) {
	fastest := math.Inf(1)
	for _, r := range d.Rows {
		fastest = min(fastest, r.TimeMS)
	}
	widest := -1
	for i := range d.Rows {
		r := &d.Rows[i]
		r.Slowdown = r.TimeMS / fastest
		if r.Within = r.Slowdown <= 1+d.Within; r.Within {
			widest = i
		}
	}
	d.Tier = list[widest].Tier // the fastest is within
	d.Slurm, d.Kueue = hints(t, d.Tier, d.Rows[widest].Nodes)
}

// hints ask for a job in one group of a tier. Slurm counts leaf switches, and keeps jobs in
// racks where these are the blocks of topology/block; Kueue's levels are node labels, as
// Topograph sets them for switches (tier-0 is nearest), and the clouds for racks.
func hints(t *topology.Topology, tier string, nodes int) (job, pod []string) {
	const key = "kueue.x-k8s.io/podset-required-topology: "
	job = []string{fmt.Sprintf("#SBATCH --nodes=%d", nodes)}
	if tier == "spread" {
		return append(job, "# no --switches: any nodes will do"), []string{"# no topology is required",
			"kueue.x-k8s.io/podset-unconstrained-topology: \"true\""}
	}
	switch tier {
	case "node":
		return job, []string{key + "kubernetes.io/hostname"}
	case "rack":
		return append(job, fmt.Sprintf("#SBATCH --segment=%d  # racks are blocks of topology/block", nodes)),
			[]string{key + "cloud.provider.com/topology-rack"}
	}
	switches := slices.DeleteFunc(locality.Tiers(t), func(x topology.Tier) bool { return x.Name == "node" || x.Name == "rack" })
	for i, x := range switches {
		if x.Name == tier {
			leaves := (switches[0].Groups + x.Groups - 1) / x.Groups
			return append(job, fmt.Sprintf("#SBATCH --switches=%d", leaves)), []string{fmt.Sprintf("%sfabric.topograph.run/tier-%d", key,
				i)}
		}
	}
	return job, nil
}
