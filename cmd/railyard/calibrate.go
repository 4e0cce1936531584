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
	"railyard/sim"
	"railyard/study/measured"
)

// calibrations are the small transfers from which a message's cost and a launch's are
// told apart: in slices, which on two ranks nothing else does.
var calibrations = []struct {
	kind   collective.Kind
	algo   string
	slices int
}{
	{collective.SendRecv, "direct", 1}, {collective.SendRecv, "direct", 8}, {collective.SendRecv, "direct", 64},
	{collective.Gather, "direct", 1},
	{collective.AllGather, "simple_ring", 1}, {collective.AllGather, "simple_ring", 8}, {collective.AllGather, "simple_ring", 64},
}

// smallSizes are those of calibrations: what a byte costs hardly counts there.
var smallSizes = []units.Bytes{256, units.KiB, 4 * units.KiB}

// rounds is how often they are timed: others that use the machine for a moment disturb one.
const rounds = 3

// In a round each is repeated for about repeatedFor, but neither more seldom nor more often: beside others that use all processors,
// each message may wait for a turn of the scheduler's.
const (
	repeatedFor    = 20 * time.Millisecond
	seldom, often  = 5, 50
	trials, before = 3, 10 // from which the number follows; what is not timed
)

// calibrate makes a profile of this machine: what a byte costs is measured with buffers
// as large as those of a run like cfg of up to the largest size, without any collective; what
// a message and a launch cost is fitted to small transfers that are not what run compares
// unless asked to.
func calibrate(ctx context.Context, t *topology.Topology, cfg host.Config, largest units.Bytes) (*cost.Profile, error) {
	levels, err := host.Levels(ctx, t.NumRanks(), cfg, 2*units.Bytes(t.NumRanks())*largest)
	if err != nil {
		return nil, err
	}
	p := &cost.Profile{Name: "host (fitted now)", Serial: true, Memory: levels, MaxSize: largest,
		Origin: cost.Origin{Kind: cost.Measured, Date: time.Now().UTC().Format(time.DateOnly),
			Source: "memory measured, send_recv, all_gather and gather of small sizes timed on this machine at the start of the run"}}
	var rows []fit.Features
	for range rounds {
		for _, c := range calibrations {
			s, err := planner.Build(t, collective.Spec{Kind: c.kind, Ranks: t.NumRanks()}, c.algo,
				planner.Options{Slices: c.slices, Protocol: schedule.Simple})
			if err != nil {
				return nil, err
			}
			for _, size := range smallSizes {
				x, err := timeSchedule(ctx, t, s, size, p)
				if err != nil {
					return nil, err
				}
				rows = append(rows, x)
			}
		}
	}
	launch, alpha, mean := fit.Overheads(rows)
	p.Launch, p.Error = launch, fmt.Sprintf("MAPE %.1f%% of the small transfers (%d rows, 2 parameters)", 100*mean, len(rows))
	p.Curves = []cost.Curve{{Medium: rows[0].Medium.String(), Protocol: "any", Segments: []cost.Segment{{Alpha: alpha}}}}
	return p, nil
}

// timeSchedule runs a schedule: how long it took, and what it would take under a profile
// that has nothing but the cost of bytes.
func timeSchedule(ctx context.Context, t *topology.Topology, s *schedule.Schedule, size units.Bytes, bytes *cost.Profile) (fit.Features,
	error) {
	trial, err := host.Run(ctx, s, host.Config{Count: int64(size) / 4, Checks: 1, Warmup: 1, Iterations: trials})
	if err != nil {
		return fit.Features{}, err
	}
	n := min(max(int(repeatedFor/max(measurement.Summarise(trial.Times).Median, 1)), seldom), often)
	out, err := host.Run(ctx, s, host.Config{Count: int64(size) / 4, Checks: 1, Warmup: min(n, before), Iterations: n})
	if err != nil {
		return fit.Features{}, err
	}
	if wrong := trial.Wrong + out.Wrong; wrong > 0 {
		return fit.Features{}, fmt.Errorf("calibration: %s of %v is wrong in %d elements: this machine's memory cannot be trusted",
			s.Algorithm, size, wrong)
	}
	line, err := sim.Run(t, s, size, bytes, sim.Options{})
	if err != nil {
		return fit.Features{}, err
	}
	unit := *measured.UnitLatency
	unit.Serial = true
	latency, err := sim.Run(t, s, size, &unit, sim.Options{NoTransfer: true})
	if err != nil {
		return fit.Features{}, err
	}
	took := max(1, units.Time(measurement.Summarise(out.Times).Median.Nanoseconds())*units.Nanosecond)
	return fit.Features{Medium: measured.Medium(t), Messages: latency.Time.Microseconds(), Line: line.Time, Size: size, Time: took}, nil
}
