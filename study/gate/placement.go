package gate

import (
	"fmt"
	"slices"

	"railyard/model/topology"
)

// misplaced is a job on as many nodes as before, but in two groups of the outermost tier of the whole machine in turn, as a scheduler
// that does not know the network hands them out: every step of NCCL's ring between nodes then crosses from one group to the other. ok is
// false where there are no two groups.
func misplaced(whole *topology.Topology, nodes int) (s Fault, ok bool, err error) {
	tiers := whole.Tiers()
	outer := tiers[len(tiers)-1]
	if nodes < 2 || len(tiers) < 2 || outer.Groups < 2 {
		return s, false, nil
	}
	first, groups := make([]int, whole.NumNodes()), make([][]int, outer.Groups) // ranks of nodes; nodes of groups
	for rank := range whole.Ranks() {
		node := whole.NodeOf(rank)
		if rank == 0 || whole.NodeOf(rank-1) != node {
			first[node] = rank
			groups[outer.Of[rank]] = append(groups[outer.Of[rank]], node)
		}
	}
	inOrder := slices.Concat(groups...)[:nodes]
	inTurn := slices.Concat(interleaved(groups[:2]), slices.Concat(groups[2:]...))[:nodes]
	packed, err := crowding(whole, first, inOrder)
	if err != nil {
		return s, false, err
	}
	mixed, err := crowding(whole, first, inTurn)
	s = Fault{Kind: Misplaced, What: fmt.Sprintf("ranks in turn on two of %d groups (%s)", outer.Groups, outer.Name),
		crowded: mixed / packed}
	return s, packed > 0, err
}

// interleaved takes one of each list in turn.
func interleaved(lists [][]int) (out []int) {
	for i := 0; ; i++ {
		before := len(out)
		for _, list := range lists {
			if i < len(list) {
				out = append(out, list[i])
			}
		}
		if len(out) == before {
			return out
		}
	}
}

// crowding is how long the fullest link of the network takes, in seconds a byte, where each GPU of a node sends a byte to its like of the
// next one, all round.
func crowding(t *topology.Topology, first, nodes []int) (fullest float64, err error) {
	router, load := topology.NewRouter(t), map[topology.LinkID]float64{}
	for i, node := range nodes {
		from, to := first[node], first[nodes[(i+1)%len(nodes)]]
		for k := 0; from+k < t.NumRanks() && t.NodeOf(from+k) == node; k++ {
			route, err := router.Route(from+k, to+k)
			if err != nil {
				return 0, err
			}
			for _, h := range route.Hops {
				if t.Class(h.Link).Medium == topology.Network {
					load[h.Link] += float64(h.Num) / float64(h.Den) / float64(t.Rate(h.Link))
					fullest = max(fullest, load[h.Link])
				}
			}
		}
	}
	return fullest, nil
}
