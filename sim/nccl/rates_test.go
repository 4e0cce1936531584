package nccl

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Sockets carry what the ranks' threads copy, not what adapters can: a faster adapter changes nothing where threads are slower, and
// a slow one is filled.
func TestSocketsAreAsFastAsTheirThreads(t *testing.T) {
	took := func(rate, fabric string) units.Time {
		r, err := NewRuntime(load(t, "dgx-a100", topology.Options{Nodes: 2, Set: []string{"classes.hdr200.rate=" + rate}}), shipped(t, "a100"),
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
