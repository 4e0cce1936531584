package topologies_test

import (
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestShortNames: --set node.nics, rails and oversubscription on shipped files, which use
// the node types of others.
func TestShortNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		set   []string
		nics  int // in all
		want  string
	}{
		{"superpod-h100", 4, []string{"node.nics=4"}, 16, ""},
		{"superpod-h100", 4, []string{"node.nics=16"}, 64, ""},
		{"dgx-h100", 2, []string{"node.nics=1"}, 2, ""},
		{"dgx2", 2, []string{"node.nics=4"}, 8, ""},
		{"gb200-nvl72", 18, []string{"node.nics=2"}, 36, ""},
		{"leaf-spine-roce", 64, []string{"oversubscription=3", "node.nics=2"}, 128, ""},
		{"superpod-h100", 4, []string{"classes.ndr400.rate=800Gb/s"}, 32, ""},
		{"superpod-h100", 4, []string{"models.nvswitch3.ports=72"}, 32, ""},
		{"superpod-h100", 4, []string{"node.nics=0"}, 0, "must be from 1 to 64"},
		{"superpod-h100", 4, []string{"node.nics=3"}, 0, "one side must be a multiple of the other"},
		{"host", 1, []string{"node.nics=2"}, 0, "no node type has its adapters in one range"},
		{"host", 1, []string{"oversubscription=2"}, 0, "the file has no fabric"},
		{"superpod-h100", 4, []string{"oversubscription=x"}, 0, "oversubscription must be a positive number"},
		{"superpod-h100", 4, []string{"node.gpus=2"}, 0, `there is no "node" in the file`},
		{"dgx-h100", 1, []string{"classes.nrd400.latency=1us"}, 0, `there is no "nrd400" in the file; did you mean ` +
			"classes.nvlink4.latency, classes.pcie5x16.latency, classes.upi16.latency, classes.ndr400.latency?"},
		{"dgx-h100", 1, []string{"fabric.0.rails=4"}, 0, "did you mean fabrics.0.rails?"},
		{"dgx-h100", 1, []string{"fabrics.1.levels.2.kind=spine"}, 0, `"1" is not an index below 1; did you mean ` +
			"fabrics.0.levels.1.kind, fabrics.0.levels.2.kind, fabrics.0.levels.0.kind, "},
	} {
		top, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, Set: c.set})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %v: %v, want %s", c.name, c.set, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", c.name, c.set, err)
			continue
		}
		nics := 0
		for _, d := range top.Devices() {
			if d.Kind == topology.NIC {
				nics++
			}
		}
		if nics != c.nics {
			t.Errorf("%s %v: %d adapters, want %d", c.name, c.set, nics, c.nics)
		}
	}
}

// TestSetWithoutChange: a node type that was put into the file for --set is the one that
// is used without it.
func TestSetWithoutChange(t *testing.T) {
	for _, name := range []string{"superpod-h100", "leaf-spine-roce", "superpod-a100"} {
		plain, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 3})
		if err != nil {
			t.Fatal(err)
		}
		same, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 3, Set: []string{"node.nics=8"}})
		if err != nil || same.Hash() != plain.Hash() || same.Profile() != plain.Profile() {
			t.Errorf("%s: %v; hash %s, without --set %s", name, err, same.Hash(), plain.Hash())
		}
	}
}
