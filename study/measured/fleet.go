package measured

import (
	"fmt"
	"os"
	"path/filepath"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/report"
)

// Fleet predicts rows of many series, each on the system that it was measured on.
type Fleet struct {
	Sets    []*measurement.Set
	Systems *Systems
	Fitted  map[string]*cost.Profile // in place of the shipped ones
	cases   map[string]*Cases        // by system
	floors  map[bool]Floors          // of runs in which one process launches for all GPUs, and of the others
}

// NewFleet predicts some rows.
func NewFleet(systems *Systems, sets ...*measurement.Set) *Fleet {
	f := &Fleet{Sets: sets, Systems: systems, Fitted: map[string]*cost.Profile{}, cases: map[string]*Cases{}, floors: map[bool]Floors{}}
	var rows []measurement.Row
	for _, s := range sets {
		rows = append(rows, s.Rows...)
	}
	for _, single := range []bool{false, true} {
		f.floors[single] = LaunchFloors(rows, func(m measurement.Row) bool { return single && m.Launch != "graph" || Streamed(m) })
	}
	return f
}

// ShippedFleet predicts the shipped measurements.
func ShippedFleet() (*Fleet, error) {
	systems, err := ShippedSystems()
	if err != nil {
		return nil, err
	}
	sets, err := Shipped()
	return NewFleet(systems, sets...), err
}

// ReadFleet predicts the rows of some files, measured on a table's systems.
func ReadFleet(systems string, files ...string) (*Fleet, error) {
	table, err := readSystems(nil, systems, filepath.Dir(systems))
	if err != nil {
		return nil, err
	}
	var sets []*measurement.Set
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		set, err := readSet(f, file)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return NewFleet(table, sets...), nil
}

// Reset what was worked out, as after a change of Fitted.
func (f *Fleet) Reset() { clear(f.cases) }

// Of is the system of a row, with its cases; an error says why there are none.
func (f *Fleet) Of(m measurement.Row) (*System, *Cases, error) {
	s, err := f.Systems.Of(m.ID)
	if err != nil {
		return nil, nil, err
	}
	if s.Excluded != "" {
		return s, nil, fmt.Errorf("%s", s.Excluded)
	}
	if c, ok := f.cases[s.Series]; ok {
		return s, c, nil
	}
	machine := func(nodes, gpus int) (*topology.Topology, error) { return f.Systems.topology(s, nodes, gpus) }
	p, err := f.profile(s, func() (*topology.Topology, error) { return machine(m.Nodes, m.GPUs) })
	if err != nil {
		return s, nil, err
	}
	c := NewCases(machine, p)
	c.Options, c.Floors, c.Version, c.Graphs = s.Options, f.floors[s.Single], s.Version, !s.Replayed
	if g := f.Fitted[cost.General]; g != nil {
		c.General = g
	}
	f.cases[s.Series] = c
	return s, c, nil
}

// profile is the one that a system names, else that of its GPUs.
func (f *Fleet) profile(s *System, load func() (*topology.Topology, error)) (*cost.Profile, error) {
	if p := f.Fitted[s.Profile]; p != nil {
		return p, nil
	}
	if s.Profile != "" {
		m, err := cost.GetMachine(s.Profile)
		if err != nil {
			return nil, err
		}
		return m.NCCL(), nil
	}
	t, err := load()
	if err != nil {
		return nil, err
	}
	m, err := cost.MachineFor(t)
	if err != nil {
		return nil, err
	}
	return m.NCCL(), nil
}

// Predict is what Cases.Predict is of a row's system.
func (f *Fleet) Predict(m measurement.Row) (report.Predicted, error) {
	_, c, err := f.Of(m)
	if err != nil {
		return report.Predicted{}, err
	}
	return c.Predict(m)
}

// Compare predicts all rows.
func (f *Fleet) Compare() *report.Comparison {
	all := &report.Comparison{}
	for _, set := range f.Sets {
		all.Append(report.Compare(set, f.Predict))
	}
	return all
}
