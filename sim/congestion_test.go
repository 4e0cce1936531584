package sim_test

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// Eight senders of one node to one GPU of another: each gets an eighth of what the port in front of it carries, which
// is less while it is congested; one sender, or eight to GPUs of their own, lose nothing.
func TestIncast(t *testing.T) {
	topo := shipped(t, "leaf-spine-roce", 2)
	const port, size = 50e9, 64 * units.MiB
	incast, apart := make([][2]int, 8), make([][2]int, 8)
	for i := range incast {
		incast[i], apart[i] = [2]int{8 + i, 0}, [2]int{8 + i, i}
	}
	rate := func(congested float64, pairs [][2]int) float64 {
		plan := compiled(t, topo, named(t, "ideal"), sim.CompileOptions{Congested: congested}, sim.Job{Schedule: flows(16, pairs...)})
		return float64(size) / played(t, plan, []units.Bytes{size}, sim.Options{}).Time.Seconds()
	}
	for _, c := range []struct {
		congested float64
		pairs     [][2]int
		want      float64
	}{
		{0, incast, port / 8}, {1, incast, port / 8}, {0.96, incast, 0.96 * port / 8},
		{0.96, incast[:1], port}, {0.96, apart, port}, {0.5, incast[:2], port / 4},
	} {
		if got := rate(c.congested, c.pairs); got < c.want*(1-1e-3) || got > c.want*(1+1e-9) {
			t.Errorf("congested %v, %d senders: %.4g of %.4g bytes/s each", c.congested, len(c.pairs), got, c.want)
		}
	}
}

// Congestion is the same for plans of representatives.
func TestFoldedIsFlatWhereCongested(t *testing.T) {
	for name, nodes := range map[string]int{"leaf-spine-roce": 6, "superpod-h100": 4} {
		topo := shipped(t, name, nodes)
		for _, algorithm := range []string{"direct", "hierarchical_ring", "ring"} {
			kind := collective.AllReduce
			if algorithm == "direct" {
				kind = collective.AllToAll
			}
			s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, algorithm, planner.Options{Slices: 2})
			if err != nil {
				t.Fatal(err)
			}
			var times [3]units.Time
			for i, o := range []sim.CompileOptions{{Congested: 0.7, Flat: true}, {Congested: 0.7}, {}} {
				times[i] = played(t, compiled(t, topo, gen.Curved(), o, sim.Job{Schedule: s}), []units.Bytes{5 * units.MiB},
					sim.Options{}).Time
			}
			if times[0] != times[1] || times[1] < times[2] {
				t.Errorf("%s, %s: %v flat, %v folded, %v without congestion", name, algorithm, times[0], times[1], times[2])
			}
		}
	}
}
