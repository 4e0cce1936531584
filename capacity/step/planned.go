package step

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study"
)

// Planned is the runtime that runs the best plan of the planner, timed by the simulator.
type Planned struct {
	machine *cost.Machine
	parts   map[loadedPart]*topology.Topology
}

type loadedPart struct {
	part  *topology.Topology
	share Share
}

// maxPlanned bounds the groups whose plans are searched: the candidates of larger ones
// take minutes.
const maxPlanned = 512

// NewPlanned makes the runtime with the machine whose costs apply.
func NewPlanned(m *cost.Machine) *Planned {
	return &Planned{machine: m, parts: map[loadedPart]*topology.Topology{}}
}

// Name implements Runtime.
func (p *Planned) Name() string { return "railyard (profile " + p.machine.Name + ")" }

// Predict implements Runtime: the part's links lose what concurrent groups take.
func (p *Planned) Predict(part *topology.Topology, s Share, kind collective.Kind, size units.Bytes) (Prediction, error) {
	n := part.NumRanks()
	if n > maxPlanned {
		return Prediction{}, fmt.Errorf("plans are searched for groups of up to %d GPUs, not %d: use --runtime nccl", maxPlanned, n)
	}
	t, err := once(p.parts, loadedPart{part, s}, func() (*topology.Topology, error) { return part.WithBackground(background(part, s)) })
	if err != nil {
		return Prediction{}, err
	}
	a, err := study.Ask(study.Asked{Topology: t, Collective: study.Collective{Kind: kind}, Sizes: []units.Bytes{padded(size, n)},
		Machine: p.machine}, nil)
	if err != nil {
		return Prediction{}, err
	}
	r := &a.Rows[0]
	x := &r.Prediction
	return Prediction{Time: x.Time, Schedule: planner.Name(r.Schedule), Limit: x.Bottleneck, Warnings: x.Warnings}, nil
}

// padded is a size of which each rank's part is a multiple of 16 bytes, as frameworks pad what they exchange.
func padded(size units.Bytes, ranks int) units.Bytes {
	whole := units.Bytes(16 * ranks)
	return (size + whole - 1) / whole * whole
}

// background is the traffic that leaves a share.
func background(t *topology.Topology, s Share) []topology.Background {
	var out []topology.Background
	for i := range t.Links() {
		id := topology.LinkID(i)
		share := s.ScaleUp
		if t.Class(id).Medium == topology.Network {
			share = s.Network
		}
		if share < 1 {
			out = append(out, topology.Background{Link: t.LinkName(id), Class: t.Class(id).Name, Utilisation: 1 - share})
		}
	}
	return out
}
