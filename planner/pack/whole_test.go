package pack

import (
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
)

// TestTakesIn: units that go to one of some arcs each keep the busiest of them busy as briefly as any way to deal them out does.
func TestTakesIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		a, list := newArcs(2), []int32{}
		for i := range 1 + rng.IntN(3) {
			a.add(0, 1, []taken{{int32(i), float64(1 + rng.IntN(5))}, {int32(10 + i), 0.5}})
			list = append(list, int32(i))
		}
		units := 1 + rng.IntN(6)
		busy, least := make([]float64, len(list)), 1e9
		var deal func(units int)
		deal = func(units int) {
			if units == 0 {
				most := 0.0
				for _, b := range busy {
					most = max(most, b)
				}
				least = min(least, most)
				return
			}
			for j := range busy {
				busy[j] += a.list[j].time()
				deal(units - 1)
				busy[j] -= a.list[j].time()
			}
		}
		deal(units)
		if got := a.takesIn(list, units); got != least {
			t.Errorf("%d units over %v: %v, dealt out best %v", units, a.list, got, least)
		}
	}
}

// TestUnitsThatCannotDoBetter: whole units keep what leads to a rank busy at least as long as is said of them before any tree grows, and
// settling leaves those out that cannot do better than fewer for it, and finds no less.
func TestUnitsThatCannotDoBetter(t *testing.T) {
	g, err := FromTopology(load(t, "nvlink-network-256", 4))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.Broadcast, collective.Reduce} {
		s := newSearch(g, kind, 0, Options{}, BroadcastBound(g, 0))
		if err := s.transfers(); err != nil {
			t.Fatal(err)
		}
		a := s.arcsOfUse()
		if err := s.settle(false, a); err != nil {
			t.Fatal(err)
		}
		best, looked := 0.0, 0
		for _, units := range s.units(a) {
			if units > int(s.best.K) {
				break
			}
			x, least := newSettling([]*arcs{a}, s.rootsOf(units)), float64(units)/s.bound.Rate.Float()
			if err := x.settle(least, 0, DefaultWork); err != nil {
				t.Fatal(err)
			}
			if whole := s.whole(a, units); whole < least*(1-1e-9) || whole > x.full*(1+1e-9) {
				t.Errorf("%v in %d units: at least %v s, settled %v s, by the bound %v s", kind, units, whole, x.full, least)
			}
			best, looked = max(best, least/x.full), looked+x.looked
		}
		if took := DefaultWork - s.left; s.best.Share < best*nearEnough || took >= looked {
			t.Errorf("%v: %.4f of the bound for %d arcs looked at; of all numbers of units, %.4f for %d", kind, s.best.Share, took, best, looked)
		}
	}
}
