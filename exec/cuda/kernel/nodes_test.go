package kernel

import (
	"fmt"
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestPretendNodes: schedules for two nodes of two GPUs each run as well where all four are
// in one machine, as `run --backend cuda -t dgx-a100 --nodes 2 --gpus 2` does.
func TestPretendNodes(t *testing.T) {
	all := series{bin: racing(t)}
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		kind collective.Kind
		algo string
	}{
		{collective.AllReduce, "hierarchical_direct"}, {collective.AllReduce, "hierarchical_ring"},
		{collective.AllReduce, "hierarchical_tree"}, {collective.AllReduce, "hierarchical_two_shot"},
		{collective.AllToAll, "hierarchical_all_to_all"},
		{collective.AllGather, "hierarchical_ring"}, {collective.ReduceScatter, "hierarchical_two_shot"},
	} {
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: 4}, c.algo, planner.Options{Slices: 1 + i%2})
		if err != nil {
			t.Fatalf("%s of %v: %v", c.algo, c.kind, err)
		}
		for _, m := range []block.Mechanism{block.Pull, block.Push, block.Packets, block.Words, block.WordsPush} {
			if m.InWords() && !c.kind.Reduces() { // refused
				continue
			}
			if !taken(i + int(m)) {
				continue
			}
			o := block.Options{Count: 4 * (31 + int64(i)), Size: 4, Instances: 1, Mechanism: m}
			p, err := block.Compile(s, o)
			if err != nil {
				t.Fatalf("%v %s %v: %v", c.kind, c.algo, m, err)
			}
			all.add(fmt.Sprintf("%v %s %v", c.kind, c.algo, m), run{s: s, o: o, p: p, epochs: 2, firstEpoch: 1, jitter: uint32(i%2) * 20000})
		}
	}
	all.verify(t)
}
