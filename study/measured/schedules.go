package measured

import (
	"fmt"
	"strings"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/sim"
)

// ncclAlgorithms maps the algorithm names of NCCL to ours, for the collectives that it
// makes in that way.
func ncclAlgorithms(kind collective.Kind, algo string) ([]string, error) {
	all := []string{"simple_ring"}
	switch kind {
	case collective.AllReduce:
		all = []string{"double_binary_tree", "simple_ring"}
	case collective.AllToAll, collective.AllToAllV, collective.Gather, collective.Scatter, collective.SendRecv, collective.Barrier:
		all = []string{"direct"}
	}
	switch strings.ToLower(algo) {
	case "", "default", "-":
		return all, nil
	case "ring":
		return []string{"simple_ring"}, nil
	case "tree":
		return []string{"double_binary_tree"}, nil
	}
	for _, a := range planner.Algorithms() {
		if a.Name == strings.ToLower(algo) {
			return []string{a.Name}, nil
		}
	}
	return nil, fmt.Errorf("algorithm %s is not modelled", algo)
}

// ncclProtocols maps the protocol names; default is all that the profile knows.
func ncclProtocols(p *cost.Profile, proto string) ([]schedule.Protocol, error) {
	switch name := strings.ToLower(proto); name {
	case "", "default", "-":
		var out []schedule.Protocol
		for _, n := range p.Protocols() {
			out = append(out, schedule.Protocol(n))
		}
		return out, nil
	case "simple", "ll", "ll128":
		return []schedule.Protocol{schedule.Protocol(name)}, nil
	}
	return nil, fmt.Errorf("protocol %s is not modelled", proto)
}

// caseKey is what a schedule for a measured case depends on.
type caseKey struct {
	nodes, gpus int
	kind        collective.Kind
	algo        string
	proto       schedule.Protocol
	slices      int
}

// compiled is the simulator's plan for a case.
func (c *Cases) compiled(m measurement.Row, algo string, proto schedule.Protocol) (*sim.Plan, *schedule.Schedule, error) {
	t, err := c.topology(m)
	if err != nil {
		return nil, nil, err
	}
	s, err := c.schedule(t, m, algo, proto)
	if err != nil {
		return nil, nil, err
	}
	key := caseKey{m.Nodes, m.GPUs, m.Collective, algo, proto, s.Channels[0].Slices}
	if p, ok := c.plans[key]; ok {
		return p, s, nil
	}
	p, err := sim.Compile(t, s, c.profile)
	if err == nil {
		c.plans[key] = p
	}
	return p, s, err
}

// schedule is what NCCL runs, as far as our algorithms express it: pipelined ones in
// pieces of a slot of the Simple protocol.
func (c *Cases) schedule(t *topology.Topology, m measurement.Row, algo string, proto schedule.Protocol) (*schedule.Schedule, error) {
	spec := collective.Spec{Kind: m.Collective, Ranks: t.NumRanks()}
	if spec.Kind == collective.AllToAllV {
		spec.Counts = collective.UniformCounts(spec.Ranks)
	}
	slices := 1
	if algo == "double_binary_tree" || spec.Kind == collective.Broadcast || spec.Kind == collective.Reduce {
		slices = int(min(max(m.Size/2/c.profile.Protocol("simple").Slot, 1), 64))
	}
	return planner.Build(t, spec, algo, planner.Options{Protocol: proto, Slices: slices})
}
