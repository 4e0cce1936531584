package nccl

import (
	"reflect"
	"testing"

	"railyard/model/topology"
)

// TestSearchedIsWhatASearchFinds: whoever has asked before, for other numbers of nodes and
// GPUs too, a system has the channels that a search of its own finds.
func TestSearchedIsWhatASearchFinds(t *testing.T) {
	slower := []string{"classes.ndr400.rate=25GB/s"}
	for _, o := range []topology.Options{{Nodes: 1}, {Nodes: 2}, {Nodes: 4}, {Nodes: 2, GPUs: 4}, {Nodes: 4, Set: slower}} {
		topo := load(t, "superpod-h100", o)
		m, err := New(topo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		nvls := m.useNVLS(topo, Options{})
		s := searched(t, topo, m)
		want := s.search(m.m.ccMin, nvls)
		for range 2 {
			got := buildSystem(topo, m.m, m.m.systems[0], m.nNodes > 1).searched(m.m.ccMin, nvls)
			for i, pair := range [][2]*channels{{got.ring, want.ring}, {got.tree, want.tree}, {got.nvls, want.nvls}} {
				if !reflect.DeepEqual(m.graph(pair[0]), m.graph(pair[1])) {
					t.Errorf("%+v, pattern %d: %+v, a search finds %+v", o, i, m.graph(pair[0]), m.graph(pair[1]))
				}
			}
			m.ring.n, m.ring.intra[0][0] = 1, 99 // the model's own: not what the next one gets
		}
	}
}

// BenchmarkParts is the model of each part of a machine.
func BenchmarkParts(b *testing.B) {
	for b.Loop() {
		searches.Clear()
		for _, nodes := range []int{1, 2, 4, 8, 16, 32} {
			if _, err := New(load(b, "superpod-h100", topology.Options{Nodes: nodes}), Options{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
