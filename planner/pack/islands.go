package pack

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/topology"
)

// islands are groups of ranks that reach one another without those of others: nodes, or, in a flat graph, the ranks on a switch.
type islands struct {
	of      []int32   // by rank
	members [][]int32 // by island
	paths   []Path    // of hops inside, where these are not the routes of the topology
}

func (s *search) islands() (*islands, error) {
	t := s.g.t
	if t == nil {
		return nil, fmt.Errorf("pack: there is one node")
	}
	x := &islands{of: slices.Repeat([]int32{-1}, s.g.Ranks)}
	if t.NumNodes() > 1 {
		x.members = make([][]int32, t.NumNodes())
		for r := range x.of {
			x.of[r] = int32(t.NodeOf(r))
			x.members[x.of[r]] = append(x.members[x.of[r]], int32(r))
		}
		return x, nil
	}
	return x, x.onSwitches(t)
}

// hub is a switch, or some that are alike, and the ranks on it.
type hub struct {
	over  []topology.DeviceID
	ranks []int32
	rate  int64 // of the slowest link to or from a rank
}

func hubs(t *topology.Topology) []hub {
	up := ScaleUp(t)
	out := make([]hub, len(up.Switches))
	for i, over := range up.Switches {
		out[i] = hub{over, nil, math.MaxInt64}
	}
	for _, e := range up.Edges {
		if v, sw := min(e.From, e.To), int(max(e.From, e.To))-t.NumRanks(); int(v) < t.NumRanks() && sw >= 0 {
			h := &out[sw]
			h.rate = min(h.rate, e.Cap)
			if e.From == v {
				h.ranks = append(h.ranks, v)
			}
		}
	}
	return out
}

// onSwitches are islands each on a switch with links to no other rank, the fastest switches first. Hops inside go over that one,
// whatever others the ranks have in common.
func (x *islands) onSwitches(t *topology.Topology) error {
	list := slices.DeleteFunc(hubs(t), func(h hub) bool { return len(h.ranks) < 2 || len(h.ranks) == len(x.of) })
	slices.SortStableFunc(list, func(a, b hub) int { return cmp.Or(cmp.Compare(b.rate, a.rate), len(b.ranks)-len(a.ranks)) })
	use, left := PathUse{}, len(x.of)
	for _, h := range list {
		if slices.ContainsFunc(h.ranks, func(r int32) bool { return x.of[r] >= 0 }) {
			continue
		}
		for _, u := range h.ranks {
			x.of[u] = int32(len(x.members))
			for _, v := range h.ranks {
				if u != v {
					use.Add(u, v, [][]topology.DeviceID{h.over}, 1)
				}
			}
		}
		x.members = append(x.members, h.ranks)
		left -= len(h.ranks)
	}
	if left > 0 || len(x.members) < 2 {
		return fmt.Errorf("pack: ranks are in one node, and not on switches of their own")
	}
	x.paths = use.Paths(t)
	return nil
}

// takePaths names the paths of the hops that trees take.
func (p *Packing) takePaths(paths []Path) {
	w := p.traffic()
	p.Paths = slices.DeleteFunc(slices.Clone(paths), func(x Path) bool { return w.weight[int(x.From)*w.n+int(x.To)] == 0 })
}
