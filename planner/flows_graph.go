package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner/pack"
)

// flowGraph is what flows go along.
type flowGraph struct {
	*pack.Arcs
	next  [][]int32 // by vertex: where arcs lead
	index [][]int32 // by two vertices: which arc; -1: none
	unit  float64   // of times: what the fastest arc takes for a byte, in seconds
	times [][]pack.Take
}

const (
	maxFlowRanks  = 128
	mostFlowLooks = 6_000_000 // arcs that the paths of all pairs are looked for among, between nodes
)

// flowGraph is that of the arcs of the topology: links and switches, and where these do not join all ranks, routes over hosts and networks.
func (r *request) flowGraph() (*flowGraph, error) {
	if n := r.spec.Ranks; n < 3 || n > maxFlowRanks {
		return nil, notApplicable("flows are for 3 to %d ranks", maxFlowRanks)
	}
	if l := pack.ScaleUp(r.t); l.Joined() && l.Adjacent() && !l.Choices() && !l.Meshed() &&
		(len(l.Switches) > 0 || r.spec.Kind != collective.SendRecv) {
		return nil, notApplicable("all ranks are neighbours, in one way")
	}
	exchange := slices.Contains(exchanges, r.spec.Kind) && r.t.NumBoxes() > 1
	if exchange && (alike(r) && r.evenRails() || r.spec.Kind == collective.AllToAll && r.degraded() && r.rerouted()) {
		return nil, notApplicable("hierarchies or rerouted rails do the same in fewer messages")
	}
	a, err := pack.ArcsOf(r.t)
	switch {
	case err != nil:
		return nil, err
	case !a.Joined():
		return nil, notApplicable("not all ranks reach one another, passed on by others or not")
	case a.Links == 0 && r.t.NumBoxes() == 1:
		return nil, notApplicable("PCIe alone joins all ranks, in one way")
	case exchange && r.pairs()*len(a.List) > r.o.Budget.part(mostFlowLooks):
		return nil, notApplicable("there are too many pairs and ways to look at")
	case r.spec.Kind == collective.SendRecv && r.t.NumBoxes() > 1 && !slices.ContainsFunc(a.List, r.insideBox):
		return nil, notApplicable("switches alone join the ranks of a node: only rails are to be chosen")
	}
	type key struct{}
	return topology.Once(r.t, key{}, func() *flowGraph { return graphOf(r.samePlaces(a)) }), nil
}

// insideBox reports whether an arc leads straight from rank to rank of a box.
func (r *request) insideBox(x pack.Arc) bool {
	n := r.t.NumRanks()
	return int(x.From) < n && int(x.To) < n && r.t.BoxOf(int(x.From)) == r.t.BoxOf(int(x.To))
}

// samePlaces are arcs of which those from a rank into another node are between adapters of the same place in their nodes alone, where there
// are any: then messages share both ends alike. Where each end is shared with others, links wait for one another.
func (r *request) samePlaces(a *pack.Arcs) *pack.Arcs {
	place := func(nic topology.DeviceID) int { return int(r.t.Devices()[nic].Local) }
	like, any := make([]bool, len(a.List)), map[[2]int]bool{}
	way := func(x pack.Arc) [2]int { return [2]int{int(x.From), r.t.NodeOf(int(x.To))} }
	for i, x := range a.List[a.Links:] {
		route, err := r.router.Route(int(x.From), int(x.To))
		if err == nil && len(route.NICs) > 0 && place(route.NICs[0]) == place(route.NICs[len(route.NICs)-1]) {
			like[a.Links+i], any[way(x)] = true, true
		}
	}
	own := *a
	own.List = nil
	for i, x := range a.List {
		if i < a.Links || like[i] || !any[way(x)] {
			own.List = append(own.List, x)
		}
	}
	if !own.Joined() {
		return a
	}
	return &own
}

// graphOf has times as multiples of what a byte takes on the fastest arc.
func graphOf(a *pack.Arcs) *flowGraph {
	g := &flowGraph{Arcs: a, next: make([][]int32, a.Vertices), index: make([][]int32, a.Vertices), unit: math.Inf(1)}
	for v := range g.index {
		g.index[v] = slices.Repeat([]int32{-1}, a.Vertices)
	}
	for i, x := range a.List {
		g.index[x.From][x.To] = int32(i)
		longest := slices.MaxFunc(x.Takes, func(a, b pack.Take) int { return cmp.Compare(a.Time, b.Time) })
		g.unit = min(g.unit, longest.Time)
	}
	for v, to := range g.index {
		for w, i := range to {
			if i >= 0 {
				g.next[v] = append(g.next[v], int32(w))
			}
		}
	}
	g.times = make([][]pack.Take, len(a.List))
	for i, x := range a.List {
		for _, t := range x.Takes {
			g.times[i] = append(g.times[i], pack.Take{Resource: t.Resource, Time: t.Time / g.unit})
		}
	}
	return g
}

// takes is what the arc from a vertex to another takes.
func (g *flowGraph) takes(from, to int32) []pack.Take { return g.times[g.index[from][to]] }

// joins reports whether there is an arc.
func (g *flowGraph) joins(from, to int32) bool { return g.index[from][to] >= 0 }

// mixes reports whether ranks have direct links and switches in common, over which paths may lead.
func (g *flowGraph) mixes() bool {
	direct := func(x pack.Arc) bool { return int(max(x.From, x.To)) < g.Ranks }
	return len(g.Switches) > 0 && slices.ContainsFunc(g.List[:g.Links], direct)
}
