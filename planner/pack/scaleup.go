package pack

import (
	"slices"

	"railyard/model/topology"
)

// Links are the links between ranks and, behind these, scale-up switches; those that are alike are one vertex, whose ways what goes
// over it shares.
type Links struct {
	*Graph
	Switches [][]topology.DeviceID // by vertex behind the ranks
}

// ScaleUp are those of scale-up switches and from rank to rank: without hosts and networks.
func ScaleUp(t *topology.Topology) *Links {
	type key struct{}
	return topology.Once(t, key{}, func() *Links {
		b := newBuilder(t)
		b.scaleUp()
		b.direct()
		r := newReducer(&Graph{Ranks: t.NumRanks(), Vertices: len(b.vertex.All), Edges: b.edges})
		for r.twins() {
		}
		l := &Links{Graph: r.graph(&Graph{Ranks: t.NumRanks()})}
		for _, members := range r.members[t.NumRanks():] {
			if members == nil {
				continue
			}
			var devices []topology.DeviceID
			for _, v := range members {
				devices = append(devices, b.vertex.All[v].device)
			}
			slices.Sort(devices)
			l.Switches = append(l.Switches, devices)
		}
		return l
	})
}

// Adjacent reports whether every rank reaches all others without a third one.
func (l *Links) Adjacent() bool { return !l.anyWays(func(ways int) bool { return ways == 0 }) }

// Choices reports whether there are ranks with several ways to one another: over one switch or another, or over none.
func (l *Links) Choices() bool { return l.anyWays(func(ways int) bool { return ways > 1 }) }

// Meshed reports whether switches lead to one another by several ways: whether links between them make a ring.
func (l *Links) Meshed() bool {
	joined := map[[2]int32]bool{}
	for _, e := range l.Edges {
		if a, b := min(e.From, e.To), max(e.From, e.To); int(a) >= l.Ranks {
			joined[[2]int32{a, b}] = true
		}
	}
	return len(joined) >= l.Vertices-l.Ranks && len(joined) > 0
}

// anyWays reports whether a number of ways from a rank to another, over links into it, is one looked for.
func (l *Links) anyWays(is func(ways int) bool) bool {
	start := l.starts()
	for u := range l.Ranks {
		for v, n := range l.waysFrom(u, start) {
			if v != u && is(n) {
				return true
			}
		}
	}
	return false
}

// waysFrom is, by rank, over how many links into it data from another reach it without passing a third one.
func (l *Links) waysFrom(u int, start []int32) []int {
	ways, seen := make([]int, l.Ranks), make([]bool, l.Vertices)
	for front := []int32{int32(u)}; len(front) > 0; front = front[1:] {
		for _, e := range l.Edges[start[front[0]]:start[front[0]+1]] {
			switch v := e.To; {
			case int(v) < l.Ranks:
				ways[v]++
			case !seen[v]:
				seen[v], front = true, append(front, v)
			}
		}
	}
	return ways
}
