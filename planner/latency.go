package planner

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat, however small the buffer and whoever runs
// it: the latencies of the links between the two ranks that are farthest apart. Cut says which
// these are. What kernels cost on top of links differs from library to library and is no part of
// it; where a profile's costs count no latencies, and less than that in all, it is what they
// count: a launch and a message.
func LatencyBound(t *topology.Topology, s collective.Spec, p *cost.Profile) collective.Bound {
	b := collective.LatencyBound(t, s)
	if !p.Latencies {
		b.Time = min(b.Time, p.Launch+units.Time(leastAlpha(p)*slack))
	}
	return b
}
