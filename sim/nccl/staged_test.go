package nccl

import (
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestStagedRates: what goes over host memory crosses the way up to it twice, once on its way out and once for what comes back, which two
// GPUs and two adapters of a DGX H100 share: a quarter of 63 GB/s is left to each; sockets, whose kernels have that in them, and adapters at the CPU lose nothing.
func TestStagedRates(t *testing.T) {
	network := func(name, fabric string, set ...string) float64 {
		x, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 2, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		m, err := ratesOf(x, fabric)
		if err != nil {
			t.Fatal(err)
		}
		return m.network
	}
	direct := network("dgx-h100", "ib")
	if got := network("dgx-h100", "ib", "gdr_level=LOC"); got < 0.31*direct || got > 0.32*direct {
		t.Errorf("%.4g of %.4g B/s without GPUDirect", got, direct)
	}
	if got := network("dgx-h100", "tcp", "gdr_level=LOC"); got != direct {
		t.Errorf("%.4g of %.4g B/s over sockets", got, direct)
	}
	if a, b := network("a100-quad", "ib"), network("a100-quad", "ib", "gdr_level=PHB"); a != b {
		t.Errorf("%.4g B/s over the CPU, %.4g by GPUDirect", a, b)
	}
}
