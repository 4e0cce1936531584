package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

func late(ranks, who int, by units.Time) []units.Time {
	out := make([]units.Time, ranks)
	out[who] = by
	return out
}

// Where everything hangs on one rank, its delay is the collective's; where the rank is
// needed late, what is left of the delay by then.
func TestAStragglerCostsItsDelay(t *testing.T) {
	topo := shipped(t, "dgx-h100", 1)
	us := units.Microsecond
	for _, c := range []struct {
		kind collective.Kind
		who  int
		by   units.Time
		cost units.Time
	}{
		{collective.Broadcast, 0, 20 * us, 20 * us},  // the root: the others have nothing before
		{collective.AllReduce, 3, 20 * us, 20 * us},  // a ring goes round through everybody
		{collective.Broadcast, 7, 2 * us, 0},         // the end of the chain: it would have waited
		{collective.Broadcast, 7, 400 * us, 50 * us}, // and what has reached it by then waits for it
	} {
		t.Run(fmt.Sprint(c.kind, c.who, c.by), func(t *testing.T) {
			s := flatRing(c.kind, 8, 1)
			if c.kind == collective.Broadcast {
				s.Channels[0].Chunks = 1
			}
			plan := compiled(t, topo, named(t, "ideal"), sim.CompileOptions{}, sim.Job{Schedule: s})
			size := []units.Bytes{22_500_000} // a chain of seven steps of 50 us each
			base := played(t, plan, size, sim.Options{})
			got := played(t, plan, size, sim.Options{Delays: late(8, c.who, c.by)})
			if d := got.Time - base.Time; d < c.cost-10*units.Nanosecond || d > c.cost+10*units.Nanosecond {
				t.Errorf("costs %v of %v, want %v", d, base.Time, c.cost)
			}
		})
	}
}

// A delay of all ranks shifts everything; no rank ends before it has begun; and delays
// leave no trace in the next run.
func TestDelaysShift(t *testing.T) {
	eachMix(t, 60, func(topo *topology.Topology, jobs []sim.Job, sizes []units.Bytes, rng *rand.Rand) {
		plan := compiled(t, topo, gen.Curved(), sim.CompileOptions{}, jobs...)
		base := played(t, plan, sizes, sim.Options{})
		by := units.Time(rng.Int64N(int64(units.Millisecond)))
		if r := played(t, plan, sizes, sim.Options{Delays: slices.Repeat([]units.Time{by}, topo.NumRanks())}); r.Time != base.Time+by {
			t.Errorf("%s: %v, all %v late %v", topo.Name(), base.Time, by, r.Time)
		}
		if jobs[0].Ranks == nil {
			r := played(t, plan, sizes, sim.Options{Delays: late(topo.NumRanks(), rng.IntN(topo.NumRanks()), by)})
			if r.Ends[0] < r.Launch+by {
				t.Errorf("%s: ends after %v, a rank begins after %v", topo.Name(), r.Ends[0], r.Launch+by)
			}
		}
		differ(t, "again without delays", base, played(t, plan, sizes, sim.Options{}))
	})
}

// Nodes that are late alike fold, and take exactly as long as flat.
func TestStragglersOnAClusterFold(t *testing.T) {
	topo := shipped(t, "superpod-h100", 8)
	s := candidate(t, topo, collective.AllReduce, "hierarchical_ring")
	folded := compiled(t, topo, line(t), sim.CompileOptions{}, sim.Job{Schedule: s})
	flat := compiled(t, topo, line(t), sim.CompileOptions{Flat: true}, sim.Job{Schedule: s})
	delays := make([]units.Time, topo.NumRanks())
	for r := range 8 {
		delays[16+r] = 30 * units.Microsecond
	}
	for _, d := range [][]units.Time{nil, delays, late(64, 5, 9*units.Microsecond)} {
		want := played(t, flat, []units.Bytes{64 << 20}, sim.Options{Delays: d})
		differ(t, fmt.Sprint(d), want, played(t, folded, []units.Bytes{64 << 20}, sim.Options{Delays: d}))
	}
}

func TestSpreadsHaveTheirMoments(t *testing.T) {
	const n = 40_000
	us := float64(units.Microsecond)
	for _, c := range []struct {
		spread        sim.Spread
		mean, std, p0 float64
	}{
		{sim.Spread{Exponential: true, Mean: 5 * units.Microsecond}, 5 * us, 5 * us, 0},
		{sim.Spread{Mean: 10 * units.Microsecond, Deviation: 2 * units.Microsecond}, 10 * us, 2 * us, 0},
		{sim.Spread{Mean: 3 * units.Microsecond}, 3 * us, 0, 3 * us},
	} {
		d := make([]units.Time, n)
		c.spread.Draw(d, 7)
		sum, square, least := 0.0, 0.0, math.Inf(1)
		for _, x := range d {
			sum, square, least = sum+float64(x), square+float64(x)*float64(x), min(least, float64(x))
		}
		mean := sum / n
		std := math.Sqrt(max(square/n-mean*mean, 0))
		if math.Abs(mean-c.mean) > 0.02*c.mean || math.Abs(std-c.std) > 0.03*c.std+1 || least < c.p0 {
			t.Errorf("%+v: mean %v, deviation %v, least %v", c.spread, mean, std, least)
		}
		again, more := make([]units.Time, n), make([]units.Time, n/2)
		c.spread.Draw(again, 7)
		c.spread.Draw(more, 7)
		if !slices.Equal(d, again) || !slices.Equal(d[:n/2], more) {
			t.Errorf("%+v: not the same for the same seed", c.spread)
		}
	}
}
