package railyard_test

import (
	"math"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// ASTRA-sim 518bd51 with one split and one active chunk, to the digits that were noted
// (docs/evidence/astra-sim.md): the same network, with its costs as a profile, takes as long.
func TestAgreesWithASTRASim(t *testing.T) {
	for _, c := range []struct {
		net, backend, algorithm string
		size                    units.Bytes
		us                      float64 // as noted
		digits                  float64 // its last digit, in µs
	}{
		{"sw8", "aware", "ring", units.GiB, 9618, 1}, {"sw8", "aware", "ring", units.MiB, 35.7, .1},
		{"sw8", "unaware", "ring", units.GiB, 5243, 1}, {"sw8", "unaware", "ring", units.MiB, 31.4, .1},
		{"ring8", "unaware", "simple_ring", units.GiB, 5230, 1}, {"ring8", "unaware", "simple_ring", units.MiB, 18.3, .1},
		{"h256", "unaware", "ring", units.GiB, 10452, 1}, {"h256", "unaware", "ring", units.MiB, 285, 1},
		{"f256", "aware", "ring", units.GiB, 82690, 10}, {"f256", "aware", "ring", units.MiB, 2123, 1},
		{"h1024", "unaware", "ring", units.GiB, 11341, 1}, {"h1024", "unaware", "ring", units.MiB, 1055, 1},
		{"f1024", "aware", "ring", units.GiB, 89090, 10},
		{"h4096_3d", "unaware", "ring", units.GiB, 10842, 1}, {"h4096_3d", "unaware", "ring", units.MiB, 525, 1},
		{"h4096", "unaware", "ring", units.GiB, 14450, 1},
		{"h16384_3d", "unaware", "ring", units.GiB, 11618, 1}, {"h16384_3d", "unaware", "ring", units.MiB, 1294, 1},
	} {
		topo, err := topology.Load(topologies.Source, "sim/testdata/astra-sim/"+c.net+".yaml", topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		machine, err := cost.GetMachine("sim/testdata/astra-sim/profiles/" + c.backend + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, c.algorithm,
			planner.Options{Slices: 1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(topo, s, c.size, machine.Measured(), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// Noted figures are cut or rounded, and ASTRA-sim's time goes in whole nanoseconds,
		// which adds up over a thousand steps.
		if got := r.Time.Microseconds(); math.Abs(got-c.us) > 1.2*c.digits {
			t.Errorf("%s, %s, %v: %.3f µs, ASTRA-sim has %v", c.net, c.backend, c.size, got, c.us)
		}
	}
}
