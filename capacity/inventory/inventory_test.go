package inventory_test

import (
	"testing"

	"railyard/capacity/inventory"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/topologies"
)

func load(t *testing.T, name string, nodes int) *topology.Topology {
	t.Helper()
	top, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// The counts of the DGX SuperPOD H100 reference architecture (RA-11333, table of larger
// SuperPODs): 32 nodes 8 leaves + 4 spines, 256 + 256 cables; 64 nodes 16 + 8.
func TestSuperPODAsInTheReferenceArchitecture(t *testing.T) {
	for _, c := range []struct{ nodes, leaves, spines, nodeCables, trunks int }{
		{32, 8, 4, 256, 256},
		{64, 16, 8, 512, 512},
		{128, 32, 16, 1024, 1024},
	} {
		inv := inventory.Of(load(t, "superpod-h100", c.nodes))
		got := map[topology.Kind]int{}
		for _, s := range inv.Switches {
			got[s.Kind] += s.Count
		}
		cables := map[bool]int{}
		for _, k := range inv.Cables {
			cables[k.Trunk] += k.Count
		}
		if got[topology.Leaf] != c.leaves || got[topology.Spine] != c.spines || cables[false] != c.nodeCables || cables[true] != c.trunks {
			t.Errorf("%d nodes: %d leaves, %d spines, %d + %d cables; the reference has %d, %d, %d + %d", c.nodes,
				got[topology.Leaf], got[topology.Spine], cables[false], cables[true], c.leaves, c.spines, c.nodeCables, c.trunks)
		}
		if want := float64(c.nodes/2) * 8 * 50e9; float64(inv.Bisection) != want {
			t.Errorf("%d nodes: bisection %v, a full fat-tree has %g", c.nodes, inv.Bisection, want)
		}
		if len(inv.Nodes) != 1 || inv.Nodes[0].Template != "dgx-h100" || inv.Nodes[0].Count != c.nodes || inv.GPUs != 8*c.nodes {
			t.Errorf("%d nodes: %+v, %d GPUs", c.nodes, inv.Nodes, inv.GPUs)
		}
	}
}

func TestBisectionOfAnOversubscribedFabric(t *testing.T) {
	full := load(t, "leaf-spine-roce", 64)
	thin, err := topology.Load(topologies.Source, "leaf-spine-roce",
		topology.Options{Nodes: 64, Set: []string{"fabrics.0.levels.0.oversubscription=4"}})
	if err != nil {
		t.Fatal(err)
	}
	a, b := inventory.Of(full).Bisection, inventory.Of(thin).Bisection
	if a < 3*b {
		t.Errorf("4:1 leaves have %v between the halves, full ones %v", b, a)
	}
}

// TestUplinksFollowFromNodes: leaves that few nodes fill have no more uplinks than these ask for, and no more spines.
func TestUplinksFollowFromNodes(t *testing.T) {
	for _, c := range []struct {
		nodes            int
		oversubscription string
		spines, trunks   int
	}{{2, "1", 1, 16}, {4, "1", 1, 32}, {4, "4", 1, 8}, {8, "4", 1, 16}, {8, "3", 1, 24}, {16, "1", 2, 128}} {
		top, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: c.nodes,
			Set: []string{"oversubscription=" + c.oversubscription}})
		if err != nil {
			t.Fatal(err)
		}
		inv := inventory.Of(top)
		spines, trunks := 0, 0
		for _, s := range inv.Switches {
			if s.Kind == topology.Spine {
				spines += s.Count
			}
		}
		for _, k := range inv.Cables {
			if k.Trunk {
				trunks += k.Count
			}
		}
		if spines != c.spines || trunks != c.trunks {
			t.Errorf("%d nodes at %s:1: %d spines, %d cables to them, want %d and %d", c.nodes, c.oversubscription, spines, trunks, c.spines,
				c.trunks)
		}
	}
}

func TestLoneNodeHasNoNetwork(t *testing.T) {
	inv := inventory.Of(load(t, "dgx-h100", 1))
	if len(inv.Switches) != 0 || len(inv.Cables) != 0 {
		t.Errorf("one node needs %+v", inv)
	}
}

// TestBisectionOfANode: what four GPUs can send to the other four over NVLink, and over PCIe besides.
func TestBisectionOfANode(t *testing.T) {
	for name, want := range map[string]struct{ nvlink, most float64 }{
		"dgx1-v100":    {6 * 25e9, 9.6e9 * 2}, // four pairs of the cube joined once or twice: NVIDIA DGX-1 whitepaper, figure 4
		"dgx2":         {8 * 6 * 25e9, 63e9},
		"dgx-h100":     {4 * 18 * 25e9, 4 * 63e9},
		"pcie4-server": {0, 63e9},
	} {
		got := float64(inventory.Of(load(t, name, 1)).Bisection)
		if got < want.nvlink || got > want.nvlink+want.most {
			t.Errorf("%s: %g, want %g over NVLink and at most %g besides", name, got, want.nvlink, want.most)
		}
	}
}
