package planner

import (
	"math"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// pathBound is a time that no all-to-all over direct links can beat, whatever paths it
// takes: give each link a length; then all data, each over the shortest way of its pair,
// need so much length × bytes, and the links have length × rate a second. Any lengths are
// a proof; good ones are the prices at which buildFlows ends (duality of linear
// programs).
type pathBound struct {
	known   bool
	perByte float64 // ps for each byte of the collective's size
}

// tighten replaces a bound that a plan does not reach by that of paths, where that is
// larger.
func (p *pathBound) tighten(t *topology.Topology, spec collective.Spec, b *collective.Bound, planned units.Time, size units.Bytes) {
	if !p.known {
		p.known, p.perByte = true, perByte(t, spec)
	}
	whole := float64(size) - math.Mod(float64(size), float64(spec.Ranks))
	if tm := units.Time(p.perByte * whole * slack); tm > b.Time && tm <= planned {
		b.Time, b.Cut = tm, "the links between the ranks carry no more, whatever the paths"
	}
}

// perByte is 0 where the ranks are not joined by direct links inside one node.
func perByte(t *topology.Topology, spec collective.Spec) float64 {
	r := newRequest(t, spec, Options{})
	if spec.Ranks < 3 || spec.Ranks > maxFlowRanks || t.NumNodes() > 1 {
		return 0
	}
	if r.rates() == nil {
		return 0
	}
	f := spreadFlow(allLinks(t), demands(spec))
	best := 0.0
	for _, steepness := range []float64{firstSteepness, 2 * firstSteepness, lastSteepness, 2 * lastSteepness} {
		f.steepness = steepness
		best = max(best, f.proof())
	}
	return best * 1e12 / perSize(spec)
}

// perSize is the size of a collective in units of demands.
func perSize(spec collective.Spec) float64 {
	if spec.Counts == nil {
		return float64(spec.Ranks)
	}
	most := int64(1)
	for src, row := range spec.Counts {
		for dst, c := range row {
			if src != dst {
				most = max(most, c)
			}
		}
	}
	return float64(spec.LargestRow()) / float64(most)
}

// allLinks are the rates of all links of a machine: ranks come first, then the other
// devices, which some routes take (PCIe beside the direct links).
func allLinks(t *topology.Topology) rateGraph {
	number, next := make([]int, len(t.Devices())), t.NumRanks()
	for d := range number {
		if number[d] = t.RankOf(topology.DeviceID(d)); number[d] < 0 {
			number[d] = next
			next++
		}
	}
	g := make(rateGraph, next)
	for a := range g {
		g[a] = make([]float64, next)
	}
	for i, l := range t.Links() {
		g[number[l.From]][number[l.To]] += float64(t.Rate(topology.LinkID(i)))
	}
	return g
}

// proof is a time in seconds for demands in bytes, by the lengths that prices are.
func (f *flow) proof() float64 {
	capacity, need := 0.0, 0.0
	for a := range f.g {
		for b, rate := range f.g[a] {
			if rate > 0 {
				capacity += rate * f.length(int32(a), int32(b))
			}
		}
	}
	for src, row := range f.demand {
		dist := f.distances(int32(src))
		for dst, d := range row {
			if d > 0 {
				need += d * dist[dst]
			}
		}
	}
	return need / capacity
}

// length is the price of a link at its load, without any more on it.
func (f *flow) length(a, b int32) float64 { return f.price(a, b, 0) }

// distances are the lengths of the shortest ways from a vertex (Bellman, Ford).
func (f *flow) distances(src int32) []float64 {
	dist := make([]float64, len(f.g))
	for v := range dist {
		dist[v] = math.Inf(1)
	}
	dist[src] = 0
	for changed := true; changed; {
		changed = false
		for a := range f.g {
			for b, rate := range f.g[a] {
				if rate > 0 && dist[a]+f.length(int32(a), int32(b)) < dist[b] {
					dist[b], changed = dist[a]+f.length(int32(a), int32(b)), true
				}
			}
		}
	}
	return dist
}
