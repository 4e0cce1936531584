package slurm

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/interop/foreign/hostlist"
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

// TestHostlists: what is written stands for the same names, in order.
func TestHostlists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`(a|node|r1-n|x0)(|[0-9]{1,3})`), 1, 30).Draw(t, "names")
		got, err := hostlist.Read(hostlist.Write(names))
		if err != nil || !slices.Equal(got, names) {
			t.Errorf("%q is %q (%v) instead of %q", hostlist.Write(names), got, err, names)
		}
	})
	for list, want := range map[string]string{"n[08-11],login": "n08 n09 n10 n11 login", "c[1,3]-ib": "c1-ib c3-ib", "a": "a"} {
		if got, err := hostlist.Read(list); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", list, got, err)
		}
	}
	for _, list := range []string{"n[1-", "n[b]", "n[3-1]", "n[1]x[2]", "n]", "n[0-99999999]", ",a"} {
		if got, err := hostlist.Read(list); err == nil {
			t.Errorf("%s: %v", list, got)
		}
	}
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
		{"mi300x-node", 1, []string{"Links=-1,0,0,0,0,0,0,0\n"}, 9}, // NVML counts no xGMI
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
