package size

import (
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/capacity/inventory"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/topologies"
)

// A design like the SuperPOD has the switches, cables and bandwidth of the SuperPOD.
func TestDesignLikeTheSuperPOD(t *testing.T) {
	one := load(t, topology.Options{Nodes: 1}, "dgx-h100")
	for _, n := range []int{4, 32, 64} {
		d := Design{Node: "dgx-h100", Nodes: n, Rails: 8, Oversubscription: 1, Spine: true}
		got, err := d.Build(topologies.Source, one, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		a, b := inventory.Of(got), inventory.Of(load(t, topology.Options{Nodes: n}, "superpod-h100"))
		if count(a) != count(b) || a.Bisection != b.Bisection || a.Nodes[0].Template != "dgx-h100" {
			t.Errorf("%d nodes: %v switches, %v, of %v; the SuperPOD has %v, %v", n, count(a), a.Bisection, a.Nodes[0], count(b),
				b.Bisection)
		}
	}
}

func count(inv inventory.Inventory) (out [2]int) {
	for _, s := range inv.Switches {
		out[0] += s.Count
	}
	for _, c := range inv.Cables {
		out[1] += c.Count
	}
	return out
}

func load(t *testing.T, o topology.Options, name string) *topology.Topology {
	t.Helper()
	x, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestWithoutSpinesThereAreOnlyLeaves(t *testing.T) {
	one := load(t, topology.Options{Nodes: 1}, "dgx-h100")
	d := Design{Node: "dgx-h100", Nodes: 16, Rails: 8, Oversubscription: 1}
	got, err := d.Build(topologies.Source, one, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if inv := inventory.Of(got); count(inv) != [2]int{8, 128} {
		t.Errorf("%v switches and cables", count(inv))
	}
	d.Nodes = 65 // more than the leaves have ports
	if _, err := d.Build(topologies.Source, one, 0, 0); err == nil {
		t.Error("65 nodes on leaves of 64 ports were accepted")
	}
}

func TestDesignsThatMakeNoSense(t *testing.T) {
	for _, set := range [][]string{{"nodes=0"}, {"nodes=-3"}, {"nodes=NaN"}, {"oversubscription=0.5"}, {"oversubscription=NaN"},
		{"spine=maybe"}, {"rails=0", "spine=no"}, {"rails=8", "oversubscription=2", "spine=no"}, {"nic_gbps=-1"}} {
		if _, err := ParseDesign(set); err == nil {
			t.Errorf("%v was accepted", set)
		}
	}
}

// The front by its definition: beside each that is not on it, one that beats it.
func TestFront(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		list := make([]Score, 1+r.IntN(12))
		for i := range list {
			list[i] = Score{float64(r.IntN(4)), float64(r.IntN(4)), float64(r.IntN(4)), r.IntN(5) > 0}
		}
		on := ParetoFront(list)
		for i, a := range list {
			beaten := slices.ContainsFunc(list, func(b Score) bool {
				return b.Known && b != a && b.TimePerUnit <= a.TimePerUnit && b.Cost <= a.Cost && b.Watts <= a.Watts
			})
			first := slices.Index(list, a) == i
			if want := a.Known && !beaten && first; on[i] != want {
				t.Fatalf("%+v of %+v: on the front %v, want %v", a, list, on[i], want)
			}
		}
	}
}
