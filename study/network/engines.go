package network

import (
	"context"
	"fmt"
	"slices"

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

// engineSizes are those of the collectives from which an engine's costs are made.
var engineSizes = []units.Bytes{units.KiB, 8 * units.KiB, 16 * units.KiB, 64 * units.KiB, 512 * units.KiB, 4 * units.MiB, 64 * units.MiB}

// sliceSteps is how many slices follow one another in what is timed of them.
const sliceSteps = 8

// What is timed, as rows net_ENGINE and a suffix.
const (
	oneByOne = "_one"    // messages that wait for one another, around a ring of all
	answered = "_back"   // the same around it twice: between two ranks, too, what comes back waits for what went
	sliced   = "_slices" // slices of them, on all streams that the engine has
	turn     = "_turn"   // one there and, when it has come, one back: a tree of all
	toAll    = "_all"    // one to each other rank at once
	single   = "_single" // one from a rank to one of another node, while all others rest
	beside   = "_beside" // the same in parts side by side
	spread   = "_spread" // one from a rank to each of another node
	away     = "_away"   // one from each rank of the first half of the nodes to one of the other half
	abreast  = "_fan"    // the same in parts side by side
	crowded  = "_crowd"  // to all, each its own, in parts side by side: all that ranks and streams can have under way at once
	passed   = "_passed" // inside a node, on to another one and inside that: what comes is passed on
	reduced  = "_sum"    // one by one, each reduced with what the receiver has
	inside   = "_inside" // to the other ranks of the node alone
	own      = "_own"    // to nobody: a copy
)

var patterns = []string{oneByOne, answered, turn, sliced, toAll, single, beside, spread, away, abreast, crowded, passed, reduced,
	inside, own}

// besideParts are the parts of a message of which each is a channel.
const besideParts = 4

// engineKind is how kinds of an engine's rows begin.
func engineKind(p schedule.Protocol) string { return "net_" + string(p) }

// scheduleOf is that of a pattern; nil where the topology has none.
func scheduleOf(t *topology.Topology, pattern string) (*schedule.Schedule, error) {
	spec, algorithm := collective.Spec{Kind: collective.AllGather, Ranks: t.NumRanks()}, "ring"
	o := planner.Options{Protocol: schedule.Simple, Channels: 1}
	switch pattern {
	case sliced:
		o.Slices = sliceSteps
	case answered:
		spec.Kind = collective.AllReduce
	case turn:
		spec.Kind, algorithm = collective.AllReduce, "double_binary_tree"
	case toAll:
		algorithm = "direct"
	case crowded:
		spec.Kind, algorithm, o.Channels = collective.AllToAll, "direct", besideParts
	case passed:
		spec.Kind, algorithm = collective.AllReduce, "hierarchical_direct"
	case reduced:
		spec.Kind = collective.ReduceScatter
	case single, beside, spread, away, abreast, inside, own:
		spec.Kind, algorithm = collective.AllToAllV, "direct"
		if spec.Counts = counts(t, pattern); spec.Counts == nil {
			return nil, nil
		}
		if pattern == beside || pattern == abreast {
			o.Channels = besideParts
		}
	}
	s, err := planner.Build(t, spec, algorithm, o)
	if planner.NotApplicable(err) {
		return nil, nil
	}
	return s, err
}

// counts are what ranks send one another; nil where that is nothing, or what another pattern has.
func counts(t *topology.Topology, pattern string) [][]int64 {
	n, half := t.NumRanks(), t.NumNodes()/2
	sends := map[string]func(a, b int) bool{
		own:    func(a, b int) bool { return a == b },
		inside: func(a, b int) bool { return a != b && t.NodeOf(a) == t.NodeOf(b) },
		single: func(a, b int) bool { return half > 0 && a == 0 && b == firstOf(t, half) },
		spread: func(a, b int) bool { return half > 0 && a == 0 && t.NodeOf(b) == half },
		away: func(a, b int) bool { // as far in the other node
			other := t.NodeOf(a) + half
			return t.NodeOf(a) < half && t.NodeOf(b) == other && b-a == firstOf(t, other)-firstOf(t, t.NodeOf(a))
		},
	}
	sends[beside], sends[abreast] = sends[single], sends[away]
	some, out := 0, make([][]int64, n)
	for a := range out {
		out[a] = make([]int64, n)
		for b := range out[a] {
			if sends[pattern](a, b) {
				out[a][b] = 1
				some++
			}
		}
	}
	if some == 0 || some == 1 && (pattern == spread || pattern == away || pattern == abreast) {
		return nil
	}
	return out
}

// firstOf is the first rank of a node.
func firstOf(t *topology.Topology, node int) int {
	r := 0
	for t.NodeOf(r) != node {
		r++
	}
	return r
}

// Carried is a schedule as its engine runs it with a buffer of a size, for the simulator: in pieces where it goes by proxy, by its stages
// on so many streams where it does by these.
func Carried(t *topology.Topology, s *schedule.Schedule, size units.Bytes, streams int) (*schedule.Schedule, error) {
	switch s.Protocol {
	case schedule.Proxied:
		x, _ := cuda.InPieces(s, int64(size))
		return x, nil
	case schedule.Staged:
		return block.Timing(s, nodesOf(t), streams, cuda.BlocksOfStages, int64(size))
	}
	return s, nil
}

// nodesOf are the ranks of each node.
func nodesOf(t *topology.Topology) [][]int {
	out := make([][]int, t.NumNodes())
	for r := range t.NumRanks() {
		out[t.NodeOf(r)] = append(out[t.NodeOf(r)], r)
	}
	return slices.DeleteFunc(out, func(ranks []int) bool { return len(ranks) == 0 })
}

// TimeEngine times patterns of messages on the GPUs of all processes in the way of an engine: rows net_proxy… or net_stages…, in µs,
// with how many streams stages had, up to the largest size: the median of three rounds, each so brief that others of the machine's work
// may fill all of it. All processes call it.
func TimeEngine(ctx context.Context, node *cuda.Node, t *topology.Topology, proxied bool, largest units.Bytes) (rows []measurement.Link,
	err error) {
	sizes := slices.DeleteFunc(slices.Clone(engineSizes), func(size units.Bytes) bool { return size > largest })
	for range engineRounds {
		for _, pattern := range patterns {
			more, err := timePattern(ctx, node, t, pattern, proxied, sizes)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
		}
	}
	return medians(rows), nil
}

const engineRounds = 3

// operations are how many of a size are timed in a row, in so many graphs: as many in a graph as runs have by default, which share how it
// begins and ends; of those beside which that is nothing, few.
func operations(size units.Bytes) (iterations, replays int) {
	if size > 4*units.MiB {
		return block.EpochWords, 3
	}
	return 20, 6
}

// medians are rows of which there are several as one each, in the order of the first; of an even number the lesser of the two.
func medians(rows []measurement.Link) (out []measurement.Link) {
	type key struct {
		kind  string
		bytes units.Bytes
	}
	values := map[key][]float64{}
	for _, r := range rows {
		k := key{r.Kind, r.Bytes}
		if values[k] = append(values[k], r.Value); len(values[k]) == 1 {
			out = append(out, r)
		}
	}
	for i := range out {
		all := values[key{out[i].Kind, out[i].Bytes}]
		slices.Sort(all)
		out[i].Value = all[(len(all)-1)/2]
	}
	return out
}

// timePattern is a pattern's rows; none where the topology has no such messages.
func timePattern(ctx context.Context, node *cuda.Node, t *topology.Topology, pattern string, proxied bool, sizes []units.Bytes) (
	rows []measurement.Link, err error) {
	s, err := scheduleOf(t, pattern)
	if err != nil || s == nil {
		return nil, err
	}
	how := cuda.MethodFor(s)
	how.Blocks, how.Proxied = 0, proxied
	row := measurement.Link{Kind: engineKind(Engine(how)) + pattern, Unit: "us"}
	if !proxied {
		row.Blocks = cuda.Streams(s, node.Multiprocessors(), node.Share())
	}
	for _, row.Bytes = range sizes {
		if row.Value, err = tookBy(ctx, node, s, how, row.Bytes); err != nil {
			return nil, fmt.Errorf("%s of %v: %w", row.Kind, row.Bytes, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// tookBy is how many µs a schedule takes.
func tookBy(ctx context.Context, node *cuda.Node, s *schedule.Schedule, how cuda.Method, size units.Bytes) (float64, error) {
	ranks := int64(s.Spec.Ranks)
	cfg := cuda.Config{Count: max(int64(size)/4/ranks, 1) * ranks, DType: collective.Float32, Warmup: 4, Checks: 1}
	cfg.Iterations, cfg.Replays = operations(size)
	r, err := node.Run(ctx, s, cfg, how)
	if err == nil && r.Wrong > 0 {
		err = fmt.Errorf("%d wrong elements", r.Wrong)
	}
	if err != nil {
		return 0, err
	}
	return float64(measurement.Summarise(r.Times).Median.Nanoseconds()) / 1e3, nil
}
