package nccl

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Sockets carry what the ranks' threads copy, not what adapters can: a faster adapter changes nothing where threads are slower, and
// a slow one is filled.
func TestSocketsAreAsFastAsTheirThreads(t *testing.T) {
	took := func(rate, fabric string) units.Time {
		r, err := NewRuntime(load(t, "dgx-a100", topology.Options{Nodes: 2, Set: []string{"classes.hdr200.rate=" + rate}}),
			shipped(t, "a100"),
			cost.GeneralNCCL(), Options{Fabric: fabric})
		if err != nil {
			t.Fatal(err)
		}
		return predict(t, r, Ask{Kind: collective.AllReduce, Algorithm: "Ring", Protocol: "Simple", Size: 4 * units.GiB}).Time
	}
	fast, faster := float64(took("100Gb/s", "sockets")), float64(took("200Gb/s", "sockets"))
	if faster < 0.95*fast || faster > 1.05*fast {
		t.Errorf("by sockets over adapters twice as fast %.3g ps instead of %.3g", faster, fast)
	}
	if slow := float64(took("5Gb/s", "sockets")); slow < 2*fast {
		t.Errorf("by sockets over 8 x 5 Gb/s %.3g ps, over 8 x 100 Gb/s %.3g", slow, fast)
	}
	if direct := float64(took("200Gb/s", "ib")); direct > fast/4 {
		t.Errorf("over InfiniBand %.3g ps, by sockets %.3g", direct, fast)
	}
}

// A GPU that reaches its host over C2C alone fills its adapter, as one on PCIe does.
func TestOneGPUOverC2CFillsItsAdapter(t *testing.T) {
	m, err := New(load(t, "gh200-quad", topology.Options{Nodes: 2, GPUs: 1}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ring := m.Ring(); float64(ring.Channels)*ring.BWInter < 20 {
		t.Errorf("%d channels of %v GB/s over an adapter of 25", ring.Channels, ring.BWInter)
	}
}

// Channels have one rate, and each rank sends by its own adapter: losing one of eight costs rings an eighth of their rate, and so does
// one at half its rate; ranks that share an adapter now take twice as long to send to others.
func TestOneAdapterHoldsUpAll(t *testing.T) {
	took := func(k collective.Kind, algorithm, fault string) float64 {
		machine := load(t, "dgx-a100", topology.Options{Nodes: 4})
		if fault != "" {
			f, err := topology.ParseFault(fault)
			if err != nil {
				t.Fatal(err)
			}
			if machine, err = machine.Degrade([]topology.Fault{f}); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewRuntime(machine, shipped(t, "a100"), cost.GeneralNCCL(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return float64(predict(t, r, Ask{Kind: k, Algorithm: algorithm, Protocol: "Simple", Size: 8 * units.GiB}).Time)
	}
	type asked struct {
		kind      collective.Kind
		algorithm string
	}
	whole := map[asked]float64{}
	for _, c := range []struct {
		asked
		fault       string
		least, most float64
	}{
		{asked{collective.AllReduce, "Ring"}, "nic:node0/nic0", 1.12, 8. / 7},
		{asked{collective.AllReduce, "Ring"}, "nic:node0/nic0=0.5", 1.12, 8. / 7},
		{asked{collective.AllReduce, "Ring"}, "nic:node0/nic0=0.95", 1.04, 8. / 7},
		{asked{collective.AllReduce, "Ring"}, "link:node0/gpu0--node0/plx0=0.25", 1.12, 8. / 7}, // x4 instead of x16
		{asked{collective.AllToAll, ""}, "link:node0/gpu0--node0/plx0=0.25", 3, 4},
		{asked{collective.AllToAll, ""}, "nic:node0/nic0", 1.9, 2},
		{asked{collective.AllToAll, ""}, "nic:node0/nic0=0.5", 1.9, 2},
		{asked{collective.AllToAll, ""}, "nic:node0/nic0=0.1", 1.9, 2},
	} {
		if whole[c.asked] == 0 {
			whole[c.asked] = took(c.kind, c.algorithm, "")
		}
		got := took(c.kind, c.algorithm, c.fault) / whole[c.asked]
		if got < c.least || got > c.most*1.001 {
			t.Errorf("%v with %s takes %.3f times as long instead of %.3f to %.3f", c.kind, c.fault, got, c.least, c.most)
		}
	}
}

// In-switch reduction between nodes pulls from a GPU for each adapter that NCCL's search finds a channel by: with fewer, each of them
// has more to send beside its own, until the adapters themselves hold up all.
func TestLostAdaptersCostHeads(t *testing.T) {
	machine := load(t, "dgx-h100", topology.Options{Nodes: 2})
	before := 0.0
	for lost, fault := range []string{"", "nic:node1/nic3", "nic:node1/nic4", "nic:node1/nic5"} {
		if fault != "" {
			var err error
			if machine, err = machine.Degrade(gen.Faults(fault)); err != nil {
				t.Fatal(err)
			}
		}
		r, err := NewRuntime(machine, shipped(t, "h100"), cost.GeneralNCCL(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		took := float64(predict(t, r, Ask{Kind: collective.AllReduce, Algorithm: "NVLSTree", Protocol: "Simple", Size: units.GiB}).Time)
		if took < before*1.01 || took > before*8/float64(8-lost) && lost > 0 {
			t.Errorf("without %d adapters %.4g ps, with one more %.4g", lost, took, before)
		}
		before = took
	}
}
