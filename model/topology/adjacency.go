package topology

import "iter"

// graph are directed links between devices, found from either end.
type graph struct {
	links   []Link
	out, in adjacency
}

// newGraph is the graph of links between n devices.
func newGraph(n int, links []Link) graph {
	return graph{links, buildAdjacency(n, links, func(l Link) DeviceID { return l.From }),
		buildAdjacency(n, links, func(l Link) DeviceID { return l.To })}
}

// step are the links out of a device (back: into it) with the devices at their other ends.
func (g *graph) step(d DeviceID, back bool) iter.Seq2[LinkID, DeviceID] {
	return func(yield func(LinkID, DeviceID) bool) {
		for _, l := range g.at(d, back) {
			if !yield(l, g.end(l, back)) {
				return
			}
		}
	}
}

// at are the links out of a device (back: into it), ascending.
func (g *graph) at(d DeviceID, back bool) []LinkID {
	if back {
		return g.in.of(d)
	}
	return g.out.of(d)
}

// end is the device that a link leads to (back: that it comes from).
func (g *graph) end(l LinkID, back bool) DeviceID {
	if back {
		return g.links[l].From
	}
	return g.links[l].To
}

// adjacency lists link numbers by device (compressed rows).
type adjacency struct {
	start []int32
	links []LinkID
}

func (a *adjacency) of(d DeviceID) []LinkID { return a.links[a.start[d]:a.start[d+1]] }

func buildAdjacency(n int, links []Link, end func(Link) DeviceID) adjacency {
	a := adjacency{start: make([]int32, n+1), links: make([]LinkID, len(links))}
	for _, l := range links {
		a.start[end(l)+1]++
	}
	for i := range n {
		a.start[i+1] += a.start[i]
	}
	fill := append([]int32(nil), a.start[:n]...)
	for i, l := range links {
		d := end(l)
		a.links[fill[d]] = LinkID(i)
		fill[d]++
	}
	return a
}
