package network

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// TestCarried: what the simulator plays of a schedule as engines run it ends, and takes no less than its bytes take between nodes.
func TestCarried(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	const rate, size, alpha = 5e9, 3 * units.MiB, 20 * units.Microsecond
	var curves []cost.Curve
	for _, protocol := range []schedule.Protocol{schedule.Proxied, schedule.Staged} {
		curves = append(curves, cost.Curve{Medium: "network", Protocol: string(protocol), Node: rate, Ahead: true,
			Segments: []cost.Segment{{Alpha: alpha, Efficiency: 1}}})
	}
	p := &cost.Profile{Curves: curves}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.ReduceScatter, collective.Broadcast, collective.Gather,
		collective.AllToAll} {
		list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: 4}, "", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Plain() != nil || s.Channels[0].Slices > 4 { // which take long
				continue
			}
			for i := range curves {
				s.Protocol = schedule.Protocol(curves[i].Protocol)
				for _, streams := range []int{1, 4} {
					as, err := Carried(topo, s, size, streams)
					if err != nil {
						t.Fatal(err)
					}
					r, err := sim.Run(topo, as, size, p, sim.Options{})
					if err != nil {
						t.Fatalf("%s: %v", planner.Name(s), err)
					}
					if least := (size / 4).Over(rate); r.Time < least+alpha {
						t.Errorf("%s of %v: %v, want at least %v", planner.Name(s), kind, r.Time, least+alpha)
					}
				}
			}
		}
	}
}
