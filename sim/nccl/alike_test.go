package nccl

import (
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// ringBy is a machine of which nothing is known but rings of a protocol over a medium, that many machines show.
func ringBy(protocol, over string, times units.Time) *cost.Profile {
	return &cost.Profile{Name: "rings", Kernels: []cost.Kernel{{KernelKey: cost.KernelKey{Collective: "all_reduce", Algorithm: "ring",
		Protocol: protocol, Over: over}, Base: times * 5 * units.Microsecond, Hop: times * 800 * units.Nanosecond,
		NetHop: times * 4 * units.Microsecond, Pieces: []cost.Piece{{Slowdown: 3 * float64(times)}}, MinSize: 8, MaxSize: 16 * units.GiB,
		Rows: 1000, Systems: 1000}}}
}

// What a machine's rings take by a protocol says what its trees and its rings from a root take by it: twice where rings take twice, at
// all sizes; the estimate of the library says the same of both machines.
func TestAlikeKernelsAreToldFromOneAnother(t *testing.T) {
	for _, a := range []Ask{{Kind: collective.AllReduce, Algorithm: "Tree"}, {Kind: collective.Broadcast, Algorithm: "Ring"},
		{Kind: collective.ReduceScatter, Algorithm: "Ring"}} {
		for _, protocol := range []string{"LL", "LL128", "Simple"} {
			for _, size := range []units.Bytes{8, 64 * units.KiB, units.MiB, units.GiB} {
				a.Protocol, a.Size = protocol, size
				var took [3]units.Time
				for times := units.Time(1); times <= 2; times++ {
					p := predict(t, runtimeWith(t, "hgx-h800", 1, ringBy(Plain(protocol), "nvlink", times)), a)
					took[times] = p.Time
					if p.Basis != cost.OtherKernel || !strings.Contains(strings.Join(p.Warnings, " "), "told from that of all_reduce by ring") {
						t.Errorf("%v by %s/%s, %v: from %s: %v", a.Kind, a.Algorithm, protocol, size, p.Basis, p.Warnings)
					}
				}
				if twice := float64(took[2]) / float64(took[1]); twice < 1.97 || twice > 2.03 {
					t.Errorf("%v by %s/%s, %v: %v, and %v where rings take twice as long", a.Kind, a.Algorithm, protocol, size, took[1], took[2])
				}
			}
		}
	}
}

// Across a network nothing is told so: what a hop of a ring takes there does not say what one of a tree takes.
func TestNetworksAreNotToldFromOneAnother(t *testing.T) {
	p := predict(t, runtimeWith(t, "dgx-h100", 2, ringBy("ll", "ib", 1)), Ask{Kind: collective.AllReduce, Algorithm: "Tree", Protocol: "LL",
		Size: units.KiB})
	if p.Basis != cost.OwnEstimate {
		t.Errorf("a tree over InfiniBand comes from %s: %v", p.Basis, p.Warnings)
	}
}

// runtimeWith is a shipped topology whose only kernels are a profile's.
func runtimeWith(t *testing.T, name string, nodes int, p *cost.Profile) *Runtime {
	t.Helper()
	r, err := NewRuntime(load(t, name, topology.Options{Nodes: nodes}), p, &cost.Profile{Name: cost.General}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
