package sim

import (
	"slices"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// On a machine whose ranks do one thing at a time, the time is at least what a rank has
// to fetch and to combine, one after the other; and where nothing overlaps, it is what
// the parallel machine takes.
func TestSerialRanks(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "host", topology.Options{GPUs: 4})
	if err != nil {
		t.Fatal(err)
	}
	parallel := &cost.Profile{Name: "p", Reduce: 4e9, Copy: 8e9, Curves: []cost.Curve{{Medium: "any", Protocol: "any",
		Segments: []cost.Segment{{Alpha: units.Microsecond, Rate: 5e9}}}}}
	serial := *parallel
	serial.Serial = true
	levels := &cost.Profile{Name: "levels", Serial: true,
		Curves: []cost.Curve{{Medium: "any", Protocol: "any", Segments: []cost.Segment{{Alpha: units.Microsecond}}}},
		Memory: []cost.Level{
			{From: units.MiB, Alone: 50e9, Input: cost.Pass{Copy: 40e9, Combine: 12e9}, Fresh: cost.Pass{Copy: 9e9, Combine: 6e9}},
			{From: 64 * units.MiB, Alone: 12e9, Input: cost.Pass{Copy: 7e9, Combine: 4e9}, Fresh: cost.Pass{Copy: 6e9, Combine: 5e9}}}}
	const size = 4 * units.MiB
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.AllToAll, collective.Broadcast} {
		for _, slices := range []int{1, 4, 16} {
			list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: 4}, "", planner.Options{Slices: slices})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				one, err := Run(topo, s, size, &serial, Options{})
				if err != nil {
					t.Fatalf("%s: %v", s.Algorithm, err)
				}
				many, err := Run(topo, s, size, parallel, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if one.Time < many.Time {
					t.Errorf("%v %s×%d: %v on ranks that do one thing at a time, %v on others", kind, s.Algorithm, slices, one.Time,
						many.Time)
				}
				for _, p := range []*cost.Profile{&serial, levels} {
					plan, err := Compile(topo, s, p)
					if err != nil {
						t.Fatal(err)
					}
					took, err := plan.Time(size)
					if err != nil {
						t.Fatal(err)
					}
					if estimate := plan.LowerEstimate(size); estimate > took {
						t.Errorf("%v %s×%d, %s: estimated at least %v, takes %v", kind, s.Algorithm, slices, p.Name, estimate, took)
					}
				}
				if least := busiest(t, topo, s, size, &serial); one.Time < least {
					t.Errorf("%v %s×%d: %v, but a rank has work for %v", kind, s.Algorithm, slices, one.Time, least)
				}
			}
		}
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, "simple_ring", planner.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Run(topo, s, size, &serial, Options{})
	if err != nil {
		t.Fatal(err)
	}
	many, err := Run(topo, s, size, parallel, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if one.Time != many.Time {
		t.Errorf("ring in one piece: %v, and %v where ranks do all at once", one.Time, many.Time)
	}
}

// What is combined costs as the sender has it: a chain's second rank combines inputs, its last one what
// the second has just written.
func TestFreshDataIsCombined(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "host", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.Reduce, Ranks: 3}, "simple_ring",
		planner.Options{Channels: 1, Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	const size = 4 * units.MiB
	p := &cost.Profile{Serial: true, Memory: []cost.Level{{Alone: 16e9, Input: cost.Pass{Copy: 16e9, Combine: 8e9},
		Fresh: cost.Pass{Copy: 4e9, Combine: 1e9}}}}
	r, err := Run(topo, s, size, p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := size.Over(units.Rate(8e9)) + size.Over(units.Rate(1e9)); max(r.Time-want, want-r.Time) > 100 {
		t.Errorf("%v, want %v", r.Time, want)
	}
}

// Where a profile has levels of memory, inputs and what ranks have just written cost what
// the level of all buffers together says, whatever the size of a message.
func TestLevelsOfMemory(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "host", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	const alpha, size = units.Microsecond, 4 * units.MiB
	level := cost.Level{Alone: 32e9, Input: cost.Pass{Copy: 16e9, Combine: 8e9}, Fresh: cost.Pass{Copy: 4e9, Combine: 2e9}}
	at := func(from units.Bytes, slower units.Rate) cost.Level {
		return cost.Level{From: from, Alone: level.Alone / slower,
			Input: cost.Pass{Copy: level.Input.Copy / slower, Combine: level.Input.Combine / slower},
			Fresh: cost.Pass{Copy: level.Fresh.Copy / slower, Combine: level.Fresh.Combine / slower}}
	}
	for _, c := range []struct {
		kind     collective.Kind
		algo     string
		buffers  units.Bytes // of both ranks
		messages units.Time
		bytes    units.Time
	}{
		{collective.SendRecv, "direct", 4 * size, 1, size.Over(level.Input.Copy)},
		{collective.Gather, "direct", 2 * size, 1, (size / 2).Over(level.Alone) + (size / 2).Over(level.Input.Copy)},
		{collective.AllReduce, "direct", 6 * size, 1, size.Over(level.Input.Copy) + size.Over(level.Input.Combine)},
		{collective.AllReduce, "doubling", 4 * size, 1, size.Over(level.Input.Combine)},
		{collective.AllReduce, "simple_ring", 4 * size, 2, (size / 2).Over(level.Input.Combine) + (size / 2).Over(level.Fresh.Copy)},
	} {
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: 2}, c.algo, planner.Options{Channels: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, slower := range []units.Rate{1, 2} { // all buffers lie in the first level, or from the second on
			p := &cost.Profile{Serial: true, Memory: []cost.Level{at(0, 1), at(c.buffers, slower)},
				Curves: []cost.Curve{{Medium: "any", Protocol: "any", Segments: []cost.Segment{{Alpha: alpha}}}}}
			r, err := Run(topo, s, size, p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := c.messages*alpha + c.bytes*units.Time(slower); max(r.Time-want, want-r.Time) > 100 {
				t.Errorf("%v %s, memory %d times slower: %v, want %v", c.kind, c.algo, slower, r.Time, want)
			}
		}
	}
}

// busiest is what the rank with the most to do needs for its own operations.
func busiest(t *testing.T, topo *topology.Topology, s *schedule.Schedule, size units.Bytes, p *cost.Profile) units.Time {
	plan, err := CompileFlat(topo, s, p)
	if err != nil {
		t.Fatal(err)
	}
	e := plan.newEngine()
	e.reset(plan.each(size), Options{})
	work := make([]int64, topo.NumRanks())
	for i := range plan.lanes {
		l := &plan.lanes[i]
		for _, o := range plan.ops[l.first:l.end] {
			took := e.table.local(o.kind, o.size)
			if o.kind == schedule.Recv || o.kind == schedule.RecvReduce {
				took += e.charge(e.conns[plan.laneConns[l.conns+o.conn]].class, o.size).direct
			}
			work[l.rank] += took * int64(plan.strand(l.channel).slices)
		}
	}
	return units.Time(slices.Max(work))
}
