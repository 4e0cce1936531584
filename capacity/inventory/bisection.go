package inventory

import (
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"

	"railyard/model/topology"
	"railyard/model/units"
)

// bisection is the most that the first half of the nodes can send to the rest over the
// network: a maximum flow in which a node is one vertex, so that what is inside of it does
// not count.
func bisection(t *topology.Topology) units.Rate {
	n := t.NumNodes()
	if n < 2 {
		return 0
	}
	g := simple.NewWeightedDirectedGraph(0, 0)
	vertex, vertices := contract(t)
	add := func(from, to int64, rate float64) {
		if from == to {
			return
		}
		if e := g.WeightedEdge(from, to); e != nil {
			rate += e.Weight()
		}
		g.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(from), T: simple.Node(to), W: rate})
	}
	total := 0.0
	for i, l := range t.Links() {
		rate := float64(t.Rate(topology.LinkID(i)))
		add(vertex(l.From), vertex(l.To), rate)
		total += rate
	}
	source, sink := vertices, vertices+1
	for i := range n {
		if i < n/2 {
			add(source, int64(i), total)
		} else {
			add(int64(i), sink, total)
		}
	}
	return units.Rate(network.MaxFlowDinic(g, simple.Node(source), simple.Node(sink), 1))
}

// contract numbers the vertices of the network without gaps, as the flow wants them:
// nodes first, then the switches between them.
func contract(t *topology.Topology) (vertex func(topology.DeviceID) int64, count int64) {
	of := make([]int64, len(t.Devices()))
	count = int64(t.NumNodes())
	for i, d := range t.Devices() {
		if d.Node >= 0 {
			of[i] = int64(d.Node)
			continue
		}
		of[i] = count
		count++
	}
	return func(d topology.DeviceID) int64 { return of[d] }, count
}
