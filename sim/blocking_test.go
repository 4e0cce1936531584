package sim

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// Where lanes move themselves what they send, a direct all-gather sends to one peer after the other, and then copies: by hand.
// No plan is faster than where something else moves it.
func TestBlockingLanes(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const size, alpha, rate, copied = 64 * units.MiB, 2 * units.Microsecond, 40e9, 50e9
	free := &cost.Profile{Name: "free", Copy: copied, Reduce: 30e9, Launch: units.Microsecond, Curves: []cost.Curve{{Medium: "nvlink",
		Protocol: "any", Segments: []cost.Segment{{Alpha: alpha, Rate: rate}}}}}
	blocking := *free
	blocking.Blocking = true
	for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce, collective.AllToAll, collective.Broadcast} {
		list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: 4}, "", planner.Options{Slices: 4})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			took, err := Run(topo, s, size, &blocking, Options{})
			if err != nil {
				t.Fatalf("%s: %v", s.Algorithm, err)
			}
			other, err := Run(topo, s, size, free, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if took.Time < other.Time {
				t.Errorf("%v %s: %v, %v where lanes do not wait", kind, s.Algorithm, took.Time, other.Time)
			}
		}
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: 4}, "direct", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(topo, s, size, &blocking, Options{})
	if err != nil {
		t.Fatal(err)
	}
	block := float64(size) / 4
	want := units.Microsecond + 3*(alpha+units.FromMicroseconds(block/rate*1e6)) + units.FromMicroseconds(block/copied*1e6)
	if d := r.Time - want; max(d, -d) > units.Microsecond/1000 {
		t.Errorf("%v instead of %v", r.Time, want)
	}
}
