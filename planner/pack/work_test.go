package pack

import (
	"testing"

	"railyard/model/collective"
)

// Trees settle closer the more work there is, a first round in any case, and no more than that where the work is spent.
func TestTreesSettleCloserWithMoreWork(t *testing.T) {
	g, err := FromTopology(load(t, "dgx1-p100", 4))
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(g, collective.Broadcast, 0, Options{}, BroadcastBound(g, 0))
	if err := s.transfers(); err != nil {
		t.Fatal(err)
	}
	const units = 8
	settled := func(work int) *settling {
		x := newSettling([]*arcs{s.arcsOfUse()}, s.rootsOf(units))
		if err := x.settle(units/s.bound.Rate.Float(), 0, work); err != nil {
			t.Fatal(err)
		}
		return x
	}
	one, all := settled(1), settled(DefaultWork)
	if one.looked == 0 || 2*one.looked > all.looked || all.full >= one.full {
		t.Errorf("the fullest link works %v s after %d arcs, %v s after %d", one.full, one.looked, all.full, all.looked)
	}
}
