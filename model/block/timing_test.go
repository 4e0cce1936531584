package block

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// wayOf is from one rank to another.
type wayOf struct{ from, to int }

// TestTiming: what the simulator is told of stages sends between nodes what the stages send, message by message on each stream, and has a
// receive for every message.
func TestTiming(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: 2, GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	nodes, compared := nodesOf(topo), 0
	for _, algo := range planner.Algorithms() {
		for kind := collective.AllReduce; kind < collective.Barrier; kind++ {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			if kind == collective.AllToAllV {
				spec.Counts = collective.UniformCounts(topo.NumRanks())
				spec.Counts[0] = []int64{1, 2, 3, 4, 5, 6}
			}
			s, err := planner.Build(topo, spec, algo.Name, planner.Options{Slices: 3})
			if err != nil || s.Plain() != nil {
				continue
			}
			for _, streams := range []int{1, 4} {
				for _, size := range []units.Bytes{960, 96 * units.KiB} {
					compareTiming(t, s, nodes, streams, size)
					compared++
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d schedules", compared)
	}
}

func compareTiming(t *testing.T, s *schedule.Schedule, nodes [][]int, streams int, size units.Bytes) {
	t.Helper()
	const blocks = 8
	one, err := CompileStages(s, Options{Count: int64(size) / 4, Size: 4, Instances: 1}, nodes, streams)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Count: int64(size) / 4, Size: 4, Instances: max(blocks/(one.Blocks()*len(one.Streams)), 1)}
	p, err := CompileStages(s, o, nodes, streams)
	if err != nil {
		t.Fatal(err)
	}
	timing, err := Timing(s, nodes, streams, blocks, int64(size))
	if err != nil {
		t.Fatal(err)
	}
	if err := timing.Validate(); err != nil || len(timing.Channels) != len(p.Streams) {
		t.Fatalf("%s of %v: %d channels for %d streams, %v", s.Algorithm, s.Spec.Kind, len(timing.Channels), len(p.Streams), err)
	}
	node := map[int]int{}
	for n, ranks := range nodes {
		for _, r := range ranks {
			node[r] = n
		}
	}
	for n, stages := range p.Streams {
		want := map[wayOf][]int64{}
		for _, st := range stages {
			for _, m := range st.Group {
				w := wayOf{m.From.Rank, m.To.Rank}
				want[w] = append(want[w], m.Bytes)
			}
		}
		unit, left := int64(timing.ChunkBytes(n, size)), map[wayOf]int{}
		for r, ops := range timing.Channels[n].Phases[0].Ops {
			for _, op := range ops {
				w := wayOf{r, int(op.Peer)}
				switch op.Kind {
				case schedule.Send:
					left[w]++
					if node[w.from] == node[w.to] {
						continue
					}
					if list := want[w]; len(list) == 0 || list[0] != int64(op.Src.Set.Len())*unit {
						t.Fatalf("%s of %v: %d chunks of %d bytes from %d to %d, want %v", s.Algorithm, s.Spec.Kind, op.Src.Set.Len(), unit,
							w.from, w.to, list)
					}
					want[w] = want[w][1:]
				case schedule.Recv, schedule.RecvReduce:
					left[wayOf{w.to, w.from}]--
				}
			}
		}
		for w, list := range want {
			if len(list) > 0 {
				t.Errorf("%s of %v: %v from %d to %d are not there", s.Algorithm, s.Spec.Kind, list, w.from, w.to)
			}
		}
		for w, n := range left {
			if n != 0 {
				t.Errorf("%s of %v: %d messages from %d to %d have no receive", s.Algorithm, s.Spec.Kind, n, w.from, w.to)
			}
		}
	}
}
