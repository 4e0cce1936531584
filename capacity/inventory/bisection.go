package inventory

import (
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/pack"
)

// bisection is the most that the first half of the nodes can send to the rest over the
// network: a maximum flow in which each half is one vertex, so that what is inside of a
// node or between nodes of one half does not count.
func bisection(t *topology.Topology) units.Rate {
	n := int32(t.NumNodes())
	if n < 2 {
		return 0
	}
	const first, second = 0, 1
	vertex := make([]int32, len(t.Devices()))
	count := int32(2)
	for i, d := range t.Devices() {
		switch {
		case d.Node < 0:
			vertex[i] = count
			count++
		case d.Node >= n/2:
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
