package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/schedule"
)

// commonRails are the rails that all nodes have, of which each takes what it has room for in every node. Where all data enter every node,
// or leave it, the narrowest node sets the pace, and others lose nothing by it; a message goes from a GPU to that of the same rail, as on
// a machine whose nodes are alike.
type commonRails struct {
	lanes         []schedule.Group // most chunks first, so that GPUs which do alike have the same program; at last, those without
	nodes, chunks int
}

func (r *request) commonRails() (*commonRails, error) {
	b, err := r.reroutes()
	if err != nil {
		return nil, err
	}
	parts, err := r.common(b)
	if err != nil {
		return nil, err
	}
	x := &commonRails{nodes: len(b.rank)}
	for _, p := range parts {
		lane := schedule.Group{Whole: schedule.Range(int32(x.chunks), p.chunks)}
		for node := range b.rank {
			lane.Ranks = append(lane.Ranks, b.rank[node][p.rail])
		}
		x.lanes = append(x.lanes, lane)
		x.chunks += int(p.chunks)
	}
	return x, nil
}

// inside are the GPUs of each node, with the chunks that each takes across.
func (x *commonRails) inside() (out schedule.Groups) {
	for node := range x.nodes {
		group := schedule.Group{}
		for _, lane := range x.lanes {
			if rank := lane.Ranks[node]; rank >= 0 {
				group.Ranks, group.Parts = append(group.Ranks, rank), append(group.Parts, lane.Whole)
			}
		}
		out.List = append(out.List, group)
	}
	return out
}

// across are the GPUs of each rail, in an order of the nodes; nil: as they are numbered.
func (x *commonRails) across(order []int32) (out schedule.Groups) {
	for _, lane := range x.lanes {
		if lane.Whole.Count > 0 {
			out.List = append(out.List, schedule.Group{Ranks: inOrder(lane.Ranks, order), Whole: lane.Whole})
		}
	}
	return out
}

// railPart is how many chunks a rail takes.
type railPart struct {
	rail   int
	chunks int32
}

// common are how many chunks each rail takes in the narrowest node, most first.
func (r *request) common(b *reroutes) ([]railPart, error) {
	room, err := r.commonRoom(b)
	if err != nil {
		return nil, err
	}
	if sum(room) == 0 {
		return nil, notApplicable("there is no rail that all nodes have")
	}
	narrowest := &railKind{room: room}
	best, least := 0, math.Inf(1)
	for count := 1; count <= b.rails*mostRailUnits && least > fewUnitsLoss; count++ {
		if full := narrowest.fullest(count); full < least {
			best, least = count, full
		}
	}
	out := make([]railPart, b.rails)
	for i, n := range narrowest.deal(best) {
		out[i] = railPart{i, int32(n)}
	}
	slices.SortStableFunc(out, func(x, y railPart) int { return cmp.Compare(y.chunks, x.chunks) })
	return out, nil
}

// commonRoom is what the way of each rail into the network carries in every node.
func (r *request) commonRoom(b *reroutes) ([]float64, error) {
	room, nodes := slices.Repeat([]float64{math.Inf(1)}, b.rails), r.nodes()
	for i, ranks := range nodes {
		leave, enter, err := r.gatewaysOf(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return nil, err
		}
		out, in := ofFirst(leave), ofFirst(enter)
		for rail, rank := range b.rank[i] {
			if at := slices.Index(ranks, rank); at >= 0 {
				room[rail] = min(room[rail], out[at], in[at])
			} else {
				room[rail] = 0
			}
		}
	}
	return room, nil
}

// ofFirst are the rates of gateways, of those that share an adapter all at the first one: fewer rails take as much, and are as wide as
// others.
func ofFirst(list []gateway) []float64 {
	out, shared := make([]float64, len(list)), rates(list)
	for i, g := range list {
		if shared[i] > 0 {
			out[slices.IndexFunc(list, func(o gateway) bool { return o.nic == g.nic && o.hops == g.hops })] += shared[i]
		}
	}
	return out
}

// inOrder are ranks in an order; nil: as they are.
func inOrder(ranks schedule.RankList, order []int32) schedule.RankList {
	if order == nil {
		return ranks
	}
	out := make(schedule.RankList, len(order))
	for i, at := range order {
		out[i] = ranks[at]
	}
	return out
}
