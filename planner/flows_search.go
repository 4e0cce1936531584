package planner

import (
	"math"
	"slices"
)

// rerouteFrom is reroute for what a rank sends. A unit keeps its path where none was cheaper when paths to all were found last.
func (f *flow) rerouteFrom(src int) {
	n := f.g.Vertices
	known := false
	for i := src * n * f.units; i < (src+1)*n*f.units; i++ {
		p := f.paths[i]
		if p == nil {
			continue
		}
		f.count(p, -f.size(i))
		dst := p[len(p)-1]
		if !known {
			f.reach(int32(src), -1, f.size(i))
			copy(f.least, f.cost)
			known = true
		}
		if f.costOf(p, f.size(i)) > f.least[dst] {
			if f.paths[i] = f.cheapest(int32(src), dst, f.size(i)); !slices.Equal(p, f.paths[i]) {
				known = false
			}
		}
		f.count(f.paths[i], f.size(i))
	}
}

// costOf is what a path costs a unit of a size.
func (f *flow) costOf(path []int32, size float64) (sum float64) {
	for i := 1; i < len(path); i++ {
		sum += f.price(path[i-1], path[i], size)
	}
	return sum
}

// cheapest is Dijkstra's path (1959); of equal ones that through the lowest ranks.
func (f *flow) cheapest(src, dst int32, size float64) []int32 {
	f.reach(src, dst, size)
	return f.pathTo(src, dst)
}

// reach finds what the way of a unit to a vertex costs; −1: to all. From rank to rank it takes their direct link, where they have
// one, unless flows are mixed: a connection over links and switches at once goes as fast as the fuller of them allows.
func (f *flow) reach(src, dst int32, size float64) {
	for v := range f.cost {
		f.cost[v] = math.Inf(1)
	}
	f.cost[src] = 0
	f.front.Clear()
	f.front.Push(reached{src, 0})
	for f.front.Len() > 0 {
		at := f.front.Pop()
		if at.v == dst {
			return
		}
		if at.cost > f.cost[at.v] {
			continue // a cheaper way there was found since
		}
		last := f.lastRank(at.v)
		for _, w := range f.g.next[at.v] {
			if !f.mixed && last != at.v && f.g.joins(last, w) {
				continue
			}
			if c := at.cost + f.price(at.v, w, size); c < f.cost[w] {
				f.cost[w], f.from[w] = c, at.v
				f.front.Push(reached{w, c})
			}
		}
	}
}

// lastRank is the last rank on the way to a vertex.
func (f *flow) lastRank(v int32) int32 {
	for int(v) >= f.g.Ranks {
		v = f.from[v]
	}
	return v
}

// reached is a vertex and what the way there cost when it was found.
type reached struct {
	v    int32
	cost float64
}

func (a reached) before(b reached) bool { return a.cost < b.cost || a.cost == b.cost && a.v < b.v }

// pathTo follows from back to the source.
func (f *flow) pathTo(src, dst int32) []int32 {
	path := []int32{dst}
	for v := dst; v != src; v = f.from[v] {
		path = append(path, f.from[v])
	}
	slices.Reverse(path)
	return path
}

// price is what one more unit of a size costs on an arc.
func (f *flow) price(a, b int32, size float64) (sum float64) {
	longest := 0.0
	for _, t := range f.g.takes(a, b) {
		longest = max(longest, t.Time)
		known := &f.know[t.Resource]
		if taken := size * t.Time; known.taken != taken {
			*known = fullness{taken, power((f.load[t.Resource]+taken)/f.of, f.steepness)}
		}
		sum += t.Time * known.price
	}
	return sum + 1e-6*longest
}

// power is x to the kth.
func power(x float64, k int) float64 {
	out := 1.0
	for ; k > 0; k >>= 1 {
		if k&1 > 0 {
			out *= x
		}
		x *= x
	}
	return out
}
