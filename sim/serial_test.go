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
					t.Errorf("%v %s×%d: %v on ranks that do one thing at a time, %v on others", kind, s.Algorithm, slices, one.Time, many.Time)
				}
				plan, err := Compile(topo, s, &serial)
				if err != nil {
					t.Fatal(err)
				}
				if estimate := plan.LowerEstimate(size); estimate > one.Time {
					t.Errorf("%v %s×%d: estimated at least %v, takes %v", kind, s.Algorithm, slices, estimate, one.Time)
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
