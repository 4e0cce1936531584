package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat, however small the buffer and whoever runs
// it: the latencies of the links between the two ranks that are farthest apart. Cut says which
// these are. What kernels cost on top of links differs from library to library and is no part of
// it; where a profile's costs hold the latencies of usual links, and less than all, it is what they
// count: a launch, a message, and what links take more than usual ones.
func LatencyBound(t *topology.Topology, s collective.Spec, p *cost.Profile) collective.Bound {
	b := collective.LatencyBound(t, s, (*topology.Class).Full)
	if !p.Latencies {
		b.Time = min(b.Time, p.Launch+units.Time(leastAlpha(p)*slack)+beyond(t, s, p))
	}
	return b
}

// beyond is what links between the two ranks that are farthest apart take more than usual ones. Nothing is said where some
// links are faster: on a way they make up for slower ones.
func beyond(t *topology.Topology, s collective.Spec, p *cost.Profile) units.Time {
	if len(p.Curves) == 0 || slices.ContainsFunc(t.Classes(), func(c topology.Class) bool { return c.Beyond() < 0 }) {
		return 0
	}
	return collective.LatencyBound(t, s, (*topology.Class).Beyond).Time
}
