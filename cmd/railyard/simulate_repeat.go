package main

import (
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/sim"
)

// repeat adds the times over seeds.
func (x *scenario) repeat(cmd *cobra.Command, d *report.SimulateDocument, plan *sim.Plan, o *simulateFlags) error {
	if o.repeat == 0 {
		return nil
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "simulating")
	defer bar.Finish()
	delays := func(run int) []units.Time { return x.stragglers.delays(o.stragglers.seed + uint64(run)) }
	times, err := plan.Repeat(o.repeat, x.sizes(), delays, func(done int) { bar.Set(done, o.repeat) })
	if err != nil {
		return err
	}
	all := inMicroseconds(times)
	slices.Sort(all)
	d.Repeats = &report.Repeats{Runs: o.repeat, P50: measurement.NearestRank(all, 50),
		P95: measurement.NearestRank(all, 95), P99: measurement.NearestRank(all, 99)}
	return nil
}

func inMicroseconds(times []units.Time) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = t.Microseconds()
	}
	return out
}
