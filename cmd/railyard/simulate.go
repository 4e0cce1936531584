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
	var planFile, traceFile string
	cmd := &cobra.Command{
		Use:   "simulate -t TOPOLOGY (-c COLLECTIVE | --plan FILE) -s SIZE",
		Short: "Predict one run in detail: causes of its time, load of every link, a trace",
		Example: `  railyard simulate -t dgx-h100 -c all_reduce -s 64M --algo ring
  railyard simulate -t dgx2 --plan plan.json -s 1G --trace trace.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSimulate(cmd, &f, planFile, traceFile)
		},
	}
	f.add(cmd, "", "")
	for _, hidden := range []string{"minbytes", "maxbytes", "stepbytes", "stepfactor"} {
		must(cmd.Flags().MarkHidden(hidden))
	}
	must(cmd.MarkFlagRequired("size"))
	cmd.Flags().StringVar(&planFile, "plan", "", "simulate this schedule (JSON from `railyard plan -o`)")
	cmd.Flags().StringVar(&traceFile, "trace", "", "write a trace that Perfetto and chrome://tracing open")
	return cmd
}

func runSimulate(cmd *cobra.Command, f *planFlags, planFile, traceFile string) error {
	var (
		topo    *topology.Topology
		profile *cost.Profile
		s       *schedule.Schedule
		size    units.Bytes
	)
	if planFile == "" {
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
		if s, err = readSchedule(planFile, topo); err != nil {
			return err
		}
	}
	d, err := simulateOne(topo, s, size, profile, traceFile)
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

func simulateOne(topo *topology.Topology, s *schedule.Schedule, size units.Bytes, profile *cost.Profile, traceFile string) (*report.SimulateDocument, error) {
	plan, err := sim.Compile(topo, s, profile)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r, err := plan.Run(size, sim.Options{Trace: traceFile != ""})
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
		Links: []report.LinkLoad{}, Warnings: append([]string{}, r.Warnings...)}
	if s.TopologyHash != "" && s.TopologyHash != topo.Hash() {
		d.Warnings = append(d.Warnings, "the plan was made for another topology ("+s.TopologyName+")")
	}
	for _, l := range r.Links {
		d.Links = append(d.Links, report.LinkLoad{ID: topo.LinkName(l.Link), Class: topo.Class(l.Link).Name, Bytes: l.Bytes, Utilisation: l.Utilisation})
	}
	if traceFile != "" {
		err = writeFile(traceFile, func(w io.Writer) error { return trace.WriteChrome(w, r.Trace) })
	}
	return d, err
}
