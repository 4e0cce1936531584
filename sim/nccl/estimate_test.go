package nccl

import (
	"math"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Over a network that nobody measured the library's own estimate is taken, corrected by what all networks have in
// common, and that is said.
func TestUnknownNetworksTakeTheCorrectedEstimate(t *testing.T) {
	topo := load(t, "dgx-h100", topology.Options{Nodes: 2})
	general := &cost.Profile{Name: cost.General, Estimates: []cost.Estimate{{Over: cost.AnyNetwork, Latency: 3, Bytes: 1.1,
		Systems: 7}}}
	r, err := NewRuntime(topo, &cost.Profile{Name: "none"}, general, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for size, most := range map[units.Bytes]float64{8: 3, 16 * units.GiB: 1.2} {
		p := predict(t, r, Ask{Kind: collective.AllReduce, Size: size})
		if off := float64(p.Time) / float64(p.Own); off > most*1.01 || off < most*0.9 || p.Basis != cost.OwnEstimate {
			t.Errorf("%v: %v, NCCL's own estimate is %v (%s)", size, p.Time, p.Own, p.Basis)
		}
		if text := strings.Join(p.Warnings, " "); !strings.Contains(text, "corrected by what it is off by over network on 7 machines") {
			t.Errorf("%v: %s", size, text)
		}
	}
}

// One GPU a node, NCCL gathers on aggregated trees, which take log₂ n rounds, and no more steps of data than a ring.
func TestAggregatedTrees(t *testing.T) {
	for _, k := range []collective.Kind{collective.AllGather, collective.ReduceScatter} {
		r := runtime(t, load(t, "dgx-h100", topology.Options{Nodes: 16, GPUs: 1}), "h100")
		p := predict(t, r, Ask{Kind: k, Size: 8})
		list, err := r.model.Candidates(k, 8)
		if err != nil || list[0].Algo != PAT || p.Algorithm != "pat" || p.Work.NetHops != 4 || p.Own != list[0].Time {
			t.Errorf("%v by %s in %v hops, NCCL's own estimate is %v: %v, %v", k, p.Algorithm, p.Work.NetHops, p.Own, list, err)
		}
		if big := predict(t, r, Ask{Kind: k, Algorithm: "PAT", Size: units.GiB}); big.Work.Steps != 15 {
			t.Errorf("%v: %v steps", k, big.Work.Steps)
		}
	}
}

// What a network's correction adds to a broadcast does not grow with the GPUs of a node, which its chain passes one after the other
// over their own links.
func TestNetworksDoNotSlowHopsInsideNodes(t *testing.T) {
	took := func(gpus int, latency float64) float64 {
		general := &cost.Profile{Name: cost.General, Estimates: []cost.Estimate{{Over: cost.AnyNetwork, Latency: latency, Bytes: 1},
			{Over: "nvlink", Latency: 1, Bytes: 1}}}
		r, err := NewRuntime(load(t, "dgx-h100", topology.Options{Nodes: 4, GPUs: gpus}), &cost.Profile{Name: "none"}, general, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := predict(t, r, Ask{Kind: collective.Broadcast, Algorithm: "Ring", Protocol: "LL", Size: 8})
		return p.Time.Seconds()
	}
	few, many := took(2, 10)-took(2, 1), took(8, 10)-took(8, 1)
	if few <= 0 || many > 1.05*few || many < few/1.05 {
		t.Errorf("a network ten times as slow adds %.3g s on 2 GPUs a node, %.3g s on 8", few, many)
	}
}

// A chain is filled by as many channels as there are: PCIe has one ring twice.
func TestChainsFillTheirChannels(t *testing.T) {
	for name, channels := range map[string]units.Bytes{"dgx-h100": chainChannels, "rtx4090-server": 2, "pcie3-server": 2} {
		r := runtime(t, load(t, name, topology.Options{}), machineOf(t, load(t, name, topology.Options{})))
		k := r.prior(collective.Broadcast, choice{algorithm: "ring", protocol: "simple"})
		if want := channels * 512 * units.KiB; k.Fill != want {
			t.Errorf("%s: the first %v fill a chain, want %v", name, k.Fill, want)
		}
	}
}

// Two GPUs send half as many messages through host memory at once from a root as around a ring, so NCCL's estimate of bytes, which is that
// of a ring, counts half; over NVLink it counts whole.
func TestChainsShareHostMemoryLess(t *testing.T) {
	for name, share := range map[string]float64{"rtx2080ti-server": 0.5, "rtx2080ti-nvlink": 1} {
		r := runtime(t, load(t, name, topology.Options{GPUs: 2}), "pcie3")
		for _, c := range r.choices(Ask{Kind: collective.Broadcast, Size: units.GiB}) {
			w, err := r.work(Ask{Kind: collective.Broadcast, Size: units.GiB}, c)
			if err != nil {
				t.Fatal(err)
			}
			if _, bytes := r.own(collective.Broadcast, c, &w); c.own > 0 && math.Abs(bytes/float64(c.own-c.latency)/share-1) > 0.01 {
				t.Errorf("%s, %s/%s: %v of NCCL's %v", name, c.algorithm, c.protocol, units.Time(bytes), c.own-c.latency)
			}
		}
	}
}
