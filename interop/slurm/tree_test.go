package slurm

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/topologies"
)

func TestTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		want  []string
	}{
		{"dgx-h100", 2, []string{"SwitchName=top Nodes=node0,node1"}},
		{"superpod-h100", 64, []string{"SwitchName=leaf-0 Nodes=node0,", "SwitchName=leaf-1 Nodes=node32,",
			"SwitchName=top Switches=leaf-0,leaf-1"}},
		{"superpod-h100", 256, []string{"SwitchName=spine-0 Switches=leaf-0,leaf-1,leaf-2,leaf-3\n",
			"SwitchName=top Switches=spine-0,spine-1\n"}},
	} {
		top, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := WriteTree(&b, top); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s, %d nodes: no %q in\n%s", c.name, c.nodes, want, b.String())
			}
		}
		for n := range c.nodes {
			if got := strings.Count(b.String()+",", top.NodeName(n)+",") + strings.Count(b.String(), top.NodeName(n)+"\n"); got != 1 {
				t.Errorf("%s: %s is there %d times", c.name, top.NodeName(n), got)
			}
		}
	}
}
