package network

import (
	"context"
	"fmt"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// Engine is a way in which messages of GPUs go from node to node: its protocol has the costs of them.
func Engine(how cuda.Method) schedule.Protocol {
	if how.Proxied {
		return schedule.Proxied
	}
	return schedule.Staged
}

// engineSizes are those of the collectives from which an engine's costs are made, each eight times the one before from the second on.
var engineSizes = []units.Bytes{units.KiB, 64 * units.KiB, 512 * units.KiB, 4 * units.MiB, 32 * units.MiB}

// sliceSteps is how many slices follow one another in what is timed of them: as many as make the messages of a size those of the size
// before.
const sliceSteps = 8

// What is timed, as rows net_ENGINE and a suffix.
const (
	oneByOne = "_one"    // messages that wait for one another
	sliced   = "_slices" // slices of them, on all streams that the engine has
	toAll    = "_all"    // one to each other rank at once
	reduced  = "_sum"    // one by one, each reduced with what the receiver has
	inside   = "_inside" // to the other ranks of the node alone
	own      = "_own"    // to nobody: a copy
)

var patterns = []string{oneByOne, sliced, toAll, reduced, inside, own}

// engineKind is how kinds of an engine's rows begin.
func engineKind(p schedule.Protocol) string { return "net_" + string(p) }

// scheduleOf is that of a pattern; nil where the topology has none.
func scheduleOf(t *topology.Topology, pattern string) (*schedule.Schedule, error) {
	spec, algorithm := collective.Spec{Kind: collective.AllGather, Ranks: t.NumRanks()}, "ring"
	o := planner.Options{Protocol: schedule.Simple, Channels: 1}
	switch pattern {
	case sliced:
		o.Slices = sliceSteps
	case toAll:
		algorithm = "direct"
	case reduced:
		spec.Kind = collective.ReduceScatter
	case inside, own:
		spec.Kind, algorithm = collective.AllToAllV, "direct"
		if spec.Counts = near(t, pattern == own); spec.Counts == nil {
			return nil, nil
		}
	}
	s, err := planner.Build(t, spec, algorithm, o)
	if planner.NotApplicable(err) {
		return nil, nil
	}
	return s, err
}

// near is what ranks send to themselves alone, or to the others of their node; nil where there are none.
func near(t *topology.Topology, alone bool) (counts [][]int64) {
	some := false
	for a := range t.NumRanks() {
		counts = append(counts, make([]int64, t.NumRanks()))
		for b := range counts[a] {
			if (a == b) == alone && t.NodeOf(a) == t.NodeOf(b) {
				counts[a][b], some = 1, true
			}
		}
	}
	if !some {
		return nil
	}
	return counts
}

// Carried is a schedule as stages run it on the GPUs of a node: with its slices dealt out to their streams; others as they are.
func Carried(node *cuda.Node, s *schedule.Schedule) *schedule.Schedule {
	if s.Protocol != schedule.Staged {
		return s
	}
	return block.Dealt(s, cuda.Streams(s, node.Multiprocessors(), node.Share()))
}

// TimeEngine times patterns of messages on the GPUs of all processes in the way of an engine: rows net_proxy… or net_stages…, in µs,
// with how many streams stages had. All processes call it.
func TimeEngine(ctx context.Context, node *cuda.Node, t *topology.Topology, proxied bool) (rows []measurement.Link, err error) {
	for _, pattern := range patterns {
		s, err := scheduleOf(t, pattern)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		how := cuda.MethodFor(s)
		how.Blocks, how.Proxied = 0, proxied
		row := measurement.Link{Kind: engineKind(Engine(how)) + pattern, Unit: "us"}
		if !proxied {
			row.Blocks = cuda.Streams(s, node.Multiprocessors(), node.Share())
		}
		for _, row.Bytes = range engineSizes {
			if row.Value, err = tookBy(ctx, node, s, how, row.Bytes); err != nil {
				return nil, fmt.Errorf("%s of %v: %w", row.Kind, row.Bytes, err)
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// tookBy is how many µs a schedule takes.
func tookBy(ctx context.Context, node *cuda.Node, s *schedule.Schedule, how cuda.Method, size units.Bytes) (float64, error) {
	ranks := int64(s.Spec.Ranks)
	cfg := cuda.Config{Count: max(int64(size)/4/ranks, 1) * ranks, DType: collective.Float32, Warmup: 4, Iterations: 12, Replays: 10,
		Checks: 1}
	r, err := node.Run(ctx, s, cfg, how)
	if err == nil && r.Wrong > 0 {
		err = fmt.Errorf("%d wrong elements", r.Wrong)
	}
	if err != nil {
		return 0, err
	}
	return float64(measurement.Summarise(r.Times).Median.Nanoseconds()) / 1e3, nil
}
