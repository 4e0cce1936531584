// Package steptest makes what tests of training steps need.
package steptest

import (
	"testing"

	"railyard/capacity/step"
	"railyard/model/cost"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/workload"
	"railyard/sim/nccl"
	"railyard/topologies"
)

// Predictor is NCCL on a shipped topology, with values of its file changed.
func Predictor(t testing.TB, name string, nodes int, set ...string) *step.Predictor {
	t.Helper()
	load := func(n, g int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, name, topology.Options{Nodes: n, GPUs: g, Set: set})
	}
	top, err := load(nodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gpu.Of(top)
	if err != nil {
		t.Fatal(err)
	}
	m, err := step.NewMachine(top, g, load)
	if err != nil {
		t.Fatal(err)
	}
	p, err := cost.Get(nccl.ProfileFor(top))
	if err != nil {
		t.Fatal(err)
	}
	general, err := cost.Get(nccl.General)
	if err != nil {
		t.Fatal(err)
	}
	return step.NewPredictor(m, step.NewNCCL(p, general))
}

// Workload is a shipped workload, with values of its file changed.
func Workload(t testing.TB, name string, set ...string) *workload.Workload {
	t.Helper()
	w, err := workload.Get(name, set...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
