package kubernetes

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/interop/foreign"
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

// TestForms: capacity/batch/testdata/kubernetes holds job.yaml against Kubernetes's own types.
func TestForms(t *testing.T) {
	var job, levels bytes.Buffer
	err := Job{Title: "a job\nof a test", Topology: load(t, "dgx-h100", 4), Image: "registry/nccl:1", Command: `exec ./run "a b"`,
		Settings: []foreign.Setting{{Name: "NCCL_ALGO", Value: "allreduce:Ring,Tree", Why: "a\nreason"}}}.Write(&job)
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "job.yaml", job.Bytes())
	job.Reset()
	if err := (Job{Topology: load(t, "mi300x-node", 2), Image: "i", Command: "c"}).Write(&job); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(job.String(), "limits: {amd.com/gpu: 8}\n") { // of AMD's device plugin
		t.Error(job.String())
	}
	if err := WriteTopology(&levels, load(t, "superpod-h100", 64)); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "kueue.yaml", levels.Bytes())
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		want  []string
	}{
		{"dgx-h100", 1, []string{hostLabel}},
		{"dgx-h100", 8, []string{tierLabel + "0", hostLabel}},
		{"superpod-h100", 256, []string{tierLabel + "2", tierLabel + "1", tierLabel + "0", hostLabel}},
		{"gb200-nvl72", 36, []string{tierLabel + "1", tierLabel + "0", domainLabel, hostLabel}},
	} {
		if got := Levels(load(t, c.name, c.nodes)); !slices.Equal(got, c.want) {
			t.Errorf("%s, %d nodes: %q instead of %q", c.name, c.nodes, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{"DGX H100": "dgx-h100", "_": "topology", "a.b--c/": "a-b-c"} {
		if got := Name(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestRefused(t *testing.T) {
	if err := (Job{Topology: load(t, "dgx-h100", 1)}).Write(new(bytes.Buffer)); err == nil {
		t.Error("a job without an image")
	}
}
