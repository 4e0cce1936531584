package planner

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/pack"
)

// exactBound is the bound of a collective on the graph that transfers use: by all cuts,
// by all partitions for all_reduce, by multi-commodity flow for all_to_all (see the
// package pack). It is worked out when it is first needed.
type exactBound struct {
	t     *topology.Topology
	spec  collective.Spec
	known bool
	rate  float64 // bytes/s of the whole buffer; 0 where there is no bound
	cut   string
	note  string  // why there is none
	trees float64 // bytes/s of the whole buffer by the trees that data take (see pack.TreesBound); 0: not known, or no bound
	asked bool    // for that
}

// tighten replaces a bound that a plan does not reach by the exact one, where that is
// larger. A bound that the plan beats is none for it: the graph leaves out PCIe beside
// scale-up links, which some routes use.
func (x *exactBound) tighten(b *collective.Bound, planned units.Time, size units.Bytes) {
	const reached = 0.9999
	if float64(b.Time) >= reached*float64(planned) {
		return
	}
	if !x.known {
		x.known = true
		x.find()
	}
	if x.note != "" && b.Cut != "" {
		b.Cut += " (" + x.note + ")"
	}
	if x.rate == 0 {
		return
	}
	x.raise(b, x.rate, x.cut, planned, size)
}

// along replaces a bound that a plan does not come near by that of the trees that data take along routes, where that is larger: of plans
// that bandwidth decides about, not latencies.
func (x *exactBound) along(b *collective.Bound, planned units.Time, size units.Bytes) {
	if share := float64(b.Time) / float64(planned); share >= nearBound || share < farFromBound {
		return
	}
	if !x.asked {
		x.asked = true
		x.findTrees()
	}
	x.raise(b, x.trees, "by whatever trees data go along routes, what these share is full", planned, size)
}

// nearBound is the share of a bound from which on no closer one is looked for, and farFromBound that from which on one is.
const nearBound, farFromBound = 0.98, 0.5

// raise makes a bound that of a rate, where that is larger and the plan does not beat it.
func (x *exactBound) raise(b *collective.Bound, rate float64, cut string, planned units.Time, size units.Bytes) {
	if rate == 0 {
		return
	}
	if t := units.Time(float64(size) / rate * 1e12 * (1 - 1e-12)); t > b.Time && t <= planned {
		b.Time, b.Cut = t, cut
	}
}

func (x *exactBound) findTrees() {
	multicast, reduction := x.t.InNetwork(nil)
	if slices.Contains(dense, x.spec.Kind) && !multicast && !reduction && x.spec.Ranks <= maxTreesBound {
		x.trees = pack.TreesBound(x.t, x.spec.Kind, x.spec.Root)
	}
}

// maxTreesBound is up to how many ranks trees' prices are looked for: of more, rounds are too few to say much.
const maxTreesBound = 64

// limits are what no plan beats: on a machine, and on the same without its slow parts, as plans may go other ways then.
type limits []limit

type limit struct {
	cuts  *collective.Cuts
	exact *exactBound
}

func newLimits(t *topology.Topology, spec collective.Spec) (out limits) {
	add := func(t *topology.Topology) {
		out = append(out, limit{collective.NewCuts(t, spec), &exactBound{t: t, spec: spec}})
	}
	add(t)
	for _, w := range withoutSlow(t) {
		add(w.left)
	}
	return out
}

func (l *limit) at(planned units.Time, size units.Bytes) collective.Bound {
	b := l.cuts.LowerBound(size)
	l.exact.tighten(&b, planned, size)
	return b
}

// least is a time that no plan beats, found closer where a time is near it.
func (l limits) least(planned units.Time, size units.Bytes) units.Time {
	t := l[0].at(planned, size).Time
	for i := range l[1:] {
		t = min(t, l[i+1].at(planned, size).Time)
	}
	return t
}

// beside is the bound that stands beside a plan that takes a time: that of the machine, unless the plan goes ways that it has only
// without its slow parts.
func (l limits) beside(planned units.Time, size units.Bytes) (b collective.Bound) {
	for i := range l {
		if b = l[i].at(planned, size); b.Time <= planned {
			l[i].exact.along(&b, planned, size)
			break
		}
	}
	return b
}

// BoundForPlan is the bound that stands beside a plan that takes a time.
func BoundForPlan(t *topology.Topology, spec collective.Spec, planned units.Time, size units.Bytes) collective.Bound {
	return newLimits(t, spec).beside(planned, size)
}

func (x *exactBound) find() {
	switch kind := x.spec.Kind; {
	case kind == collective.Barrier || x.spec.Ranks < 2:
		return
	case x.spec.Ranks > maxRing:
		x.note = fmt.Sprintf("of the cuts around ranks, nodes and tiers: all cuts are looked at for up to %d ranks", maxRing)
		return
	}
	if r, err := ExactBound(x.t, x.spec); err == nil { // else there is no graph, and no bound
		x.rate, x.cut = r.AlgBW, r.Cut
	}
}

// ExactBound is the bound of a collective on the graph that transfers use, and the cut
// that says why: its AlgBW, in bytes/s of the whole buffer, no schedule can beat at line
// rate.
func ExactBound(t *topology.Topology, spec collective.Spec) (pack.Result, error) {
	g, err := pack.FromTopology(t)
	if err != nil {
		return pack.Result{}, err
	}
	switch spec.Kind {
	case collective.AllReduce:
		if multicast, reduction := t.InNetwork(nil); multicast || reduction {
			return pack.AllReduceCuts(g), nil // switches do some of it
		}
	case collective.AllToAll, collective.AllToAllV, collective.SendRecv:
		return pairsBound(g, spec), nil
	}
	return pack.BoundFor(g, spec.Kind, spec.Root)
}

// mostParts is in how many parts the largest message counts: enough for bounds.
const mostParts = 1 << 16

// pairsBound is that of what ranks send one another; smaller messages are rounded down to whole parts.
func pairsBound(g *pack.Graph, spec collective.Spec) pack.Result {
	part, size := int64(1), int64(1) // bytes of a part, and of the buffer
	switch spec.Kind {
	case collective.AllToAll:
		size = int64(spec.Ranks)
	case collective.AllToAllV:
		for src, row := range spec.Counts {
			for dst, c := range row {
				if src != dst {
					part = max(part, c/mostParts)
				}
			}
		}
		size = spec.LargestRow()
	}
	b := pack.PairsBound(g, func(src, dst int) int64 {
		switch {
		case !carries(spec, src, dst):
			return 0
		case spec.Counts == nil:
			return 1
		}
		return spec.Counts[src][dst] / part
	})
	b.AlgBW = b.Rate.Float() / float64(part) * float64(size)
	return b
}
