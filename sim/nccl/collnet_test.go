package nccl

import (
	"railyard/model/cost"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// reducing is a cluster whose leaf switches reduce.
func reducing(t *testing.T, nodes int) *topology.Topology {
	return load(t, "dgx-h100", topology.Options{Nodes: nodes, Set: []string{"models.leaf-switch.reduction=true"}})
}

// CollNet's latencies follow src/graph/tuning.cc on 4 nodes of 8 GPUs: a chain of 7 hops
// up and down, or one hop and 0.4 us for each of 7 peers, and 30 or 31 us of network.
func TestCollNetLatency(t *testing.T) {
	m, err := New(reducing(t, 4), Options{CollNet: On})
	if err != nil {
		t.Fatal(err)
	}
	for a, want := range map[Algo]float64{CollNetChain: 2*7*2.8 + 30, CollNetDirect: 2*(3.7+7*0.4) + 31, NVLS: 25 + 18} {
		got, err := m.Latency(collective.AllReduce, a, Simple)
		if err != nil || got != units.FromMicroseconds(want) {
			t.Errorf("%v: %v, %v, want %v us", a, got, err, want)
		}
	}
}

// NCCL takes CollNet only where it is asked for and the network reduces; then NVLS in
// front of the network wins on Hopper.
func TestCollNetIsChosen(t *testing.T) {
	off, err := New(reducing(t, 4), Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := off.Candidates(collective.AllReduce, units.GiB)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Algo == CollNetChain || e.Algo == CollNetDirect || e.Algo == NVLS {
			t.Errorf("%v without CollNet", e.Algo)
		}
	}
	on, err := New(reducing(t, 4), Options{CollNet: On})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := on.Choose(collective.AllReduce, units.GiB); err != nil || e.Algo != NVLS {
		t.Errorf("%v, %v, want NVLS", e.Algo, err)
	}
	for nodes, want := range map[int]string{1: "there is one", 4: "do not"} {
		if _, err := New(load(t, "dgx-h100", topology.Options{Nodes: nodes}), Options{CollNet: On}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d nodes: %v, want %q", nodes, err, want)
		}
	}
}

// With reduction in the network a node sends everything once and receives it once, whatever their number, in less time than
// half of its adapters' rate would take and in more than all of it.
func TestCollNetWork(t *testing.T) {
	const size = units.Bytes(80e6)
	for _, nodes := range []int{2, 16} {
		r, err := NewRuntime(reducing(t, nodes), shipped(t, "h100"), cost.GeneralNCCL(), Options{CollNet: On})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []string{"collnet_direct", "nvls"} {
			w, err := r.rates.work(collective.AllReduce, a, size)
			once := units.Time(float64(size) / 400e9 * 1e12)
			if err != nil || w.NetHops != 1 || w.Least() <= once || w.Least() >= 2*once {
				t.Errorf("%d nodes, %s: %+v, %v", nodes, a, w, err)
			}
		}
	}
}

// Any way through reducing switches answers for "CollNet", as tables of SHARP write it, and has the kernel that was measured
// through them where it has none of its own.
func TestSHARPHasAKernel(t *testing.T) {
	k := cost.Kernel{KernelKey: cost.KernelKey{Collective: "all_reduce", Algorithm: "collnet_direct", Protocol: "simple", Over: "ib"},
		Base: units.Microsecond, NetHop: 300 * units.Microsecond, Pieces: []cost.Piece{{Slowdown: 2}}, MinSize: 8, MaxSize: units.GiB,
		Systems: 1000} // so many that nothing else counts
	p := *shipped(t, "h100")
	p.Kernels = []cost.Kernel{k}
	r, err := NewRuntime(reducing(t, 4), &p, cost.GeneralNCCL(), Options{CollNet: On})
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"CollNet (SHARP)", "CollNetChain", "NVLS"} {
		x := predict(t, r, Ask{Kind: collective.AllReduce, Algorithm: algorithm, Size: units.MiB})
		if !x.Fitted || x.Time < 300*units.Microsecond {
			t.Errorf("%s: %v by %s, want the kernel's 300 µs of network", algorithm, x.Time, x.Algorithm)
		}
	}
}
