package planner

import (
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// LeastTime is a time that a schedule cannot beat on a machine of which one node has less
// left than others: the bound by the programs of that node, where most is in the way, and
// of the root's. It says what a plan costs that is too large to simulate there.
func LeastTime(t *topology.Topology, p *cost.Profile, s *schedule.Schedule, size units.Bytes) units.Time {
	least := NewBounds(t, p).Time(s, size)
	b := NewBounds(t, p)
	b.view, b.routed = weakest(t), maxRoutedKept
	return max(least, b.Time(s, size))
}

// weakest is the node whose links carry least together, of equal ones the first.
func weakest(t *topology.Topology) int {
	rates := make([]units.Rate, t.NumNodes())
	for i, l := range t.Links() {
		for _, d := range []topology.DeviceID{l.From, l.To} {
			if n := t.Devices()[d].Node; n >= 0 {
				rates[n] += t.Rate(topology.LinkID(i))
			}
		}
	}
	least := 0
	for n, r := range rates {
		if r < rates[least] {
			least = n
		}
	}
	return least
}
