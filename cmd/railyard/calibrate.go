package main

import (
	"context"
	"fmt"
	"time"

	"railyard/exec/host"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/fit"
)

// calibrations are the transfers that a profile of this machine is fitted on. In slices
// they tell a message's cost from a launch's, which on two ranks nothing else does.
var calibrations = []struct {
	kind   collective.Kind
	algo   string
	slices int
}{
	{collective.SendRecv, "direct", 1}, {collective.SendRecv, "direct", 8}, {collective.SendRecv, "direct", 64},
	{collective.Gather, "direct", 1},
	{collective.AllGather, "simple_ring", 1}, {collective.AllGather, "simple_ring", 8}, {collective.AllGather, "simple_ring", 64},
}

// calibrate fits a profile of this machine from transfers that are not what run compares
// unless asked to, on two ranks and on all, and from the rates at which one thread combines and copies.
func calibrate(ctx context.Context, tf topoFlags) (*cost.Profile, error) {
	all, err := tf.load()
	if err != nil {
		return nil, err
	}
	tf.gpus = min(2, all.NumRanks())
	two, err := tf.load()
	if err != nil {
		return nil, err
	}
	topos := []*topology.Topology{two}
	if all.NumRanks() > 2 {
		topos = append(topos, all)
	}
	var rows []fit.Features
	for _, t := range topos {
		for _, c := range calibrations {
			s, err := planner.Build(t, collective.Spec{Kind: c.kind, Ranks: t.NumRanks()}, c.algo, planner.Options{Slices: c.slices, Protocol: schedule.Simple})
			if err != nil {
				return nil, err
			}
			for size := units.KiB; size <= 64*units.MiB; size *= 4 {
				x, err := timeSchedule(ctx, t, s, size)
				if err != nil {
					return nil, err
				}
				rows = append(rows, x)
			}
		}
	}
	r, err := fit.Fit("host (fitted now)", "send_recv, all_gather and gather timed on this machine at the start of the run", time.Now().UTC().Format("2006-01-02"), rows)
	if err != nil {
		return nil, err
	}
	r.Profile.Reduce, r.Profile.Serial = host.CombineBeyondCopy(), true
	return r.Profile, nil
}

func timeSchedule(ctx context.Context, t *topology.Topology, s *schedule.Schedule, size units.Bytes) (fit.Features, error) {
	out, err := host.Run(ctx, s, host.Config{Count: int64(size) / 4, Checks: 1, Warmup: 3, Iterations: 15})
	if err != nil {
		return fit.Features{}, err
	}
	if out.Wrong > 0 {
		return fit.Features{}, fmt.Errorf("calibration: %s of %v is wrong in %d elements: this machine's memory cannot be trusted", s.Algorithm, size, out.Wrong)
	}
	took := max(1, units.Time(measurement.Summarise(out.Times).Median.Nanoseconds())*units.Nanosecond)
	return serialFeatures(t, s, size, took)
}
