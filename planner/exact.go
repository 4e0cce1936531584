package planner

import (
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/pack"
)

// maxExactRanks bounds the exact bound, which takes a second for 1,024 ranks.
const maxExactRanks = 1024

// exactBound is the bound by all cuts of the graph that transfers use (see pack.Bound).
// It is worked out when it is first needed.
type exactBound struct {
	t     *topology.Topology
	spec  collective.Spec
	known bool
	rate  pack.Fraction // bytes/s for each root; 0 where there is no bound
	cut   string
	paths pathBound // of all-to-alls
}

// tighten replaces a bound that a plan does not reach by the exact one, where that is
// larger. A bound that the plan beats is none for it: the graph leaves out PCIe beside
// scale-up links, which some routes use.
func (x *exactBound) tighten(b *collective.Bound, planned units.Time, size units.Bytes) {
	const reached = 0.9999
	kind := x.spec.Kind
	if kind == collective.AllToAll || kind == collective.AllToAllV {
		x.paths.tighten(x.t, x.spec, b, planned, size)
		return
	}
	if kind != collective.AllGather && kind != collective.ReduceScatter || x.spec.Ranks > maxExactRanks || float64(b.Time) >= reached*float64(planned) {
		return
	}
	if !x.known {
		x.find()
	}
	if x.rate.Num == 0 {
		return
	}
	t := units.Time(float64(size) / float64(x.spec.Ranks) / x.rate.Float() * 1e12 * (1 - 1e-12))
	if t > b.Time && t <= planned {
		b.Time, b.Cut = t, x.cut
	}
}

func (x *exactBound) find() {
	x.known = true
	g, err := pack.FromTopology(x.t)
	if err != nil {
		return // no graph, no bound
	}
	if r, err := pack.Bound(g); err == nil {
		x.rate, x.cut = r.Rate, r.Cut
	}
}
