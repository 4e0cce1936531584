package planner_test

import (
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestRingsTakeWhatTheNetworkGives: each ring's share is what it gets of NICs that are
// slow, busy or shared by several rings. A rail has two: one ring comes in there, another
// one goes out.
func TestRingsTakeWhatTheNetworkGives(t *testing.T) {
	fault := func(text string) func(*topology.Topology) (*topology.Topology, error) {
		return func(t *topology.Topology) (*topology.Topology, error) { return t.Degrade(gen.Faults(text)) }
	}
	load := func(b ...topology.Background) func(*topology.Topology) (*topology.Topology, error) {
		return func(t *topology.Topology) (*topology.Topology, error) { return t.WithBackground(b) }
	}
	for _, c := range []struct {
		name   string
		nodes  int
		change func(*topology.Topology) (*topology.Topology, error)
		want   []int64 // ascending
	}{
		{"dgx-h100", 4, nil, []int64{1, 1, 1, 1, 1, 1, 1, 1}},
		{"superpod-h100", 64, nil, []int64{1, 1, 1, 1, 1, 1, 1, 1}},
		{"dgx-h100", 4, fault("nic:node1/nic3=0.5"), []int64{1, 1, 2, 2, 2, 2, 2, 2}},
		{"dgx-h100", 4, fault("nic:node1/nic3"), []int64{1, 1, 1, 2, 2, 2, 2, 2}}, // those of the rail go by the nearest NIC
		{"dgx-h100", 4, load(topology.Background{Link: "node1/nic3--leaf3", Utilisation: 0.9}), []int64{1, 1, 10, 10, 10, 10, 10, 10}},
		{"dgx-h100", 4, load(topology.Background{Link: "node1/nic3->leaf3", Rate: 30e9}), []int64{2, 5, 5, 5, 5, 5, 5, 5}},
		{"dgx1-v100", 1, load(topology.Background{Link: "gpu0--gpu3", Utilisation: 0.9}), []int64{1, 1, 1, 1, 10, 10}},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err == nil && c.change != nil {
			topo, err = c.change(topo)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "ring", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, ch := range s.Channels {
			got = append(got, ch.Share)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: shares %v, want %v", topo.Name(), got, c.want)
		}
	}
}
