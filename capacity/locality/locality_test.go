package locality

import (
	"slices"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/topologies"
)

func TestPlacements(t *testing.T) {
	top, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 64})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gpus  int
		tiers []string
		nodes []int // of each placement
	}{
		{4, []string{"node", "rack", "leaf", "spread"}, nil},
		{8, []string{"node", "rack", "leaf"}, []int{1, 1, 1}},
		{24, []string{"rack", "leaf", "spread"}, []int{3, 3, 3}},
		{64, []string{"leaf", "spread"}, []int{8, 8}},
		{512, []string{"spread"}, []int{64}},
	} {
		list, err := Placements(top, c.gpus)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range list {
			if len(p.Ranks) != c.gpus || !slices.IsSorted(p.Ranks) || len(slices.Compact(slices.Clone(p.Ranks))) != c.gpus {
				t.Errorf("%d GPUs, %s: ranks %v", c.gpus, p.Tier, p.Ranks)
			}
			part, err := p.Part(top)
			if err != nil || part.NumRanks() != c.gpus {
				t.Fatalf("%d GPUs, %s: %v", c.gpus, p.Tier, err)
			}
			if c.nodes != nil && (i >= len(c.tiers) || p.Tier != c.tiers[i] || part.NumNodes() != c.nodes[i]) {
				t.Errorf("%d GPUs: placement %d is %s on %d nodes", c.gpus, i, p.Tier, part.NumNodes())
			}
			if groups := groupsOf(&top.Tiers()[1], p.Ranks); p.Tier == "leaf" && groups != 1 || p.Tier == "spread" && groups != 2 {
				t.Errorf("%d GPUs, %s: in %d leaves", c.gpus, p.Tier, groups)
			}
		}
	}
	for _, n := range []int{0, -1, 513} {
		if _, err := Placements(top, n); err == nil {
			t.Errorf("a job of %d GPUs was accepted", n)
		}
	}
}

func TestTiers(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		set   []string
		want  []string
	}{
		{"superpod-h100", 256, nil, []string{"node", "rack", "leaf", "pod"}},
		{"superpod-h100", 256, []string{"rack=64"}, []string{"node", "leaf", "rack", "pod"}},
		{"superpod-h100", 256, []string{"rack=1"}, []string{"node", "leaf", "pod"}},
		{"leaf-spine-roce", 64, nil, []string{"node", "leaf"}},
		{"leaf-spine-roce", 64, []string{"rack=8"}, []string{"node", "leaf", "rack"}},
		{"dgx-h100", 1, nil, []string{"node"}},
	} {
		top, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, Set: c.set})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tier := range Tiers(top) {
			got = append(got, tier.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, want %v", c.name, c.set, got, c.want)
		}
	}
}
