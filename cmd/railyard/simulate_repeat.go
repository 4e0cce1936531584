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
func (x *scenario) repeat(cmd *cobra.Command, d *report.SimulateDocument, plan *sim.Plan, o *simulateFlags, longer units.Time) error {
	if o.Repeat == 0 {
		return nil
	}
	delays := func(run int) []units.Time { return x.stragglers.delays(o.Stragglers.Seed + uint64(run)) }
	all, err := repeated(cmd, plan, o.Repeat, x.sizes(), delays)
	if err != nil {
		return err
	}
	for i := range all {
		all[i] += longer.Microseconds()
	}
	d.Repeats = &report.Repeats{Runs: o.Repeat, P50: measurement.NearestRank(all, 50),
		P95: measurement.NearestRank(all, 95), P99: measurement.NearestRank(all, 99)}
	return nil
}

// repeated are a plan's times over seeds in microseconds, ascending.
func repeated(cmd *cobra.Command, plan *sim.Plan, runs int, sizes []units.Bytes, delays func(run int) []units.Time) ([]float64, error) {
	bar := cli.NewProgress(cmd.ErrOrStderr(), "simulating")
	defer bar.Finish()
	times, err := plan.Repeat(runs, sizes, delays, func(done int) { bar.Set(done, runs) })
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = t.Microseconds()
	}
	slices.Sort(out)
	return out, nil
}
