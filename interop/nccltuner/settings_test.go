package nccltuner

import (
	"fmt"
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestSettings: a variable only where the topology gives a reason, which stands beside it.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		set   string
		want  string
	}{
		{"dgx-h100", 1, "", ""}, {"dgx-h100", 4, "", ""}, {"gb200-nvl72", 36, "", ""}, {"dgx1-v100", 2, "", ""},
		{"rtx4090-server", 1, "", "NCCL_P2P_DISABLE=1"},
		{"pcie4-server", 1, "", ""},
		{"a100-quad", 2, "", "NCCL_NET_GDR_LEVEL=PHB"},
		{"a100-quad", 1, "", ""},
		{"t4-ethernet", 2, "", "NCCL_IB_DISABLE=1"},
		{"dgx-h100", 2, "classes.ndr400.latency=50us", "NCCL_BUFFSIZE=33554432"}, // 50 GB/s through leaf, spine, leaf: 400 us
	} {
		o := topology.Options{Nodes: c.nodes}
		if c.set != "" {
			o.Set = []string{c.set}
		}
		x, err := topology.Load(topologies.Source, c.name, o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range Settings(x) {
			got = append(got, fmt.Sprintf("%s=%s", s.Name, s.Value))
			if len(s.Why) < 20 {
				t.Errorf("%s: %+v has no reason", c.name, s)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, %d nodes %s: %q instead of %q", c.name, c.nodes, c.set, got, c.want)
		}
	}
}
