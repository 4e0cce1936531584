// Package steptest makes what tests of training steps need.
package steptest

import (
	"testing"

	"railyard/capacity/step"
	"railyard/model/topology"
	"railyard/model/workload"
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
	p, err := step.OnNCCL(top, nil, nil, load)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
