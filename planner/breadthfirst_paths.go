package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// deliver moves each block on its own from its source along the tree of that source:
// all-to-all, scatter, gather, send-receive and barrier (a message to everybody). On
// the way a block waits in the scratch buffer, in a copy for each source.
func (b *breadthFirst) deliver(r *request) [][]schedule.Op {
	programs := make([]program, b.n)
	var moves [][]move // by step
	for src := range b.n {
		for dst := range b.n {
			if !carries(r, src, dst) {
				continue
			}
			from, to := r.ends(src, dst)
			if src == dst {
				if r.spec.Kind != collective.Barrier {
					programs[src].copy(from, to)
				}
				continue
			}
			path := b.path(src, dst)
			for step := 1; step < len(path); step++ {
				m := move{path[step-1], path[step], b.waiting(r, src, dst), b.waiting(r, src, dst)}
				if step == 1 {
					m.src = from
				}
				if step == len(path)-1 {
					m.dst = to
				}
				for len(moves) < step {
					moves = append(moves, nil)
				}
				moves[step-1] = append(moves[step-1], m)
			}
		}
	}
	for _, step := range moves {
		for _, m := range step {
			programs[m.from].send(m.to, m.src)
		}
		for _, m := range step {
			programs[m.to].recv(m.from, m.dst)
		}
	}
	out := make([][]schedule.Op, b.n)
	for i := range programs {
		out[i] = programs[i].ops
	}
	return out
}

// move is one hop of a block.
type move struct {
	from, to int32
	src, dst schedule.Loc
}

// carries reports whether a collective has a block from src to dst.
func carries(r *request, src, dst int) bool {
	switch r.spec.Kind {
	case collective.Gather:
		return dst == r.spec.Root
	case collective.Scatter:
		return src == r.spec.Root
	case collective.SendRecv:
		return dst == (src+1)%r.spec.Ranks
	}
	return true // all_to_all, barrier
}

// ends are the places of a block at its source and at its destination.
func (r *request) ends(src, dst int) (from, to schedule.Loc) {
	in, out := src, src // gather
	switch r.spec.Kind {
	case collective.AllToAll:
		in = dst
	case collective.Scatter:
		in, out = dst, dst
	case collective.SendRecv:
		in, out = 0, 0
	case collective.Barrier:
		return schedule.Loc{}, schedule.Loc{}
	}
	return chunkAt(schedule.Input, in), chunkAt(schedule.Output, out)
}

// waiting is where a block stays between hops.
func (b *breadthFirst) waiting(r *request, src, dst int) schedule.Loc {
	switch r.spec.Kind {
	case collective.Barrier:
		return schedule.Loc{}
	case collective.SendRecv:
		return chunkAt(schedule.Scratch, src)
	}
	return chunkAt(schedule.Scratch, src*b.n+dst)
}

// path is the way from src to dst, both included.
func (b *breadthFirst) path(src, dst int) []int32 {
	var out []int32
	for v := int32(dst); v >= 0; v = b.parent[src][v] {
		out = append(out, v)
	}
	slices.Reverse(out)
	return out
}

// neighbour is a rank that another reaches without passing through a third.
type neighbour struct {
	rank int32
	rate float64 // bytes/s
}

// neighbours is the graph of direct links if it joins all ranks and leaves some of them
// apart; where everybody has links to everybody, direct is as good.
func (r *request) neighbours() ([][]neighbour, error) {
	ranks := identity(r.spec.Ranks)
	g := directGraph(r.t, ranks)
	if g == nil {
		return nil, notApplicable("ranks have no direct links")
	}
	out := make([][]neighbour, len(ranks))
	complete := true
	for a := range out {
		complete = complete && len(g.next[a]) == len(ranks)-1
		for _, b := range g.next[a] {
			route, err := r.router.Route(a, int(b))
			if err != nil {
				return nil, notApplicable("%v", err)
			}
			out[a] = append(out[a], neighbour{b, float64(route.Rate)})
		}
	}
	if complete {
		return nil, notApplicable("every rank has links to every other")
	}
	if !g.connected() {
		return nil, notApplicable("direct links do not join all ranks")
	}
	return out, nil
}

// newBreadthFirst grows the trees of all roots together, step by step. In step t each
// rank picks, for every root that is t away, the neighbour nearer to it whose link has
// least to do in this step; roots with the fewest choices come first. turn rotates the
// order in which equal neighbours are tried.
func newBreadthFirst(g [][]neighbour, turn int) *breadthFirst {
	n := len(g)
	b := &breadthFirst{n: n, dist: distances(g), parent: make([][]int32, n), below: make([][][]int32, n)}
	for root := range n {
		b.parent[root] = slices.Repeat([]int32{-1}, n)
		b.below[root] = make([][]int32, n)
		b.steps = max(b.steps, int(slices.Max(b.dist[root])))
	}
	total := make([]float64, n) // by neighbour of v, over the steps so far
	for v := range n {
		clear(total)
		for t := 1; t <= b.steps; t++ {
			b.choose(g[v], v, t, turn, total)
		}
	}
	for root := range n {
		for v := range n {
			if p := b.parent[root][v]; p >= 0 {
				b.below[root][p] = append(b.below[root][p], int32(v))
			}
		}
	}
	return b
}

// choose picks the parents of v for all roots that are t away.
func (b *breadthFirst) choose(near []neighbour, v, t, turn int, total []float64) {
	var roots []int
	options := map[int][]neighbour{}
	for root := range b.n {
		if int(b.dist[root][v]) != t {
			continue
		}
		roots = append(roots, root)
		for i := range near {
			if x := near[(i+turn)%len(near)]; int(b.dist[root][x.rank]) == t-1 {
				options[root] = append(options[root], x)
			}
		}
	}
	slices.SortStableFunc(roots, func(x, y int) int { return len(options[x]) - len(options[y]) })
	now := map[int32]float64{}
	for _, root := range roots {
		best := options[root][0]
		load := func(x neighbour) float64 { return now[x.rank] + 1/x.rate }
		for _, x := range options[root][1:] {
			if load(x) < load(best) || load(x) == load(best) && total[x.rank] < total[best.rank] {
				best = x
			}
		}
		now[best.rank] += 1 / best.rate
		total[best.rank] += 1 / best.rate
		b.parent[root][v] = best.rank
	}
}

// distances are the hops between all pairs.
func distances(g [][]neighbour) [][]int32 {
	out := make([][]int32, len(g))
	for root := range g {
		dist := slices.Repeat([]int32{-1}, len(g))
		dist[root] = 0
		for front := []int32{int32(root)}; len(front) > 0; front = front[1:] {
			for _, x := range g[front[0]] {
				if dist[x.rank] < 0 {
					dist[x.rank] = dist[front[0]] + 1
					front = append(front, x.rank)
				}
			}
		}
		out[root] = dist
	}
	return out
}
