package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// groups is what bounds need to know of a phase's groups.
type groups struct {
	regular bool // every rank is in one of them, all alike; or there is one
	size    int
	apart   int     // neighbouring positions are at least that many ranks apart
	wraps   bool    // positions are ranks: the last is near the first
	ranks   []int32 // of the first group, by position
}

// groups sums up the groups of a phase.
func (b *Bounds) groups(ph *schedule.Phase, ranks int) groups {
	// which sends only what is not empty
	if ph.Gen == schedule.GenOps || ph.Gen == schedule.GenTrees || ph.Op == collective.AllToAllV {
		return groups{}
	}
	if g := ph.Groups.Grid; g != nil {
		stride := int32(1)
		for a := len(g.Dims) - 1; a > g.Axis; a-- {
			stride *= g.Dims[a]
		}
		out := groups{regular: true, size: int(g.Dims[g.Axis]), apart: int(stride)}
		for i := range g.Dims[g.Axis] {
			if g.Order != nil {
				i = g.Order[i]
			}
			out.ranks = append(out.ranks, i*stride)
		}
		return out
	}
	first := ph.Groups.List[0].Ranks
	return groups{regular: len(ph.Groups.List) == 1 && len(first) == ranks, size: len(first), apart: 1,
		wraps: slices.IsSorted(first), ranks: first}
}

// hop is the least latency of a message over a distance in positions.
func (b *Bounds) hop(g groups, distance int) float64 {
	switch {
	case g.size < 2:
		return 0
	case g.apart >= b.node, g.wraps && distance >= b.node && g.size-distance >= b.node:
		return b.across
	}
	return b.step
}

// steps is the time before which no rank ends a phase without a root: the number of
// messages that follow one another, each at its least latency.
func (b *Bounds) steps(ph *schedule.Phase, g groups) float64 {
	t := 0.0
	switch ph.Gen {
	case schedule.GenRing:
		for k := 1; k < g.size; k++ {
			if ph.Op == collective.AllToAll || ph.Op == collective.AllToAllV { // pairwise
				t += b.hop(g, k)
			} else {
				t += b.hop(g, 1)
			}
		}
		if ph.Op == collective.AllReduce {
			t *= 2
		}
	case schedule.GenDirect, schedule.GenSwitch:
		t = b.hop(g, 1)
		if b.spans(g) && ph.Op != collective.SendRecv { // everybody hears from another node
			t = b.across
		}
	case schedule.GenDoubling:
		for d := 1; 2*d <= g.size; d *= 2 {
			if g.wraps && d >= b.node { // partners never sit across the end
				t += b.across
			} else {
				t += b.hop(g, d)
			}
		}
	case schedule.GenBruck:
		for d := 1; d < g.size; d *= 2 {
			t += b.hop(g, d)
		}
	case schedule.GenTree: // barrier: up, but not yet down
		t = b.depth(ph, g)
	}
	return t
}

// spans reports whether every group has ranks of several nodes.
func (b *Bounds) spans(g groups) bool {
	return (g.size-1)*g.apart >= b.node || g.wraps && g.size > b.node
}

// depth is the time of the longest way between the root of a group and another member.
func (b *Bounds) depth(ph *schedule.Phase, g groups) float64 {
	if ph.Gen == schedule.GenDirect || ph.Gen == schedule.GenSwitch {
		if b.spans(g) {
			return b.across
		}
		return b.hop(g, 1)
	}
	reach := make([]float64, g.size) // from the root; −1: not known yet
	for i := range reach {
		reach[i] = -1
	}
	deepest := 0.0
	var path []int
	for i := range reach {
		at := i
		for path = path[:0]; reach[at] < 0; at = parentIn(ph, at, g.size) {
			if parentIn(ph, at, g.size) < 0 {
				reach[at] = 0
				break
			}
			path = append(path, at)
		}
		t := reach[at]
		for j := len(path) - 1; j >= 0; j-- {
			t += b.between(g.ranks[at], g.ranks[path[j]])
			at = path[j]
			reach[at] = t
		}
		deepest = max(deepest, t)
	}
	return deepest
}

// parentIn is the position above one in a tree, or in the chain that a ring is, −1 at
// the root. Which way data goes along a chain makes no difference to its length.
func parentIn(ph *schedule.Phase, at, size int) int {
	if ph.Gen == schedule.GenTree && ph.Parents != nil {
		return int(ph.Parents[at])
	}
	v := (at - ph.Root + size) % size
	switch {
	case v == 0:
		return -1
	case ph.Gen == schedule.GenRing && ph.Op == collective.Reduce: // it comes from behind the root round to it
		return (at + 1) % size
	case ph.Gen == schedule.GenRing:
		return (at - 1 + size) % size
	}
	mask := 1
	for v%(mask*ph.Radix) == 0 {
		mask *= ph.Radix
	}
	return (v - v%(mask*ph.Radix) + ph.Root) % size
}

// between is the least latency of a message between two ranks.
func (b *Bounds) between(x, y int32) float64 {
	if b.t.NodeOf(int(x)) != b.t.NodeOf(int(y)) {
		return b.across
	}
	return b.step
}

// nearest is the least latency between two ranks of different labels; links have the
// same latency both ways. A way between them has a link where those nearest to its ends differ.
func nearest(t *topology.Topology, label func(rank int) int32) units.Time {
	dist, rank := t.Distances((*topology.Class).Full, t.Ranks()...)
	best := units.Time(units.MaxTime)
	for _, l := range t.Links() {
		if a, b := rank[l.From], rank[l.To]; a >= 0 && b >= 0 && label(int(a)) != label(int(b)) {
			best = min(best, dist[l.From]+t.Classes()[l.Class].Latency+dist[l.To])
		}
	}
	if best == units.MaxTime {
		return 0 // one label only
	}
	return best
}
