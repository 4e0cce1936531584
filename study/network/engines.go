package network

import (
	"context"
	"fmt"
	"math"
	"slices"

	"railyard/exec/cuda"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// Engine is a way in which messages of GPUs go from node to node: its protocol has the costs of them.
func Engine(how cuda.Method) schedule.Protocol {
	if how.Proxied {
		return schedule.Proxied
	}
	return schedule.Staged
}

// engineSizes are those of the all-gathers from which an engine's costs are made.
var engineSizes = []units.Bytes{units.KiB, 64 * units.KiB, 512 * units.KiB, 4 * units.MiB, 32 * units.MiB}

// onlyNetwork counts messages between nodes: a µs each.
var onlyNetwork = cost.Profile{Curves: []cost.Curve{{Medium: topology.Network.String(), Protocol: "any",
	Segments: []cost.Segment{{Alpha: units.Microsecond}}}}}

// TimeEngine times a ring's all-gathers on the GPUs of all processes in the way of an engine: rows net_proxy or net_stages, in µs.
// All processes call it.
func TimeEngine(ctx context.Context, node *cuda.Node, t *topology.Topology, proxied bool) (rows []measurement.Link, err error) {
	s, err := gathering(t)
	if err != nil {
		return nil, err
	}
	how := cuda.MethodFor(s)
	how.Blocks, how.Proxied = 0, proxied
	ranks := int64(t.NumRanks())
	for _, size := range engineSizes {
		cfg := cuda.Config{Count: max(int64(size)/4/ranks, 1) * ranks, DType: collective.Float32, Warmup: 4, Iterations: 12, Replays: 10,
			Checks: 1}
		r, err := node.Run(ctx, s, cfg, how)
		if err == nil && r.Wrong > 0 {
			err = fmt.Errorf("%d wrong elements", r.Wrong)
		}
		if err != nil {
			return nil, fmt.Errorf("all_gather of %v by %s: %w", size, Engine(how), err)
		}
		took := float64(measurement.Summarise(r.Times).Median.Nanoseconds()) / 1e3
		rows = append(rows, measurement.Link{Kind: "net_" + string(Engine(how)), Bytes: size, Value: took, Unit: "us"})
	}
	return rows, nil
}

// gathering is what engines are timed with.
func gathering(t *topology.Topology) (*schedule.Schedule, error) {
	return planner.Build(t, collective.Spec{Kind: collective.AllGather, Ranks: t.NumRanks()}, "ring",
		planner.Options{Protocol: schedule.Simple})
}

// engineCurves are what a message between nodes costs by each engine that was timed: α by the smallest all-gather, with its share of the
// launch, and by larger ones the share of the line rate.
func engineCurves(rows []measurement.Link, t *topology.Topology) (curves []cost.Curve, err error) {
	for _, protocol := range []schedule.Protocol{schedule.Proxied, schedule.Staged} {
		of := slices.DeleteFunc(slices.Clone(rows), func(r measurement.Link) bool { return r.Kind != "net_"+string(protocol) })
		if len(of) < 2 {
			continue // not timed
		}
		c := cost.Curve{Medium: topology.Network.String(), Protocol: string(protocol), Smooth: true}
		if c.Segments, err = engineSegments(of, t); err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return curves, nil
}

// engineSegments are those of one engine's rows, of which the smallest comes first.
func engineSegments(rows []measurement.Link, t *topology.Topology) (out []cost.Segment, err error) {
	s, err := gathering(t)
	if err != nil {
		return nil, err
	}
	alpha := 0. // µs
	for i, row := range rows {
		line, err := sim.Run(t, s, row.Bytes, cost.Ideal, sim.Options{})
		if err != nil {
			return nil, err
		}
		messages, err := sim.Run(t, s, row.Bytes, &onlyNetwork, sim.Options{NoTransfer: true})
		if err != nil {
			return nil, err
		}
		n, bytes := max(messages.Time.Microseconds(), 1), line.Time.Microseconds()
		if i == 0 {
			alpha = max(row.Value-bytes, 0) / n
			continue
		}
		out = append(out, cost.Segment{From: row.Bytes / units.Bytes(t.NumRanks()), Efficiency: min(bytes/max(row.Value-alpha*n, 1e-3), 1),
			Alpha: units.Time(math.Round(alpha * float64(units.Microsecond)))})
	}
	out[0].From = 0
	return out, nil
}
