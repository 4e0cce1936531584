package main

import (
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report"
	"railyard/sim"
)

func newSimulate() *cobra.Command {
	var f planFlags
	var o simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate -t TOPOLOGY (-c COLLECTIVE | --plan FILE) -s SIZE",
		Short: "Predict one run in detail: causes of its time, load of every link, a trace",
		Example: `  railyard simulate -t dgx-h100 -c all_reduce -s 64M --algo ring
  railyard simulate -t dgx2 --plan plan.json -s 1G --trace trace.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSimulate(cmd, &f, &o)
		},
	}
	f.add(cmd, "", "")
	for _, hidden := range []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"} {
		must(cmd.Flags().MarkHidden(hidden))
	}
	must(cmd.MarkFlagRequired("size"))
	cmd.Flags().StringVar(&o.plan, "plan", "", "simulate this schedule (JSON from `railyard plan -o`)")
	cmd.Flags().StringVar(&o.trace, "trace", "", "write a trace that Perfetto and chrome://tracing open")
	cmd.Flags().BoolVar(&o.flat, "no-fold", false, "play every rank's every message, also where ranks do alike (same result, slower)")
	return cmd
}

// simulateFlags are what only simulate takes.
type simulateFlags struct {
	plan, trace string
	flat        bool
}

func runSimulate(cmd *cobra.Command, f *planFlags, o *simulateFlags) error {
	var (
		topo    *topology.Topology
		profile *cost.Profile
		s       *schedule.Schedule
		size    units.Bytes
	)
	if o.plan == "" {
		p, err := f.plan(cmd)
		if err != nil {
			return err
		}
		topo, profile, s, size = p.topo, p.profile, p.rows[0].Schedule, p.rows[0].Size
	} else {
		for _, ignored := range []string{"collective", "root", "algo", "proto", "channels", "slices"} {
			if cmd.Flags().Changed(ignored) {
				return usagef("--%s has no effect with --plan: the schedule says it", ignored)
			}
		}
		if err := f.format.check(); err != nil {
			return err
		}
		sizes, err := f.sizes.sizes(cmd)
		if err != nil {
			return err
		}
		size = sizes[0]
		if topo, err = f.topo.load(); err != nil {
			return err
		}
		if profile, err = f.profile.load(topo); err != nil {
			return err
		}
		if s, err = readSchedule(o.plan, topo); err != nil {
			return err
		}
	}
	d, err := simulateOne(topo, s, size, profile, o)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	switch f.format.name {
	case "json":
		return report.WriteJSON(w, d)
	case "csv":
		return d.WriteCSV(w)
	}
	return d.WriteText(w)
}

// readSchedule reads a plan and proves it right for the topology.
func readSchedule(path string, topo *topology.Topology) (*schedule.Schedule, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s, err := schedule.Decode(in)
	if err != nil {
		return nil, err
	}
	return s, schedule.Check(s, topo)
}

func simulateOne(topo *topology.Topology, s *schedule.Schedule, size units.Bytes, profile *cost.Profile, o *simulateFlags) (*report.SimulateDocument, error) {
	began := time.Now()
	plan, err := sim.Compile(topo, s, profile)
	if err != nil {
		return nil, err
	}
	played := plan
	if o.flat {
		began = time.Now()
		if played, err = sim.CompileFlat(topo, s, profile); err != nil {
			return nil, err
		}
	}
	r, err := played.Run(size, sim.Options{Trace: o.trace != ""})
	if err != nil {
		return nil, err
	}
	wall := time.Since(began)
	split, err := plan.Split(size, r.Time)
	if err != nil {
		return nil, err
	}
	alg, bus := bandwidths(s.Spec, size, r.Time)
	d := &report.SimulateDocument{Schema: "railyard.simulate/v1", Topology: topo.Name(), Profile: profile.Name, Schedule: planner.Name(s),
		Collective: s.Spec.Kind.String(), SizeBytes: int64(size), TimeUS: r.Time.Microseconds(), AlgBW: alg, BusBW: bus,
		LaunchUS: split.Launch.Microseconds(), AlphaUS: split.Alpha.Microseconds(), BetaUS: split.Beta.Microseconds(), ContentionUS: split.Contention.Microseconds(),
		Sends: r.Sends, Events: r.Events, WallS: wall.Seconds(), Bottleneck: r.Bottleneck, RankBalance: r.Balance.Ranks, LinkBalance: r.Balance.Links,
		Links: linkLoads(topo, r.Links), Warnings: append([]string{}, r.Warnings...)}
	if s.TopologyHash != "" && s.TopologyHash != topo.Hash() {
		d.Warnings = append(d.Warnings, "the plan was made for another topology ("+s.TopologyName+")")
	}
	if o.trace != "" {
		err = writeFile(o.trace, func(w io.Writer) error { return trace.WriteChrome(w, r.Trace) })
	}
	return d, err
}

// maxLinks is how many links are listed one by one; of larger machines, links of equal
// class and load share a line.
const maxLinks = 4096

func linkLoads(topo *topology.Topology, loads []sim.LinkLoad) []report.LinkLoad {
	type key struct {
		class       int32
		bytes, busy float64
	}
	index := map[key]int{}
	out := []report.LinkLoad{}
	for _, l := range loads {
		k := key{topo.Links()[l.Link].Class, l.Bytes, l.Utilisation}
		if i, ok := index[k]; ok && len(loads) > maxLinks {
			out[i].Count++
			continue
		}
		index[k] = len(out)
		out = append(out, report.LinkLoad{ID: topo.LinkName(l.Link), Count: 1, Class: topo.Class(l.Link).Name, Bytes: l.Bytes, Utilisation: l.Utilisation})
	}
	return out
}
