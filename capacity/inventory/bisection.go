package inventory

import (
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/pack"
)

// bisection is the most that the first half of the nodes can send to the rest over the network, or in one node the first half
// of its GPUs: a maximum flow in which each half is one vertex, so that what is between members of one half does not count.
// It is 0 for a single GPU.
func bisection(t *topology.Topology) units.Rate {
	if t.NumRanks() < 2 {
		return 0
	}
	const first, second = 0, 1
	vertex := make([]int32, len(t.Devices()))
	count := int32(2)
	for i := range t.Devices() {
		switch place, of := member(t, topology.DeviceID(i)); {
		case place < 0:
			vertex[i] = count
			count++
		case place >= of/2:
			vertex[i] = second
		default:
			vertex[i] = first
		}
	}
	edges := make([]pack.Edge, len(t.Links()))
	for i, l := range t.Links() {
		edges[i] = pack.Edge{From: vertex[l.From], To: vertex[l.To], Cap: int64(t.Rate(topology.LinkID(i)))}
	}
	g, err := pack.New(2, int(count), edges)
	if err != nil {
		panic(err) // all vertices are numbered above
	}
	return units.Rate(pack.BroadcastBound(g, first).Rate.Float())
}

// member is which of a topology's nodes a device is part of, or of a single node which GPU it is; and of how many. It is
// negative for what joins them.
func member(t *topology.Topology, d topology.DeviceID) (place, of int) {
	if n := t.NumNodes(); n > 1 {
		return int(t.Devices()[d].Node), n
	}
	return t.RankOf(d), t.NumRanks()
}
