package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"railyard/capacity/locality"
	"railyard/capacity/step"
	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// placeFlags say which job is placed more or less closely, and how much slower it may be.
type placeFlags struct {
	Job    int     `flag:"job"`
	Within float64 `flag:"within,default=0.05"`

	layout step.Layout // of its step
}

func (f *placeFlags) check(cmd *cobra.Command) error {
	if !(f.Within >= 0) || math.IsInf(f.Within, 0) {
		return cli.Usagef("--within %v: must be a share such as 0.05", f.Within)
	}
	return cli.NoEffect(cmd, "with --job: leave one of them out", append([]string{"to", "change", "faster", "with", "goodput", "prices"},
		cli.RangeFlags...)...)
}

// limits times a job on each of its placements.
func (f *whatIfFlags) limits(cmd *cobra.Command) error {
	t, err := f.Training.Topo.load()
	if err != nil {
		return err
	}
	list, err := locality.Placements(t, f.Place.Job)
	if err != nil {
		return cli.Usagef("--job: %v", err)
	}
	d := &report.LimitsDocument{Schema: "railyard.limits/v1", Topology: t.Name(), GPUs: f.Place.Job, Within: f.Place.Within,
		Notes: []string{}}
	timed := f.placedCollective
	if f.Training.Workload != "" {
		timed = f.placedStep
	}
	for _, p := range list {
		part, err := p.Part(t)
		if err != nil {
			return err
		}
		row := report.LimitRow{Tier: p.Tier, Groups: p.Groups, Nodes: part.NumNodes()}
		if err := timed(cmd, d, part, &row); err != nil {
			return err
		}
		d.Rows = append(d.Rows, row)
	}
	judge(d, t, list)
	return f.Format.Emit(cmd, d)
}

// placedStep times a step on a placement, in the layout that is best on the closest, the first.
func (f *whatIfFlags) placedStep(cmd *cobra.Command, d *report.LimitsDocument, part *topology.Topology, row *report.LimitRow) error {
	p, w, err := f.Training.on(part)
	if err != nil {
		return err
	}
	if len(d.Rows) == 0 {
		l, _, err := f.Training.best(cmd, p, w)
		if err != nil {
			return err
		}
		f.Place.layout, d.Subject, d.By = l, w.Name+" ("+l.String()+")", p.Runtime()
		d.Notes = append(d.Notes, f.Training.Layout.changed(w, &l)...)
	}
	r, err := step.Run(p, w, f.Place.layout, step.Options{})
	if err == nil {
		row.TimeMS, row.Limit = ms(r.Time), r.Bottleneck()
	}
	return err
}

// placedCollective times a collective, planned for the placement.
func (f *whatIfFlags) placedCollective(cmd *cobra.Command, d *report.LimitsDocument, part *topology.Topology,
	row *report.LimitRow) error {
	size, err := cli.ParseSize("-s", f.Sizes.Single)
	if err != nil {
		return err
	}
	asked, err := f.asked(cmd, part, []units.Bytes{size})
	if err != nil {
		return err
	}
	a, err := study.Ask(asked, nil)
	if err != nil {
		return err
	}
	d.Subject, d.By = fmt.Sprintf("%s of %v", f.Coll.Name, size), "railyard (profile "+asked.Machine.Name+")"
	x := &a.Rows[0]
	row.TimeMS, row.Limit = ms(x.Prediction.Time), planner.Name(x.Schedule)+"; "+x.Prediction.Bottleneck
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
