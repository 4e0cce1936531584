package pack

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/topology"
)

// Shares of rails come near the bound of machines that have lost parts, in trees of four
// levels at most, and come out the same again.
func TestRailShares(t *testing.T) {
	for _, c := range []struct {
		lost  string
		nodes int
		share [2]float64 // at least, of all-gathers and all-reduces
	}{
		{"nic:node1/nic3", 2, [2]float64{0.97, 0.96}},
		{"nic:node1/nic3", 4, [2]float64{0.98, 0.97}},
		{"nic:node1/nic3", 12, [2]float64{0.98, 0.97}},
		{"nic:node1/nic3=0.5", 4, [2]float64{0.98, 0.97}},
		{"gpu:node1/gpu3", 3, [2]float64{0.97, 0.97}},
		{"link:node1/gpu3--node1/nvswitch2", 4, [2]float64{0.97, 0.93}},
		{"nic:node1/nic3 nic:node0/nic5", 4, [2]float64{0.97, 0.97}},
		{"nic:node1/nic3 nic:node1/nic2", 3, [2]float64{0.97, 0.95}},
		{"nic:node1/nic3 gpu:node0/gpu6", 4, [2]float64{0.97, 0.97}},
	} {
		topo := load(t, "dgx-h100", c.nodes)
		for _, f := range strings.Fields(c.lost) {
			topo = degraded(t, topo, f)
		}
		g := fromTopology(t, topo)
		for i, kind := range []collective.Kind{collective.AllGather, collective.AllReduce} {
			p, err := RailShares(g, kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Verify(g, 0); err != nil {
				t.Errorf("%d nodes without %s, %v: %v", c.nodes, c.lost, kind, err)
			}
			if p.Share < c.share[i] || p.Share > 1 || p.Height > 4 {
				t.Errorf("%d nodes without %s, %v: share %.4f, height %d", c.nodes, c.lost, kind, p.Share, p.Height)
			}
			again, err := RailShares(g, kind)
			if err != nil || fmt.Sprint(again.Trees) != fmt.Sprint(p.Trees) {
				t.Errorf("%d nodes without %s, %v: other trees the second time: %v", c.nodes, c.lost, kind, err)
			}
		}
	}
}

// In flat graphs whose switches have GPUs of their own, these are the islands, whichever way they are joined: trees of four levels
// at most keep to what links carry, and hops inside go over the island's switch.
func TestSharesOfIslands(t *testing.T) {
	for _, c := range []struct {
		family string
		share  [2]float64 // at least, of all-gathers and all-reduces, whose best roots may all be in one island
	}{{"two kinds", [2]float64{0.9, 0.7}}, {"dragonfly", [2]float64{0.85, 0.7}}, {"16 boxes", [2]float64{0.99, 0.99}},
		{"8 boxes", [2]float64{0.99, 0.99}}} {
		for seed := range int64(3) {
			g := fromTopology(t, gen.Unseen(c.family, seed))
			for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
				p, err := RailShares(g, kind)
				if err != nil {
					t.Fatalf("%s %d: %v", c.family, seed, err)
				}
				if err := p.Verify(g, 0); err != nil {
					t.Errorf("%s %d, %v: %v", c.family, seed, kind, err)
				}
				least := c.share[0]
				if kind == collective.AllReduce {
					least = c.share[1]
				}
				if p.Share < least || p.Height > 4 {
					t.Errorf("%s %d, %v: share %.4f, height %d", c.family, seed, kind, p.Share, p.Height)
				}
			}
		}
	}
	if p, err := RailShares(fromTopology(t, gen.Unseen("planes", 1)), collective.AllGather); err == nil {
		t.Errorf("all ranks are on all switches, and yet there are islands: %s", p.Method)
	}
}

// Of any graphs, shares are right or there are none, as where an island has a way to another over the ranks of a third alone.
func TestSharesOfAnyGraph(t *testing.T) {
	for seed := range int64(20) {
		for _, topo := range []*topology.Topology{gen.Uneven(seed), gen.Topology(seed)} {
			g, err := FromTopology(topo)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
				if p, err := RailShares(g, kind); err == nil {
					if err := p.Verify(g, 0); err != nil {
						t.Errorf("%s, %v: %v", topo.Name(), kind, err)
					}
				}
			}
		}
	}
}

// What is alike keeps equal shares: on a whole machine every rank sends all its data over
// its own rail, and spreads what comes in there.
func TestRailSharesOfWholeMachine(t *testing.T) {
	g := fromTopology(t, load(t, "dgx-h100", 4))
	p, err := RailShares(g, collective.AllGather)
	if err != nil {
		t.Fatal(err)
	}
	for r, list := range p.Trees {
		if len(list) != 1 {
			t.Fatalf("rank %d has %d trees", r, len(list))
		}
		for v, u := range list[0].Parent {
			want := r
			if v/8 != r/8 && v%8 != r%8 {
				want = v/8*8 + r%8
			}
			if v != r && int(u) != want {
				t.Errorf("of rank %d, rank %d gets from %d, not %d", r, v, u, want)
			}
		}
	}
}

// Rounded shares add up, and are those that they were made from where these are whole.
func TestRoundedShares(t *testing.T) {
	for _, c := range []struct {
		share []float64
		total int
		want  string
	}{
		{[]float64{0.5, 0.25, 0.25}, 4, "[2 1 1]"},
		{[]float64{0.4, 0.4, 0.2}, 3, "[1 1 1]"},
		{[]float64{0.34, 0.33, 0.33}, 1, "[1 0 0]"},
		{[]float64{1, 0}, 0, "[0 0]"},
		{nil, 3, "[]"},
	} {
		m := mix{share: append([]float64(nil), c.share...)}
		if got := fmt.Sprint(m.round(c.total)); got != c.want {
			t.Errorf("%v of %d: %s, want %s", c.share, c.total, got, c.want)
		}
	}
}
