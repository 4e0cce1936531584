package topoview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/internal/gen"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/topologies"
)

// TestDiff compares a machine with what was ordered.
func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, live, intended string
		fail, slow           []string
		set                  []string
		aspects              []string
		want                 []string
	}{
		{name: "the same", live: "dgx-h100", intended: "dgx-h100"},
		{name: "another name for the same", live: "dgx-h200", intended: "dgx-h100"},
		{name: "a link down", live: "dgx-h100", intended: "dgx-h100", fail: []string{"link:gpu3--nvswitch1#1"},
			want: []string{"GPU 3 has 17 of 18 links"}},
		{name: "a slow one", live: "dgx-h100", intended: "dgx-h100", slow: []string{"link:gpu3--nvswitch1#1=0.5"},
			want: []string{"GPU 3: its 18 links carry 437.5GB/s, intended 450GB/s"}},
		{name: "direct links", live: "dgx1-v100", intended: "dgx1-v100", fail: []string{"link:gpu0--gpu4#1"},
			want: []string{"GPU 0 has 5 of 6 links", "GPU 0 has 1 of 2 links to GPU 4", "GPU 4 has 5 of 6 links"}},
		{name: "half the lanes", live: "dgx-h100", intended: "dgx-h100", slow: []string{"link:gpu2--plx1=0.5"},
			want: []string{"GPU 2: PCIe carries 31.5GB/s, intended 63GB/s"}},
		{name: "an adapter lost", live: "dgx-h100", intended: "dgx-h100", fail: []string{"nic:nic7"},
			want: []string{"7 network adapters, intended 8"}},
		{name: "only NVLink", live: "dgx-h100", intended: "dgx-h100", fail: []string{"nic:nic7"}, aspects: []string{"nvlink"}},
		{name: "another board", live: "hgx-h200-4", intended: "dgx-h100", aspects: []string{"pcie"},
			want: []string{"4 GPUs, intended 8", "GPUs 0-2 0-3 1-2 1-3: SYS over PCIe, intended PHB"}},
		{name: "coherent links", live: "minsky", intended: "hgx-h200-4", aspects: []string{"pcie"}, want: []string{
			"GPU 0: PCIe carries 0B/s, intended 63GB/s", "GPU 1: PCIe carries 0B/s, intended 63GB/s",
			"GPU 2: PCIe carries 0B/s, intended 63GB/s", "GPU 3: PCIe carries 0B/s, intended 63GB/s",
			"GPUs 0-1 2-3: PHB over PCIe, intended PIX"}}, // by the CPUs, not by the NVLinks between them
	} {
		t.Run(c.name, func(t *testing.T) {
			live, err := load(t, c.live).Degrade(gen.Faults(append(c.fail, c.slow...)...))
			if err != nil {
				t.Fatal(err)
			}
			aspects := c.aspects
			if aspects == nil {
				aspects = Aspects
			}
			got := Diff(live, load(t, c.intended), aspects)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func load(t *testing.T, name string) *topology.Topology {
	t.Helper()
	x, err := topology.Load(topologies.Source, name, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
