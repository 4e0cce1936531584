package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// maxRailUnits bounds the units on rails, whose programs are spelled out; mostUnits those of a pair of many, ofFewPairs those of one where
// there are as many pairs as ranks.
const (
	maxRailUnits = 1 << 17
	mostUnits    = 24
	ofFewPairs   = 64
)

// flowsOverRails is the exchange between nodes whose ways into the network are not
// alike, since adapters or links are lost, slow or busy: what a node sends to others
// leaves over its rails in proportion to what these carry, through the GPUs on them, and
// comes in likewise. A rank whose rail has room keeps its data there; only what is too
// much moves. Inside nodes everybody sends straight, while others cross.
func (r *request) flowsOverRails() (*schedule.Schedule, error) {
	switch kind := r.spec.Kind; {
	case kind == collective.SendRecv:
	case alike(r), kind == collective.AllToAll && r.reroutedFar():
		return nil, notApplicable("hierarchies or rerouted rails do the same in fewer messages")
	}
	if err := r.allRoutable(); err != nil {
		return nil, err
	}
	nodes, pairs := r.nodes(), r.pairs()
	units, spread := min(mostUnits, max(2, allUnits/pairs)), pairs
	if rails := len(nodes[0]); r.spec.Kind == collective.SendRecv { // of a node, one rank sends to others, which takes all rails
		units, spread = rails*max(1, min(ofFewPairs, maxRailUnits/pairs)/rails), len(nodes)
	}
	if len(nodes) < 2 || spread*units > maxRailUnits {
		return nil, notApplicable("it is for several nodes, and for up to %d units of data", maxRailUnits)
	}
	sent, received := make([]float64, r.spec.Ranks), make([]float64, r.spec.Ranks)
	eachDemand(r.spec, func(src, dst int, size float64) {
		if r.t.BoxOf(src) != r.t.BoxOf(dst) {
			sent[src] += size
			received[dst] += size
		}
	})
	out, in := make([]turns, r.spec.Ranks), make([]turns, r.spec.Ranks)
	for i, ranks := range nodes {
		leave, enter, err := r.gatewayRates(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return nil, err
		}
		shareOut(ranks, sent, leave, out)
		shareOut(ranks, received, enter, in)
	}
	var messages []pathMessage
	eachDemand(r.spec, func(src, dst int, size float64) {
		paths := make([][]int32, units)
		for u := range paths {
			paths[u] = r.overRails(int32(src), int32(dst), size, &out[src], &in[dst])
		}
		slices.SortStableFunc(paths, slices.Compare[[]int32])
		messages = appendMessages(messages, int32(src), int32(dst), paths)
	})
	return r.outOfStep(r.alongPaths(messages, units)), nil
}

// overRails is the path of a unit: inside the node to the rail that it leaves by, across,
// and from where it comes in to its destination. A rank that stands there twice has
// nothing to do, so that all units cross at the same hop.
func (r *request) overRails(src, dst int32, size float64, out, in *turns) []int32 {
	if r.t.BoxOf(int(src)) == r.t.BoxOf(int(dst)) {
		return []int32{src, src, dst}
	}
	path := []int32{src, out.next(size), in.next(size), dst}
	if path[2] == dst {
		path = path[:3]
	}
	return path
}

// gateway is how a rank gets into the network, or how the network gets to it.
type gateway struct {
	nic  topology.DeviceID
	hops int
	rate float64
}

// gatewayRates are the rates at which the ranks of a node reach those of another one, as far as
// their own node's links tell, and are reached.
func (r *request) gatewayRates(ranks, far []int32) (out, in []float64, err error) {
	leave, enter, err := r.gatewaysOf(ranks, far)
	return rates(leave), rates(enter), err
}

// evenRails reports whether all ranks reach other nodes, and are reached, equally fast, as far as can be told.
func (r *request) evenRails() bool {
	nodes, first := r.nodes(), 0.0
	for i, ranks := range nodes {
		out, in, err := r.gatewayRates(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return true
		}
		if first = cmp.Or(first, out[0]); slices.ContainsFunc(slices.Concat(out, in), func(x float64) bool { return x != first }) {
			return false
		}
	}
	return true
}

// gatewaysOf are those of the ranks of a node to another one.
func (r *request) gatewaysOf(ranks, far []int32) (leave, enter []gateway, err error) {
	leave, enter = make([]gateway, len(ranks)), make([]gateway, len(ranks))
	for i, a := range ranks {
		b := far[i%len(far)]
		to, err := r.router.Route(int(a), int(b))
		if err != nil {
			return nil, nil, notApplicable("%v", err)
		}
		from, err := r.router.Route(int(b), int(a))
		if err != nil {
			return nil, nil, notApplicable("%v", err)
		}
		if len(to.NICs) == 0 || len(from.NICs) == 0 {
			return nil, nil, notApplicable("nodes are not joined by network adapters")
		}
		node := int32(r.t.NodeOf(int(a)))
		leave[i] = r.gatewayOf(to, to.NICs[0], func(l topology.Link) bool { return r.t.Devices()[l.From].Node == node })
		enter[i] = r.gatewayOf(from, from.NICs[len(from.NICs)-1], func(l topology.Link) bool { return r.t.Devices()[l.To].Node == node })
	}
	return leave, enter, nil
}

// gatewayOf is that of a route, by the links of one node.
func (r *request) gatewayOf(route topology.Route, nic topology.DeviceID, own func(topology.Link) bool) gateway {
	d := gateway{nic: nic}
	for _, h := range route.Hops {
		if !own(r.t.Links()[h.Link]) {
			continue
		}
		if rate := float64(r.t.Rate(h.Link)) * float64(h.Den) / float64(h.Num); d.hops == 0 || rate < d.rate {
			d.rate = rate
		}
		d.hops++
	}
	return d
}

// rates are what the doors carry when all are in use: an adapter is that of the ranks that
// are next to it, in equal parts; ranks that come from farther away have none.
func rates(doors []gateway) []float64 {
	out := make([]float64, len(doors))
	for i, d := range doors {
		sharers := 0.0
		for _, e := range doors {
			switch {
			case e.nic != d.nic || e.hops > d.hops:
			case e.hops < d.hops:
				d.rate = 0
			default:
				sharers++
			}
		}
		out[i] = d.rate / sharers
	}
	return out
}

// turns deal units out over rails in proportion to weights, evenly in time.
type turns struct {
	rails          []int32
	weight, credit []float64 // weights sum to 1
}

// next is the rail whose turn it is: the one that lags most behind its share.
func (t *turns) next(size float64) int32 {
	best := 0
	for i, w := range t.weight {
		t.credit[i] += w * size
		if t.credit[i] > t.credit[best] {
			best = i
		}
	}
	t.credit[best] -= size
	return t.rails[best]
}

// shareOut gives the data of each rank of a node to the node's rails so that all of them
// are busy equally long: what fits stays on the rank's own rail, and what is too much
// fills those with room. Data are by rank, rates by place in the node.
func shareOut(ranks []int32, data, rate []float64, all []turns) {
	var total, carried, room float64
	for i, a := range ranks {
		total += data[a]
		carried += rate[i]
	}
	rooms := make([]float64, len(ranks))
	for i, a := range ranks {
		rooms[i] = max(0, total*rate[i]/carried-data[a])
		room += rooms[i]
	}
	for i, a := range ranks {
		t := turns{credit: make([]float64, len(ranks)), weight: make([]float64, len(ranks)), rails: ranks}
		t.weight[i] = 1
		if over := data[a] - total*rate[i]/carried; over > 1e-9*total && room > 0 {
			t.weight[i] -= over / data[a]
			for j := range rooms {
				t.weight[j] += over / data[a] * rooms[j] / room
			}
		}
		all[a] = t
	}
}

// railFlowDepths: the hops are the stages, but what nodes have to do differs, so that they
// wait for one another in every slice: of many pairs few slices are best, of a few many.
func railFlowDepths(r *request) []int { return upTo(pipelined, 4*32*32/r.pairs()) }

// pairs is how many pairs of ranks have data for one another, those of a rank with itself counted.
func (r *request) pairs() int {
	n := r.spec.Ranks
	switch {
	case r.spec.Kind == collective.SendRecv:
		return n
	case r.spec.Counts == nil:
		return n * n
	}
	count := 0
	for _, row := range r.spec.Counts {
		for _, c := range row {
			if c > 0 {
				count++
			}
		}
	}
	return max(count, 1)
}
