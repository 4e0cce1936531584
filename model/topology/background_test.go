package topology_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/gen"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func loaded(tb testing.TB, topo *topology.Topology, traffic ...topology.Background) *topology.Topology {
	tb.Helper()
	out, err := topo.WithBackground(traffic)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// rates are the bytes per second of all links by name.
func rates(topo *topology.Topology) map[string]units.Rate {
	out := map[string]units.Rate{}
	for l := range topology.LinkID(len(topo.Links())) {
		out[topo.LinkName(l)] += topo.Rate(l)
	}
	return out
}

func TestBackgroundTakesItsShare(t *testing.T) {
	v100, h100 := load(t, "dgx1-v100", 1), load(t, "dgx-h100", 2)
	const there, back = "gpu0->gpu3", "gpu3->gpu0" // two NVLinks of 25 GB/s each way
	for _, c := range []struct {
		name    string
		topo    *topology.Topology
		traffic []topology.Background
		want    map[string]units.Rate
	}{
		{"one way", v100, []topology.Background{{Link: there, Utilisation: 0.9}}, map[string]units.Rate{there: 5e9, back: 50e9}},
		{"both ways", v100, []topology.Background{{Link: "gpu0--gpu3", Utilisation: 0.9}}, map[string]units.Rate{there: 5e9, back: 5e9}},
		{"bytes", v100, []topology.Background{{Link: there, Rate: 12.5e9}}, map[string]units.Rate{there: 37.5e9}},
		{"adding up", v100, []topology.Background{{Link: there, Rate: 12.5e9}, {Link: "gpu0--gpu3", Utilisation: 0.25}},
			map[string]units.Rate{there: 25e9, back: 37.5e9}},
		{"a lane", v100, []topology.Background{{Link: there, Utilisation: 0.5, Lane: 2}}, map[string]units.Rate{there: 37.5e9}},
		{"a class", v100, []topology.Background{{Link: there, Utilisation: 0.5, Class: "nvlink2"}}, map[string]units.Rate{there: 25e9}},
		{"the part of a bundle that is slow", degrade(t, v100, "link:gpu0->gpu3#1=0.5"),
			[]topology.Background{{Link: there, Utilisation: 0.5, Class: "nvlink2@0.5"}}, map[string]units.Rate{there: 31.25e9}},
		{"a bundle in parts", degrade(t, v100, "link:gpu0->gpu3#1=0.5"), []topology.Background{{Link: there, Rate: 7.5e9}},
			map[string]units.Rate{there: 30e9}},
		{"a network", h100, []topology.Background{{Link: "node1/nic3->leaf3", Utilisation: 0.2}, {Link: "leaf0->spine0", Utilisation: 0}},
			map[string]units.Rate{"node1/nic3->leaf3": 40e9, "node0/nic3->leaf3": 50e9}},
	} {
		got := loaded(t, c.topo, c.traffic...)
		before, after := rates(c.topo), rates(got)
		for name, rate := range after {
			want, changed := c.want[name]
			if !changed {
				want = before[name]
			}
			if rate != want {
				t.Errorf("%s: %s has %v, want %v", c.name, name, rate, want)
			}
		}
		if got.Name() != c.topo.Name()+" with background load" || got.Idle() != c.topo || got.Healthy() != c.topo.Healthy() ||
			got.Hash() == c.topo.Hash() || len(got.Faults()) != len(c.topo.Faults()) {
			t.Errorf("%s: %s of %s", c.name, got.Name(), got.Idle().Name())
		}
	}
}

func TestBackgroundThenFaults(t *testing.T) {
	topo := load(t, "dgx-h100", 2)
	busy := loaded(t, topo, topology.Background{Link: "node1/nic3->leaf3", Utilisation: 0.5})
	got := degrade(t, busy, "gpu:node0/gpu3")
	idle := degrade(t, topo, "gpu:node0/gpu3")
	if got.Name() != "dgx-h100 without gpu node0/gpu3 with background load" || got.Idle().Hash() != idle.Hash() || got.Healthy() != topo ||
		got.OriginalRank(3) != 4 {
		t.Errorf("%s, %s", got.Name(), got.Idle().Name())
	}
	other := loaded(t, idle, topology.Background{Link: "node1/nic3->leaf3", Utilisation: 0.5})
	if other.Hash() != got.Hash() || other.Name() != got.Name() || len(other.LostRanks()) != 1 {
		t.Error("the order of faults and load matters")
	}
}

func TestBackgroundErrors(t *testing.T) {
	topo := load(t, "dgx1-v100", 1)
	for _, c := range []struct {
		traffic topology.Background
		want    string
	}{
		{topology.Background{Link: "gpu0->gpu9", Utilisation: 0.5}, `did you mean gpu0`},
		{topology.Background{Link: "gpu0", Utilisation: 0.5}, "write link:A--B"},
		{topology.Background{Link: "gpu0->gpu7", Utilisation: 0.5}, "has no link gpu0->gpu7: gpu0 is linked to gpu1, gpu2"},
		{topology.Background{Link: "gpu0->gpu3", Utilisation: 1}, "below 1, so that something is left"},
		{topology.Background{Link: "gpu0->gpu3", Utilisation: -0.1}, "below 1"},
		{topology.Background{Link: "gpu0->gpu3", Utilisation: math.NaN()}, "below 1"},
		{topology.Background{Link: "gpu0->gpu3", Rate: math.Inf(1)}, "not negative"},
		{topology.Background{Link: "gpu0->gpu3", Rate: 1, Utilisation: 0.5}, "or a utilisation"},
		{topology.Background{Link: "gpu0->gpu3", Rate: 50e9}, "link gpu0->gpu3 of 50GB/s: 100 % of it are taken: nothing is left"},
		{topology.Background{Link: "gpu0->gpu3", Utilisation: 0.5, Class: "nvlink4"}, "is nvlink2 on dgx1-v100, not nvlink4"},
		{topology.Background{Link: "gpu0->gpu3", Utilisation: 0.5, Lane: 3}, "no lane 3, only 2"},
	} {
		_, err := topo.WithBackground([]topology.Background{c.traffic})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.traffic, err, c.want)
		}
	}
	_, err := topo.WithBackground([]topology.Background{{Link: "gpu0->gpu3", Utilisation: 0.6}, {Link: "x->y"},
		{Link: "gpu0--gpu3", Utilisation: 0.5}})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all mistakes at once: %v", err)
	}
}

// TestBackgroundOfNothing: loads of 0 change nothing, on any machine.
func TestBackgroundOfNothing(t *testing.T) {
	for _, name := range topologies.Names() {
		topo := load(t, name, 0)
		var zeros []topology.Background
		for l := range topology.LinkID(len(topo.Links())) {
			zeros = append(zeros, topology.Background{Link: topo.LinkName(l)})
		}
		if got := loaded(t, topo, zeros...); got != topo {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestBackgroundAnywhere: whatever is loaded, no link carries more than before, those that
// are not named as much, and all ranks reach one another as before.
func TestBackgroundAnywhere(t *testing.T) {
	for seed := range int64(40) {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		topo := gen.Topology(seed)
		var traffic []topology.Background
		busy := map[string]float64{}
		for l := range topology.LinkID(len(topo.Links())) {
			if name := topo.LinkName(l); rng.IntN(3) == 0 && busy[name] == 0 {
				busy[name] = rng.Float64()
				traffic = append(traffic, topology.Background{Link: name, Utilisation: busy[name]})
			}
		}
		got := loaded(t, topo, traffic...)
		before, after := rates(topo), rates(got)
		for name, rate := range before {
			// a byte per second of each parallel link
			if want := float64(rate) * (1 - busy[name]); math.Abs(float64(after[name])-want) > 1000 {
				t.Errorf("seed %d: %s has %v of %v left, want %.0f", seed, name, after[name], rate, want)
			}
		}
		old, now := topology.NewRouter(topo), topology.NewRouter(got)
		for range 20 {
			a, b := rng.IntN(topo.NumRanks()), rng.IntN(topo.NumRanks())
			was, err1 := old.Route(a, b)
			is, err2 := now.Route(a, b)
			if (err1 == nil) != (err2 == nil) || err1 == nil && is.Rate > was.Rate && was.Kind == is.Kind && len(is.Hops) == len(was.Hops) {
				t.Errorf("seed %d: %d to %d: %v (%v), was %v (%v)", seed, a, b, is.Rate, err2, was.Rate, err1)
			}
		}
	}
}

func BenchmarkBackground16384GPUs(b *testing.B) {
	topo := large(b)
	var traffic []topology.Background
	for l := range topology.LinkID(len(topo.Links())) {
		traffic = append(traffic, topology.Background{Link: topo.LinkName(l), Utilisation: float64(l%97) / 100})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := topo.WithBackground(traffic); err != nil {
			b.Fatal(err)
		}
	}
}
