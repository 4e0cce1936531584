package topology_test

import (
	"math"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

func TestFasterLinks(t *testing.T) {
	base, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	fast, err := base.Faster("ndr400", 2)
	if err != nil {
		t.Fatal(err)
	}
	if fast.Hash() == base.Hash() {
		t.Error("another machine with the same hash")
	}
	for i := range base.Links() {
		l := topology.LinkID(i)
		want := base.Rate(l)
		if base.Class(l).Name == "ndr400" {
			want *= 2
		}
		if fast.Rate(l) != want {
			t.Fatalf("%s has %v, want %v", base.LinkName(l), fast.Rate(l), want)
		}
	}
	for _, c := range []struct {
		class  string
		factor float64
	}{{"wire", 2}, {"ndr400", 0}, {"ndr400", -1}, {"ndr400", math.NaN()}, {"ndr400", math.Inf(1)}} {
		if _, err := base.Faster(c.class, c.factor); err == nil {
			t.Errorf("%s × %v was accepted", c.class, c.factor)
		}
	}
}
