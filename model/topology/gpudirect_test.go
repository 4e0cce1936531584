package topology_test

import (
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestGPUDirect: below one host bridge and over chip-to-chip links, not over a CPU, unless the level says so.
func TestGPUDirect(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   topology.RouteKind
		c2c    bool
		direct bool
	}{
		{"dgx-h100", topology.PIX, false, true},
		{"gb200-nvl72", topology.PHB, true, true},
		{"a100-quad", topology.PHB, false, false},
		{"summit-node", topology.PHB, false, false}, // NVLink to the CPU is no C2C
		{"rtx4090-server", topology.HostStaged, false, false},
	} {
		x, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		p := topology.NewRouter(x).NICs(0)[0]
		if p.Kind != c.kind || p.C2C != c.c2c || p.GPUDirect(topology.GDRLevel) != c.direct {
			t.Errorf("%s: %+v", c.name, p)
		}
		if (x.StagedNICs() == "") != c.direct {
			t.Errorf("%s: %q", c.name, x.StagedNICs())
		}
		if one, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 1}); err != nil || one.StagedNICs() != "" {
			t.Errorf("%s, one node: %q, %v", c.name, one.StagedNICs(), err)
		}
	}
	phb := topology.NICPath{Kind: topology.PHB}
	level, ok := topology.ParseGDRLevel("PHB")
	if !ok || !phb.GPUDirect(level) || (topology.NICPath{Kind: topology.SYS}).GPUDirect(level) {
		t.Error("NCCL_NET_GDR_LEVEL=PHB")
	}
	if _, ok := topology.ParseGDRLevel("NVL"); ok || !strings.Contains(strings.Join(topology.GDRLevels, " "), "SYS") {
		t.Error("levels")
	}
}
