package main

import (
	"railyard/capacity/step"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/topologies"
)

// machine is a shipped topology, changed where Set or a GPU says so.
type machine struct {
	topology string
	options  topology.Options
	gpu      string // "": as the topology says
}

func (m machine) load() (*topology.Topology, error) {
	return topology.Load(topologies.Source, m.topology, m.options)
}

// predictor predicts steps on it with NCCL, on a GPU or, without one, on the machine's.
func (m machine) predictor(g *gpu.GPU) (*step.Predictor, error) {
	t, err := m.load()
	if err != nil {
		return nil, err
	}
	if g == nil && m.gpu != "" {
		if g, err = gpu.Get(m.gpu); err != nil {
			return nil, err
		}
	}
	return step.OnNCCL(t, g, nil, func(nodes, gpus int) (*topology.Topology, error) {
		part := m
		part.options.Nodes, part.options.GPUs = nodes, gpus
		return part.load()
	})
}
