package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestPaths: every kind of route is a way of its own; what joins two GPUs directly is not taken for PCIe.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name string
		to   int
		want string // kind and first link of each
	}{
		{"dgx1-v100", 1, "NV# nvlink2, PIX pcie3x16, HOST pcie3x16"},
		{"dgx1-v100", 2, "NV# nvlink2, PHB pcie3x16, HOST pcie3x16"},
		{"dgx1-v100", 4, "NV# nvlink2, SYS pcie3x16, HOST pcie3x16"},
		{"dgx1-v100", 5, "SYS pcie3x16, HOST pcie3x16"},
		{"dgx-h100", 1, "NV# nvlink4, PIX pcie5x16, HOST pcie5x16"},
	} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range topology.NewRouter(topo).Paths(topo.Ranks()[0], topo.Ranks()[c.to]) {
			kind := p.Kind.String()
			if p.Kind <= topology.Switched {
				kind = "NV#"
			}
			got = append(got, fmt.Sprintf("%s %s", kind, topo.Class(p.Hops[0].Link).Name))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s, 0 to %d: %v instead of %s", c.name, c.to, got, c.want)
		}
	}
}
