package pack

import (
	"math"
	"math/rand/v2"
	"slices"
)

// entering packs trees of height three at most for nodes of GPUs that are not all alike,
// since a NIC or a GPU is lost or slow. The data of a root goes to all GPUs of its node.
// Into every other node it goes over one or more rails, from whichever of these GPUs has
// the rail; the GPU where it enters first sends it to those of its node where it does not
// enter. Which way each part takes is decided by prices of links that rise with their
// load, part by part and again and again (like the paths of all-to-alls: Garg, Könemann,
// 1998), so that in the end all that limits is full at once.
type entering struct {
	ways    *ways
	node    []int32   // by rank
	members [][]int32 // by node
	both    bool      // hops carry as much both ways, and parts choose their root
	parts   []part

	load, price []float64 // by resource: what its parts take of a second, and what more would cost
	full        float64
	steepness   int
	enough      float64 // where full need not be lower
	chance      *rand.Rand
}

// part is one of the equal parts of the data, and its tree.
type part struct {
	root   int32
	parent []int32
}

const (
	// Prices grow with a power of loads that rises round by round.
	enterFirst, enterStep, enterRounds = 8, 3, 14
)

// entries are trees with so many parts for each root, or as many for each rank together
// where both ways count; nil where not all ranks of a node reach one another without the
// network, or there is one node.
func (s *search) entries(each int, both bool) *Packing {
	w := s.ways(both)
	if w == nil {
		return nil
	}
	e := &entering{ways: w, node: make([]int32, s.g.Ranks), members: make([][]int32, s.g.t.NumNodes()), both: both,
		load: make([]float64, w.resources), price: make([]float64, w.resources), full: 1, steepness: enterFirst, enough: float64(each) / s.bound.Rate.Float() / nearEnough, chance: rand.New(rand.NewPCG(uint64(each), 7))}
	for r := range s.g.Ranks {
		e.node[r] = int32(s.g.t.NodeOf(r))
		e.members[e.node[r]] = append(e.members[e.node[r]], int32(r))
	}
	if both {
		e.enough *= float64(s.g.Ranks)
	}
	for range each {
		for r := range int32(s.g.Ranks) {
			e.parts = append(e.parts, part{root: r})
		}
	}
	e.settle()
	p := &Packing{Use: AllGather, K: int64(each), Method: "rails and stars by prices"}
	if both {
		p.Use, p.K = AllReduce, int64(len(e.parts))
	}
	p.Trees = e.trees()
	return p
}

// portions considers entries with a few numbers of parts and says whether they come near
// enough to the bound. Exact packings load connections more evenly, so that their messages
// keep better to their order, but take seconds beyond some dozens of ranks.
func (s *search) portions(use Use) bool {
	exact := mostExact
	if use == AllReduce {
		exact = mostExactTwice
	}
	if s.g.t == nil || s.g.t.NumNodes() < 2 || s.g.Ranks <= exact {
		return false
	}
	gpus := make([]int, s.g.t.NumNodes())
	for r := range s.g.Ranks {
		gpus[s.g.t.NodeOf(r)]++
	}
	others := max(slices.Max(gpus)-1, 1) // over which a lost NIC's share is spread
	for _, each := range []int{others, others + 1, 2 * others, 2 * (others + 1)} {
		if each > others && each*s.g.Ranks > mostPortions {
			break
		}
		p := s.entries(each, use == AllReduce)
		if p == nil {
			return false
		}
		if s.keep(p, each <= fewParts); s.best != nil && s.best.Share >= fair {
			return true
		}
	}
	return s.best.Share >= good
}

const (
	fair = 0.99 // of the bound: what is left is less than what pipelines lose
	good = 0.97 // the same once all has been tried

	mostPortions = 640 // parts of all data

	// Up to so many ranks exact packings take some seconds at most.
	mostExact      = 64
	mostExactTwice = 32 // for all-reduces
)

// settle routes all parts again and again and keeps what loads the fullest link least.
func (e *entering) settle() {
	for i := range e.load {
		e.reprice(int32(i))
	}
	least := math.Inf(1)
	var best []part
	for round := range enterRounds {
		e.steepness = enterFirst + enterStep*round
		for i := range e.parts {
			e.reroute(&e.parts[i])
		}
		e.full = slices.Max(e.load)
		if e.full < least {
			least, best = e.full, slices.Clone(e.parts)
		}
		if least <= e.enough {
			break
		}
		for i := range e.load {
			e.reprice(int32(i))
		}
	}
	e.parts = best
}

// reroute takes a part off its tree and gives it the cheapest one, of its root or of
// another.
func (e *entering) reroute(p *part) {
	e.carry(p, -1)
	parent, c := e.cheapest(p.root)
	if e.both {
		other := int32(e.chance.IntN(len(e.node)))
		if tree, d := e.cheapest(other); d < c {
			p.root, parent = other, tree
		}
	}
	p.parent = parent
	e.carry(p, 1)
}

// carry adds a part's tree to the loads, or takes it away.
func (e *entering) carry(p *part, by float64) {
	for v, u := range p.parent {
		if u < 0 {
			continue
		}
		for _, x := range e.ways.hop(u, int32(v)) {
			e.load[x.resource] += by * x.time
			e.reprice(x.resource)
		}
	}
}

func (e *entering) reprice(i int32) {
	x, price := e.load[i]/e.full+1e-3, 1.0
	for n := e.steepness; n > 0; n /= 2 {
		if n%2 == 1 {
			price *= x
		}
		x *= x
	}
	e.price[i] = price
}

// cost is the price of a hop; infinite where there is none.
func (e *entering) cost(u, v int32) float64 {
	list := e.ways.hop(u, v)
	if list == nil {
		return math.Inf(1)
	}
	c := 0.0
	for _, x := range list {
		c += x.time * e.price[x.resource]
	}
	return c
}

// cheapest is a root's tree at present prices.
func (e *entering) cheapest(root int32) ([]int32, float64) {
	parent := make([]int32, len(e.node))
	parent[root] = -1
	total := 0.0
	home := e.node[root]
	for _, v := range e.members[home] {
		if v != root {
			parent[v] = root
			total += e.cost(root, v)
		}
	}
	for m := range e.members {
		if int32(m) != home {
			total += e.enter(int32(m), home, parent)
		}
	}
	return parent, total
}

// enter chooses where data from all GPUs of a home node enters another one.
func (e *entering) enter(m, home int32, parent []int32) float64 {
	in := e.members[m]
	over := make([]float64, len(in)) // of entering there
	for i, v := range in {
		over[i] = math.Inf(1)
		for _, u := range e.ways.into(home, v) {
			if c := e.cost(u, v); c < over[i] {
				over[i], parent[v] = c, u
			}
		}
	}
	first, least := -1, math.Inf(1)
	for i, u := range in {
		c := over[i]
		for j, v := range in {
			if c >= least {
				break
			}
			if j != i {
				c += min(over[j], e.cost(u, v))
			}
		}
		if c < least {
			first, least = i, c
		}
	}
	if first < 0 {
		return math.Inf(1)
	}
	for j, v := range in {
		if j != first && e.cost(in[first], v) <= over[j] {
			parent[v] = in[first]
		}
	}
	return least
}

// trees are those of all parts by root, equal ones joined.
func (e *entering) trees() [][]Tree {
	out := make([][]Tree, len(e.node))
	for _, p := range e.parts {
		list := out[p.root]
		i := slices.IndexFunc(list, func(t Tree) bool { return slices.Equal(t.Parent, p.parent) })
		if i >= 0 {
			list[i].Weight++
			continue
		}
		out[p.root] = append(list, Tree{1, p.parent})
	}
	return out
}
