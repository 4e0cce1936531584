package planner

import (
	"errors"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Kept is what a plan of the whole machine takes on what is left of it.
type Kept struct {
	Time  units.Time // 0 where it does not run there
	Least bool       // Time is a bound: too many messages, no two of which are alike, to be simulated, or many and slower all the same
}

// Keep finds that out. Where ranks are lost, or no longer reach one another, the plan does not run. Where its simulation takes long, as
// is known once it is compiled for the estimate, it is played only if it may be faster than now, what is planned there; where that takes
// long, too, as of trees, in which no rank stands for others once a part is lost, it is compiled only then.
func Keep(left *topology.Topology, p *cost.Profile, old *schedule.Schedule, size units.Bytes, score Scorer, now units.Time) (Kept, error) {
	switch {
	case len(left.LostRanks()) > 0:
		return Kept{}, nil
	case TooMany(left, old):
		return Kept{LeastTime(left, p, old, size), true}, nil
	case inTrees(old) > cheap && topology.NewRouter(left).ReachesAll():
		if least := LeastTime(left, p, old, size); least >= now {
			return Kept{least, true}, nil
		}
	}
	t, err := score.Estimate(old, size)
	if err == nil && t >= now && score.Work(old) > ofLast {
		return Kept{max(t, LeastTime(left, p, old, size)), true}, nil
	}
	if err == nil {
		t, err = score.Time(old, size, units.MaxTime)
	}
	if errors.Is(err, ErrTooLarge) {
		return Kept{LeastTime(left, p, old, size), true}, nil
	}
	var cut topology.Unreachable
	if errors.As(err, &cut) {
		return Kept{}, nil
	}
	return Kept{Time: t}, err
}

// inTrees are the operations of a slice of a schedule's trees, of all ranks.
func inTrees(s *schedule.Schedule) (n int64) {
	for i := range s.Channels {
		if t := s.Channels[i].Trees; t != nil {
			n += 2 * int64(len(t.List)*(s.Spec.Ranks-1))
		}
	}
	return n
}

// LeastTime is a time that a schedule cannot beat on a machine of which one node has less
// left than others: the bound by the programs of that node, where most is in the way, and
// of the root's. It says what a plan costs that is too large to simulate there.
func LeastTime(t *topology.Topology, p *cost.Profile, s *schedule.Schedule, size units.Bytes) units.Time {
	b := NewBounds(t, p)
	b.view = t.NodeOf(s.Spec.Root)
	least := b.Time(s, size)
	b = NewBounds(t, p)
	b.view, b.routed = weakest(t), maxRoutedForPlan
	return max(least, b.Time(s, size))
}

// weakest is the node whose links carry least together, of equal ones the first.
func weakest(t *topology.Topology) int {
	type key struct{}
	return topology.Once(t, key{}, func() int { return findWeakest(t) })
}

func findWeakest(t *topology.Topology) int {
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
