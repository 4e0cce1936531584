package slurm

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/foreign/hostlist"
	"railyard/model/topology"
	"railyard/topologies"
)

func TestTree(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		want  []string
	}{
		{"dgx-h100", 2, []string{"SwitchName=top Nodes=node[0-1]\n"}},
		{"superpod-h100", 64, []string{"SwitchName=leaf-0 Nodes=node[0-31]\n", "SwitchName=leaf-1 Nodes=node[32-63]\n",
			"SwitchName=top Switches=leaf-[0-1]\n"}},
		{"superpod-h100", 256, []string{"SwitchName=spine-0 Switches=leaf-[0-3]\n",
			"SwitchName=top Switches=spine-[0-1]\n"}},
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
		count := map[string]int{}
		for line := range strings.Lines(b.String()) {
			_, list, leaf := strings.Cut(strings.TrimSpace(line), "Nodes=")
			names, err := hostlist.Read(list)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if count[name]++; !leaf {
					t.Errorf("%q has nodes", line)
				}
			}
		}
		for n := range c.nodes {
			if got := count[top.NodeName(n)]; got != 1 || len(count) != c.nodes {
				t.Errorf("%s: %s is there %d times, of %d", c.name, top.NodeName(n), got, len(count))
			}
		}
	}
}
