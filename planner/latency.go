package planner

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat by a profile, however small the
// buffer: the launch, the least α of a message, and the latencies of the links between
// the two ranks that are farthest apart, as far as the profile counts them. Cut says
// which these are.
func LatencyBound(t *topology.Topology, s collective.Spec, p *cost.Profile) collective.Bound {
	if s.Ranks < 2 {
		return collective.Bound{}
	}
	var b collective.Bound
	if p.Latencies {
		b = collective.LatencyBound(t, s)
	}
	if b.Time == 0 {
		b.Cut = "a message takes that long"
	}
	if s.Kind == collective.AllToAllV { // perhaps nothing is sent
		return b
	}
	b.Time += p.Launch + units.Time(leastAlpha(p)*slack)
	return b
}
