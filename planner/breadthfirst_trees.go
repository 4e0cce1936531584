package planner

import (
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner/pack"
)

// hop is a link on a shortest way to a rank.
type hop struct {
	from int32
	rate int64 // in the largest unit of which all rates are multiples
}

// shortest are the shortest ways between all ranks over direct links, out from each root;
// or, backwards, in to it.
type shortest struct {
	into  [][]hop   // [rank]: from whom it has links
	dist  [][]int32 // [root][rank]
	steps int       // the largest distance
}

// breadthFirstWays are those out and in.
type breadthFirstWays struct{ out, in *shortest }

// breadthFirst finds them if direct links, or routes, join all ranks and leave some of them apart;
// where everybody has links to everybody, direct is as good.
func (r *request) breadthFirst() (*breadthFirstWays, error) {
	type key struct{}
	if n := r.spec.Ranks; n > maxPackedRanks {
		return nil, notApplicable("%d ranks: at most %d", n, maxPackedRanks)
	}
	return topology.OnceOr(r.t, key{}, r.findBreadthFirst)
}

func (r *request) findBreadthFirst() (*breadthFirstWays, error) {
	n := r.spec.Ranks
	near := r.neighbours()
	if near == nil {
		return nil, notApplicable("ranks have no direct links")
	}
	complete, unit := true, int64(0)
	out, in := make([][]hop, n), make([][]hop, n)
	for a := range n {
		complete = complete && len(near[a]) == n-1
		for _, b := range near[a] {
			route, err := r.router.Route(a, int(b))
			if err != nil {
				return nil, notApplicable("%v", err)
			}
			out[a] = append(out[a], hop{b, int64(route.Rate)})
			in[b] = append(in[b], hop{int32(a), int64(route.Rate)})
			unit = units.GCD(unit, int64(route.Rate))
		}
	}
	if complete {
		return nil, notApplicable("every rank has links to every other")
	}
	for v := range n {
		inUnits(out[v], unit)
		inUnits(in[v], unit)
	}
	ways := &breadthFirstWays{newShortest(in, out), newShortest(out, in)}
	for _, dist := range ways.out.dist {
		if slices.Contains(dist, -1) {
			return nil, notApplicable("links and routes do not join all ranks")
		}
	}
	return ways, nil
}

// neighbours are those whom each rank has links to; where not all reach one another by routes, those to whom it has routes. Nil
// where routes reach all and some have no links.
func (r *request) neighbours() [][]int32 {
	if r.allRoutable() != nil {
		if g := r.routed(); g != nil {
			return g.Near()
		}
	}
	if g := directGraph(r.t, identity(r.spec.Ranks)); g != nil {
		return g.next
	}
	return nil
}

// routed is the graph of routes, over hosts too, where faults have left some ranks none to others: their data are passed
// on. nil where all reach one another, so that messages need nobody else.
func (r *request) routed() *pack.Graph {
	if r.router.ReachesAll() || pack.ScaleUp(r.t).Adjacent() {
		return nil
	}
	n := int32(r.spec.Ranks)
	g, missing := &pack.Graph{Ranks: int(n), Vertices: int(n)}, false
	for a := range n {
		for b := range n {
			if route, err := r.router.Route(int(a), int(b)); err != nil {
				missing = true
			} else if a != b {
				g.Edges = append(g.Edges, pack.Edge{From: a, To: b, Cap: int64(route.Rate)})
			}
		}
	}
	if !missing {
		return nil
	}
	return g
}

func inUnits(list []hop, unit int64) {
	for i := range list {
		list[i].rate /= unit
	}
}

// newShortest measures distances along links.
func newShortest(into, along [][]hop) *shortest {
	x := &shortest{into: into}
	for root := range along {
		dist := slices.Repeat([]int32{-1}, len(along))
		dist[root] = 0
		for front := []int32{int32(root)}; len(front) > 0; front = front[1:] {
			for _, h := range along[front[0]] {
				if dist[h.from] < 0 {
					dist[h.from] = dist[front[0]] + 1
					front = append(front, h.from)
				}
			}
		}
		x.dist = append(x.dist, dist)
		x.steps = max(x.steps, int(slices.Max(dist)))
	}
	return x
}

// step is what a rank receives in step t: the blocks of the roots that are t away, each
// from any of the neighbours that are nearer to its root.
func (x *shortest) step(v, t int) (roots []int32, b *balance) {
	b = &balance{past: make([]int64, len(x.into[v]))}
	for _, h := range x.into[v] {
		b.rates = append(b.rates, h.rate)
	}
	for root := range x.dist {
		if int(x.dist[root][v]) != t {
			continue
		}
		var links []int32
		for i, h := range x.into[v] {
			if int(x.dist[root][h.from]) == t-1 {
				links = append(links, int32(i))
			}
		}
		roots, b.links = append(roots, int32(root)), append(b.links, links)
	}
	return roots, b
}

// trees are those of each of so many pieces of every block, by piece and root the parents: in each step, and for each
// rank, the fullest link carries as little as it can.
func (x *shortest) trees(pieces int) [][][]int32 {
	n := len(x.dist)
	out := make([][][]int32, pieces)
	for i := range out {
		for range n {
			out[i] = append(out[i], slices.Repeat([]int32{-1}, n))
		}
	}
	for v := range n {
		past := make([]int64, len(x.into[v]))
		for t := 1; t <= x.steps; t++ {
			roots, b := x.step(v, t)
			b.past = past
			b.deal(int64(pieces))
			for k, load := range b.load {
				past[k] += load
			}
			for i, root := range roots {
				x.attach(out, v, root, b.share[i], i)
			}
		}
	}
	return out
}

// attach gives v as many pieces of a root from each neighbour as it has a share in; from
// root to root, another piece is the first.
func (x *shortest) attach(out [][][]int32, v int, root int32, share []int64, first int) {
	for link, pieces := range share {
		for range pieces {
			out[first%len(out)][root][v] = x.into[v][link].from
			first++
		}
	}
}

// maxBlockPieces bounds the pieces of a block: trees hold n² hops for each.
func maxBlockPieces(ranks int) int { return min(max(1<<16/(ranks*ranks), 4), 64) }
