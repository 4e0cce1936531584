package schedule_test

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// All that ranks touch counts: inputs, outputs, and the scratch that is used.
func TestBufferBytes(t *testing.T) {
	const size = 16 * units.MiB
	for _, c := range []struct {
		kind    collective.Kind
		algo    string
		ranks   int
		slices  int
		buffers units.Bytes // in sizes
	}{
		{collective.AllReduce, "simple_ring", 2, 1, 4},
		{collective.AllReduce, "simple_ring", 2, 8, 4},
		{collective.AllReduce, "double_binary_tree", 2, 1, 4},
		{collective.AllReduce, "double_binary_tree", 4, 1, 9}, // in both halves, two ranks that are not the root have children
		{collective.AllReduce, "double_binary_tree", 4, 8, 9},
		{collective.AllGather, "simple_ring", 4, 1, 5},
		{collective.Broadcast, "direct", 4, 1, 5},
		{collective.SendRecv, "direct", 2, 1, 4},
	} {
		topo, err := topology.Load(topologies.Source, "host", topology.Options{GPUs: c.ranks})
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: c.ranks}, c.algo, planner.Options{Slices: c.slices})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.BufferBytes(size, schedule.NewExpander(s).ScratchChunks()); got != c.buffers*size {
			t.Errorf("%v %s×%d on %d ranks: %v, want %v", c.kind, c.algo, c.slices, c.ranks, got, c.buffers*size)
		}
	}
}
