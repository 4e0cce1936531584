// Package measured predicts measured rows, by the library's fitted kernels or by schedules of ours that do
// the same, and says what fits need to know of them.
package measured

import (
	"fmt"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/report"
	"railyard/sim"
	"railyard/sim/nccl"
)

// Machine is a topology with so many nodes and GPUs in all; 0: as many as it has.
type Machine func(nodes, gpus int) (*topology.Topology, error)

// Cases predicts measured cases on one topology with any number of GPUs, keeping what
// it has built.
type Cases struct {
	General *cost.Profile // for what the profile does not know of the library's kernels
	Options nccl.Options  // of the library
	Floors  Floors        // of the runs that are predicted
	Version string        // of the library, where rows do not say it
	Graphs  bool          // times of graphs have their launch in them, as those of nccl-tests, unless rows say otherwise

	machine  Machine
	profile  *cost.Profile
	topos    map[[2]int]*topology.Topology
	plans    map[caseKey]*sim.Plan
	runtimes map[[2]int]*nccl.Runtime
	others   map[other]*nccl.Runtime // with other profiles
}

// other is a runtime with other profiles than the machine's own.
type other struct {
	runtime          *nccl.Runtime
	profile, general *cost.Profile
}

// NewCases predicts by a profile, and by what is believed of all machines where that says nothing.
func NewCases(machine Machine, p *cost.Profile) *Cases {
	return &Cases{General: cost.GeneralNCCL(), Graphs: true, machine: machine, profile: p, topos: map[[2]int]*topology.Topology{},
		plans:    map[caseKey]*sim.Plan{},
		runtimes: map[[2]int]*nccl.Runtime{}}
}

// topology is the topology with a row's number of GPUs and nodes.
func (c *Cases) topology(m measurement.Row) (*topology.Topology, error) {
	key := [2]int{m.Nodes, m.GPUs}
	if t, ok := c.topos[key]; ok {
		return t, nil
	}
	t, err := c.machine(m.Nodes, m.GPUs)
	if err != nil {
		return nil, err
	}
	if m.GPUs > 0 && t.NumRanks() != m.GPUs {
		return nil, fmt.Errorf("%d GPUs were measured, %s has %d: say which of it with --nodes and --gpus", m.GPUs, t.Name(), t.NumRanks())
	}
	c.topos[key] = t
	return t, nil
}

// ByLinks is the machine whose links are like those that a row was measured on: what a machine is predicted by that nobody measured.
func (c *Cases) ByLinks(m measurement.Row) (string, error) {
	t, err := c.topology(m)
	if err != nil {
		return "", err
	}
	return cost.ByLinks(t), nil
}

// Predict is what the library's kernels take, where the profile has them; else the
// fastest schedule of ours that does what it may have chosen.
func (c *Cases) Predict(m measurement.Row) (report.Predicted, error) {
	if len(c.profile.Kernels) > 0 {
		return c.predictLibrary(m)
	}
	algos, err := ncclAlgorithms(m.Collective, m.Algo)
	if err != nil {
		return report.Predicted{}, err
	}
	protos, err := ncclProtocols(c.profile, m.Proto)
	if err != nil {
		return report.Predicted{}, err
	}
	var best report.Predicted
	var last error
	for _, a := range algos {
		for _, p := range protos {
			plan, s, err := c.compiled(m, a, p)
			if err != nil {
				last = err
				continue
			}
			t, err := plan.Time(m.Size)
			if err != nil {
				return report.Predicted{}, err
			}
			if best.Time == 0 || t < best.Time {
				best = report.Predicted{Time: t, Schedule: planner.Name(s), Warnings: c.profile.Warnings(m.Size, m.GPUs)}
			}
		}
	}
	if best.Time == 0 {
		return best, last
	}
	return best, nil
}
