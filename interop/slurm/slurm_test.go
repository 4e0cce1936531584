package slurm

import (
	"strings"
	"testing"

	"railyard/model/topology"
	"railyard/topologies"
)

func load(t *testing.T, name string, nodes int) *topology.Topology {
	t.Helper()
	x, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestGres: direct NVLinks count, those over NVSwitches do not; nodes of one kind share lines.
func TestGres(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		want  []string
		lines int
	}{
		{"dgx-h100", 2, []string{"NodeName=node[0-1] Name=gpu Type=h100 File=/dev/nvidia0 Links=-1,0,0,0,0,0,0,0\n"}, 9},
		{"dgx1-v100", 1, []string{"NodeName=node0 Name=gpu Type=v100 File=/dev/nvidia3 Links=2,1,2,-1,0,0,0,1\n"}, 9},
		{"gh200-quad", 1, []string{"File=/dev/nvidia0 Links=-1,6,6,6\n"}, 5},
		{"mi300x-node", 1, []string{"File=/dev/dri/renderD128 Links=-1,0,0,0,0,0,0,0\n"}, 9}, // RSMI counts no links
	} {
		var b strings.Builder
		if err := WriteGres(&b, load(t, c.name, c.nodes)); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, b.String())
			}
		}
		if n := strings.Count(b.String(), "\n"); n != c.lines {
			t.Errorf("%s: %d lines\n%s", c.name, n, b.String())
		}
	}
	if err := WriteGres(new(strings.Builder), load(t, "host", 1)); err == nil {
		t.Error("threads are GPUs")
	}
}

func TestYAML(t *testing.T) {
	var b strings.Builder
	if err := WriteYAML(&b, load(t, "superpod-h100", 64)); err != nil {
		t.Fatal(err)
	}
	want := "- topology: superpod-h100\n  cluster_default: true\n  tree:\n    switches:\n    - switch: leaf-0\n      nodes: node[0-31]\n" +
		"    - switch: leaf-1\n      nodes: node[32-63]\n    - switch: top\n      children: leaf-[0-1]\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := WriteYAML(&b, load(t, "gb200-nvl72", 36)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"block_sizes:\n    - 18\n    - 36\n", "block: block1\n      nodes: tray[18-35]\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
