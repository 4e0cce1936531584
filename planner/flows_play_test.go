package planner

import (
	"math"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// What flows are played in is what the simulator says, and the plan is right: on links alone, behind switches and with both, in whole
// messages and in parts of them, however far ranks look ahead.
func TestFlowsArePlayedAsSimulated(t *testing.T) {
	t.Parallel()
	for family, seed := range map[string]int64{"rated links": 7001, "planes": 7000, "mixed": 7001, "two kinds": 7001, "one-way": 7001,
		"boxes": 7000, "servers": 15249} {
		topo := gen.Unseen(family, seed)
		for _, slices := range []int{1, 4} {
			r := newRequest(topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, Options{Slices: slices})
			g, err := r.flowGraph()
			if err != nil {
				t.Fatalf("%s: %v", topo.Name(), err)
			}
			f := r.fewOver(g)
			x := f.parcels(r)
			for _, share := range []float64{1. / 20, 1. / 5, math.Inf(1)} {
				p := x.play(r.spec, share*x.full)
				if !p.run(math.Inf(1), math.MaxInt) {
					t.Fatalf("%s: not all comes in", topo.Name())
				}
				played := p.now * f.g.unit / float64(f.units) * float64(units.GiB) / float64(r.spec.Ranks)
				if took := simulated(t, topo, r, f, p); math.Abs(took/played-1) > 0.01 {
					t.Errorf("%s in %d, %.2f ahead: played %.6f s, simulated %.6f", topo.Name(), slices, share, played, took)
				}
			}
		}
	}
}

// simulated is how many seconds the simulator says that a play takes for 1 GiB.
func simulated(t *testing.T, topo *topology.Topology, r *request, f *flow, p *play) float64 {
	t.Helper()
	s := of(p.channel(r))
	s.Spec, s.Protocol = r.spec, schedule.Simple
	s.Paths = r.pathsOf(f.switchPaths().Paths(topo))
	if err := schedule.Check(s, topo); err != nil {
		t.Fatal(err)
	}
	run, err := sim.Run(topo, s, units.GiB, cost.Ideal, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return run.Time.Seconds()
}
