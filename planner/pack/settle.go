package pack

import (
	"fmt"
	"math"
	"slices"

	"railyard/internal/heap"
)

// settling chooses trees for whole units of the data, each of which takes the hops that are the cheapest while all others are in
// place, again and again: the price of a resource grows with a power of its load, from a low one at first to a high one in the
// end. Hops are paths of arcs, so that links behind switches are shared out by what trees need of them, and of several planes of
// switches each hop takes the one with room, whatever the number of ranks.
//
// N. Garg, J. Könemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing problems", 1998.
// L. McMurchie, C. Ebeling, "PathFinder: a negotiation-based performance-driven router for FPGAs", 1995: what was too full in rounds
// before stays dearer, or else units that share it would each wait for another to leave.
// Deviation: whole units, taken off and grown anew as Prim's trees are (1957), with shortest paths for edges (Dijkstra 1959), since a
// tree makes what its hops share dearer; or the cheapest arborescence at the prices before it (see cheapestTree).
type settling struct {
	*arcs         // along which the tree that grows goes
	ways  []*arcs // along which each unit has a tree: one, or of an all-reduce those along which it is summed up and spread
	units []unit
	first int32 // of equal ranks, see place
	roots int   // how many ranks are tried as the root of a unit, where any may be
	turn  int32 // the last of them

	load []float64 // by resource, in seconds
	past []float64 // by resource: how many times as dear it is for what it was too full in rounds before
	full float64   // the largest load
	dear []dear    // by resource

	looked int     // arcs
	rounds int     // in which settled trees were grown
	steep  int     // prices grow with the power of loads that so many squarings make
	near   float64 // what hops cost more the farther from the root, of their price on a full link: 1 at first, so that trees are low
	limit  int32   // how high trees should be at most
	low    bool    // whether they are to be

	// of the tree that grows, by vertex
	in    []bool  // a rank of the tree
	depth []int32 // of the rank where the path to here leaves the tree
	cost  []float64
	by    []int32               // the last arc of that path
	front heap.Indexed[float64] // of what is to be looked at: places, by what the path there costs

	directed bool // trees are the cheapest arborescences, not grown by the cheapest rank
	cheapest cheapest
}

// dear is what a unit that takes a resource for a time makes it cost, while no load changes; nothing is known of no time.
type dear struct{ time, cost float64 }

// unit is a part of the data, and its trees by way.
type unit struct {
	root  int32
	trees []*grown
}

// grown is a tree of a unit.
type grown struct {
	parent []int32
	hops   [][]int32 // by rank: the arcs from its parent
}

const (
	settleRounds          = 40
	lowerRounds           = 10   // in which no lower trees are found
	leastHeight           = 2    // trees that are lower are stars
	firstSteep, lastSteep = 2, 5 // powers of 4 to 32
	leastNear             = 1e-3
	mostPast              = 1e6   // a unit that never fits would make all else look alike
	tooHigh               = 1     // what a hop above the limit costs, in seconds for a byte: more than all others
	nearEnough            = 0.995 // the share of the bound from which on nothing is chosen anew
)

func newSettling(ways []*arcs, roots []int32) *settling {
	x := &settling{ways: ways, roots: 1}
	vertices, resources := 0, 0
	for _, a := range ways {
		vertices, resources = max(vertices, len(a.out)), max(resources, a.resources)
		x.full = max(x.full, a.longest())
	}
	for _, r := range roots {
		x.units = append(x.units, unit{root: r})
	}
	x.past, x.dear = slices.Repeat([]float64{1}, resources), make([]dear, resources)
	x.load, x.in, x.depth, x.cost = make([]float64, resources), make([]bool, vertices), make([]int32, vertices), make([]float64, vertices)
	x.by = make([]int32, vertices)
	return x
}

// place is a vertex's in the order in which equal ones are taken: another one for each unit, so that these do not all go through the same.
func (x *settling) place(v int32) int32 {
	if n := int32(x.ranks); v < n {
		return (v + n - x.first) % n
	}
	return v
}

// at is the vertex of a place.
func (x *settling) at(place int32) int32 {
	if n := int32(x.ranks); place < n {
		return (place + x.first) % n
	}
	return place
}

// anyRoot lets each unit have the root whose trees cost the least, of as many as a budget of work, in arcs, allows.
func (x *settling) anyRoot(ranks int, budget int) {
	work := 0
	for _, a := range x.ways {
		work += settleRounds * len(x.units) * len(a.list)
	}
	x.roots = min(ranks, max(2, budget/work))
}

// settle grows all trees again and again, lower ones first, and keeps the best of all rounds: those in which the fullest
// resource works the least long, until that is no more than least, or than it can be (whole), or the work is spent; a round that has begun
// is finished.
func (x *settling) settle(least, whole float64, work int) error {
	best, full := x.units, math.Inf(1)
	x.limit = math.MaxInt32
	for round := 0; round < settleRounds && (round == 0 || x.looked < work); round++ {
		done := float64(round) / (settleRounds - 1)
		x.steep, x.near = firstSteep+int(math.Round((lastSteep-firstSteep)*done)), math.Pow(leastNear, done)
		if err := x.grow(least); err != nil {
			return err
		}
		x.rounds++
		if x.full < full {
			best, full = slices.Clone(x.units), x.full
		}
		if full*nearEnough <= max(least, whole) {
			break
		}
	}
	x.units, x.full = best, full
	return nil
}

// lower grows settled trees on that are to be lower each time, since fewer levels fill sooner, as long as some are found that do hardly
// worse and work is left, and reports whether any were.
func (x *settling) lower(work int) (found bool) {
	x.low = true
	clear(x.load)
	for i := range x.units {
		x.carry(&x.units[i], 1)
	}
	best, full := slices.Clone(x.units), x.full
	goal := full / nearEnough
	x.limit = x.height() - 1
	for failed := 0; failed < lowerRounds && x.limit >= leastHeight && x.looked < work; failed++ {
		if x.grow(goal) != nil {
			break
		}
		if h := x.height(); x.full <= goal && h <= x.limit {
			best, full, found = slices.Clone(x.units), x.full, true
			x.limit, failed = h-1, 0
		}
	}
	x.units, x.full = best, full
	return found
}

// grow grows all trees anew, unit by unit, and has those without a direction of their own grow from their middle the next time. What
// works longer than it should is dearer from then on.
func (x *settling) grow(least float64) error {
	clear(x.dear)
	for i := range x.units {
		x.carry(&x.units[i], -1)
		if x.low {
			x.first = (x.units[i].root + int32(i)) % int32(x.ways[0].ranks)
		}
		u, err := x.least(x.units[i].root)
		if err != nil {
			return err
		}
		x.units[i] = u
		if x.undirected() {
			x.units[i].root, _ = rerooted(u.trees[0].parent)
		}
	}
	x.full = slices.Max(x.load)
	for r, load := range x.load {
		x.past[r] = min(max(x.past[r]*load/least, 1), mostPast)
	}
	return nil
}

// undirected reports whether data go along trees both ways.
func (x *settling) undirected() bool { return len(x.ways) == 1 && x.ways[0].up && x.ways[0].down }

// height is that of the highest tree.
func (x *settling) height() (most int32) {
	for i := range x.units {
		u := &x.units[i]
		for _, t := range u.trees {
			root, parent := u.root, t.parent
			if x.undirected() {
				root, parent = rerooted(parent)
			}
			most = max(most, int32(height(parent, root)))
		}
	}
	return most
}

// least is a unit grown from the root, of those tried, from which that costs the least.
func (x *settling) least(root int32) (best unit, err error) {
	least := math.Inf(1)
	for range x.roots {
		u := unit{root: root}
		for _, a := range x.ways {
			x.arcs = a
			t := x.tree(root)
			if t == nil {
				return u, fmt.Errorf("pack: transfers do not reach every rank")
			}
			u.trees = append(u.trees, t)
		}
		if x.roots == 1 {
			return u, nil
		}
		if c := x.worth(&u); c < least {
			best, least = u, c
		}
		x.carry(&u, -1)
		x.turn = (x.turn + 1) % int32(x.ranks)
		root = x.turn
	}
	x.carry(&best, 1)
	return best, nil
}

// carry adds the load of a unit, or takes it off.
func (x *settling) carry(u *unit, units float64) {
	for i, t := range u.trees {
		x.arcs = x.ways[i]
		for _, hop := range t.hops {
			x.take(hop, units)
		}
	}
}

// worth is what the hops of a unit cost.
func (x *settling) worth(u *unit) (sum float64) {
	for i, t := range u.trees {
		for _, hop := range t.hops {
			for _, k := range hop {
				sum += x.price(&x.ways[i].list[k], 0)
			}
		}
	}
	return sum
}

// take adds the load of units on a hop.
func (x *settling) take(hop []int32, units float64) {
	for _, i := range hop {
		for _, t := range x.list[i].takes {
			x.load[t.resource] += units * t.time
			x.dear[t.resource] = dear{}
			if x.load[t.resource] > x.full {
				x.full = x.load[t.resource]
				clear(x.dear)
			}
		}
	}
}

// price is what one more unit on an arc costs, on a path that leaves the tree at a depth.
func (x *settling) price(a *arc, depth int32) float64 {
	x.looked++
	c, time := 0.0, 0.0
	for _, t := range a.takes {
		d := &x.dear[t.resource]
		if d.time != t.time {
			*d = x.dearer(t)
		}
		c += d.cost
		time = max(time, t.time)
	}
	return c + x.near*time + x.farther(time, depth)
}

// farther is what is dearer about a hop of such a time at a depth than at the root.
func (x *settling) farther(time float64, depth int32) float64 {
	if depth >= x.limit {
		return x.near*time*float64(depth) + tooHigh
	}
	return x.near * time * float64(depth)
}

func (x *settling) dearer(t taken) dear {
	p := (x.load[t.resource] + t.time) / x.full
	for range x.steep {
		p *= p
	}
	return dear{t.time, t.time * p * x.past[t.resource]}
}

// tree grows by the cheapest rank. What it takes becomes dearer as it grows: a path that has become dearer since it was looked
// at is looked for anew. Nil where not all are reached.
func (x *settling) tree(root int32) *grown {
	if x.directed {
		return x.cheapestTree(root)
	}
	t := &grown{make([]int32, x.ranks), make([][]int32, x.ranks)}
	for v := range x.in {
		x.in[v], x.cost[v], x.by[v], x.depth[v] = false, math.Inf(1), -1, 0
	}
	t.parent[root] = -1
	x.front.Reset(len(x.in))
	x.in[root], x.cost[root] = true, 0
	x.from(root)
	for left := x.ranks - 1; left > 0; {
		if x.front.Len() == 0 {
			return nil
		}
		v := x.at(x.front.Least())
		if !x.fresh(v) {
			continue
		}
		if x.front.Remove(x.place(v)); int(v) >= x.ranks {
			x.from(v)
			continue
		}
		t.parent[v], t.hops[v] = x.path(v)
		x.take(t.hops[v], 1)
		x.in[v], x.cost[v] = true, 0
		x.depth[v]++
		x.from(v)
		left--
	}
	return t
}

// from offers the arcs from a vertex to those that they lead to.
func (x *settling) from(u int32) {
	for _, i := range x.out[u] {
		if v := x.list[i].to; !x.in[v] && x.offer(i) {
			x.front.Set(x.place(v), x.cost[v])
		}
	}
}

// offer makes an arc the last of the path to its end if that is cheaper than what is known.
func (x *settling) offer(i int32) bool {
	a := &x.list[i]
	c := x.cost[a.from] + x.price(a, x.depth[a.from])
	if c >= x.cost[a.to] || int(a.to) >= x.ranks && x.passes(a.from, a.to) {
		return false
	}
	x.cost[a.to], x.by[a.to], x.depth[a.to] = c, i, x.depth[a.from]
	return true
}

// passes reports whether the path to a vertex goes over another.
func (x *settling) passes(u, over int32) bool {
	for ; u != over; u = x.list[x.by[u]].from {
		if int(u) < x.ranks || x.by[u] < 0 {
			return false
		}
	}
	return true
}

// fresh reports whether the path to a vertex still costs what it did; else it is looked for anew.
func (x *settling) fresh(v int32) bool {
	a := &x.list[x.by[v]]
	ok := x.in[a.from] || x.fresh(a.from)
	if ok && x.cost[a.from]+x.price(a, x.depth[a.from]) <= x.cost[v]*(1+1e-9) {
		return true
	}
	x.cost[v] = math.Inf(1)
	for _, i := range x.arcs.in[v] {
		if u := x.list[i].from; x.in[u] || int(u) >= x.ranks && !math.IsInf(x.cost[u], 1) {
			x.offer(i)
		}
	}
	switch p := x.place(v); {
	case math.IsInf(x.cost[v], 1):
		x.front.Remove(p)
	case x.front.Has(p):
		x.front.Set(p, x.cost[v])
	}
	return false
}

// path is the hop to a rank, and the rank of the tree where it begins.
func (x *settling) path(v int32) (from int32, hop []int32) {
	for from = v; from == v || !x.in[from]; from = x.list[x.by[from]].from {
		hop = append(hop, x.by[from])
	}
	slices.Reverse(hop)
	return from, hop
}
