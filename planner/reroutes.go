package planner

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/symmetry"
	"railyard/model/topology"
	"railyard/model/units"
)

// reroutes say how data of rails get into and out of the nodes. A rail is the GPUs of one
// number in their nodes; what each of them has is cut into units.
type reroutes struct {
	rails, units int
	kinds        []*railKind
	kind         []int     // by node
	rank         [][]int32 // by node and rail, −1 where it is lost
	rerouted     bool      // ways into the network are not alike
}

// railKind is what nodes are alike in.
type railKind struct {
	room  []float64 // by rail: what its way into the network carries, of the widest there is
	by    [][]int   // by rail and unit: on whose rail it goes; before it is known, nil where the rail is lost
	roots [][]int32 // the same: of how many chunks of an all-reduce the node is root, or how many a root deals to it
}

// reroutes finds them once for a topology and what is much the same collective to rails.
func (r *request) reroutes() (*reroutes, error) {
	type key struct{ of collective.Kind }
	of := r.spec.Kind
	switch of {
	case collective.ReduceScatter:
		of = collective.AllGather
	case collective.Reduce:
		of = collective.Broadcast
	case collective.Scatter:
		of = collective.Gather
	}
	return topology.OnceOr(r.t, key{of}, func() (*reroutes, error) { return r.findReroutes(of) })
}

func (r *request) findReroutes(of collective.Kind) (*reroutes, error) {
	nodes := r.nodes()
	if len(nodes) < 2 || len(nodes) < r.t.NumBoxes() {
		return nil, notApplicable("it is for several nodes")
	}
	b := &reroutes{}
	rail := r.railOf()
	for _, ranks := range nodes {
		for _, x := range ranks {
			b.rails = max(b.rails, rail(x)+1)
		}
	}
	for i, ranks := range nodes {
		out, in, err := r.gatewayRates(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return nil, err
		}
		b.addNode(ranks, rail, out, in)
	}
	b.relative()
	level := b.level(of)
	if err := b.fill(); err != nil {
		return nil, err
	}
	b.rerouted = len(b.kinds) > 1 || b.units > 1
	if !level {
		b.rerouteApart()
	}
	switch {
	case of == collective.AllReduce:
		b.shareRoots()
	case of == collective.Broadcast && level:
		b.straighten()
	case of == collective.Broadcast:
		b.dealEvenly()
	}
	return b, b.reach(r)
}

// railOf is a rank's place in its node before anything was lost.
func (r *request) railOf() func(rank int32) int {
	t := r.t.Healthy()
	first := make([]int, t.NumBoxes())
	for x := t.NumRanks() - 1; x >= 0; x-- {
		first[t.BoxOf(x)] = x
	}
	return func(rank int32) int {
		x := r.t.OriginalRank(int(rank))
		return x - first[t.BoxOf(x)]
	}
}

// addNode finds a node's kind, or makes a new one.
func (b *reroutes) addNode(ranks []int32, rail func(int32) int, out, in []float64) {
	k := &railKind{room: make([]float64, b.rails)}
	at := slices.Repeat([]int32{-1}, b.rails)
	for i, x := range ranks {
		k.room[rail(x)], at[rail(x)] = min(out[i], in[i]), x
	}
	k.by = make([][]int, b.rails)
	for j := range at {
		if at[j] >= 0 {
			k.by[j] = []int{}
		}
	}
	b.kind, b.rank = append(b.kind, b.kindOf(k)), append(b.rank, at)
}

// kindOf is the number of the kind that is like one, which is added where there is none.
func (b *reroutes) kindOf(k *railKind) int {
	i := slices.IndexFunc(b.kinds, func(o *railKind) bool {
		return slices.Equal(o.room, k.room) && slices.EqualFunc(o.by, k.by, func(x, y []int) bool { return (x == nil) == (y == nil) })
	})
	if i < 0 {
		i = len(b.kinds)
		b.kinds = append(b.kinds, k)
	}
	return i
}

// lost counts the rails that the node has no rank on, before it is known who stands in for these.
func (k *railKind) lost() (n int) {
	for _, by := range k.by {
		if by == nil {
			n++
		}
	}
	return n
}

// relative makes rooms parts of the widest one.
func (b *reroutes) relative() {
	widest := 0.0
	for _, k := range b.kinds {
		widest = max(widest, slices.Max(k.room))
	}
	for _, k := range b.kinds {
		for i := range k.room {
			if widest > 0 {
				k.room[i] /= widest
			}
		}
	}
}

// rerouted reports whether nodes have unlike ways into the network.
func (r *request) rerouted() bool {
	b, err := r.reroutes()
	return err == nil && b.rerouted
}

const (
	mostRailUnits = 48   // units of a rail
	fewUnitsLoss  = 1.01 // how much longer few units may take than many
)

// fill cuts rails into as few units as fill all ways evenly, and gives each of them one.
func (b *reroutes) fill() error {
	best, least := 0, math.Inf(1)
	for b.units = 1; b.units <= mostRailUnits && least > fewUnitsLoss; b.units++ {
		full := 0.0
		for _, k := range b.kinds {
			if sum(k.room) == 0 {
				return notApplicable("a node has no way into the network")
			}
			full = max(full, k.fullest(b.rails*b.units))
		}
		if full < least {
			best, least = b.units, full
		}
	}
	b.units = best
	for _, k := range b.kinds {
		k.reroute(b.units, 0)
	}
	return nil
}

// deal shares so many units out over the ways into the network in proportion to their room.
func (k *railKind) deal(count int) []int {
	total, parts := sum(k.room), make([]float64, len(k.room))
	for i, x := range k.room {
		parts[i] = x / total
	}
	return units.Apportion(count, parts)
}

// fullest is how many times as long as all together the fullest way takes with so many units.
func (k *railKind) fullest(count int) (full float64) {
	total := sum(k.room)
	for i, n := range k.deal(count) {
		if n > 0 {
			full = max(full, float64(n)*total/k.room[i]/float64(count))
		}
	}
	return full
}

// reroute leaves on each rail what it has room for, and gives the rest to those with room, from
// one of these on.
func (k *railKind) reroute(each, from int) {
	room := k.deal(len(k.room) * each)
	var free []int // by rerouted unit: a rail with room
	for i := range room {
		k.by[i] = slices.Repeat([]int{i}, min(each, room[i]))
		free = append(free, slices.Repeat([]int{i}, room[i]-len(k.by[i]))...)
	}
	if len(free) > 0 {
		from %= len(free)
		free = append(free[from:], free[:from]...)
	}
	for i, list := range k.by {
		n := each - len(list)
		k.by[i], free = append(list, free[:n]...), free[n:]
	}
}

// mostTurns is in how many ways at most nodes that have lost the same reroute their rails.
const mostTurns = 8

// rerouteApart lets nodes that have lost the same reroute their rails to different ones in turn, so
// that few GPUs that stand in for others do so twice with one another.
func (b *reroutes) rerouteApart() {
	for i, k := range b.kinds {
		if !k.rerouted() {
			continue
		}
		kinds := []int{i}
		turn := 0
		for node, kind := range b.kind {
			if kind != i {
				continue
			}
			if turn > 0 && turn < mostTurns {
				other := &railKind{room: k.room, by: make([][]int, len(k.by))}
				other.reroute(b.units, turn)
				kinds = append(kinds, len(b.kinds))
				b.kinds = append(b.kinds, other)
			}
			b.kind[node] = kinds[turn%len(kinds)]
			turn++
		}
	}
}

// rerouted reports whether any rail is rerouted.
func (k *railKind) rerouted() bool {
	for rail, units := range k.by {
		if slices.ContainsFunc(units, func(by int) bool { return by != rail }) {
			return true
		}
	}
	return false
}

// shareRoots makes nodes roots of as much of an all-reduce as they have room for: the
// results of all others, and their parts of these sums, come in anyway. The kind with most
// room is root of a chunk for each unit.
func (b *reroutes) shareRoots() {
	widest := slices.MaxFunc(b.kinds, func(x, y *railKind) int { return cmp.Compare(sum(x.room), sum(y.room)) })
	mean := 1.0 // roots of a unit, of all nodes
	for range 20 {
		full := 0.0
		for i, n := range widest.entering() {
			if n > 0 {
				full = max(full, (mean*float64(n)+float64(b.units))/widest.room[i])
			}
		}
		for _, k := range b.kinds {
			k.takeRoots(full, mean)
		}
		total := 0.0
		for _, i := range b.kind {
			for _, list := range b.kinds[i].roots {
				for _, n := range list {
					total += float64(n)
				}
			}
		}
		mean = total / float64(len(b.kind)*b.rails*b.units)
	}
}

func sum(list []float64) (total float64) {
	for _, x := range list {
		total += x
	}
	return total
}

// entering counts the units that go on each rail.
func (k *railKind) entering() []int {
	out := make([]int, len(k.by))
	for _, list := range k.by {
		for _, by := range list {
			out[by]++
		}
	}
	return out
}

// takeRoots fills what the units leave of each rail with roots, first those of its own units.
func (k *railKind) takeRoots(full, mean float64) {
	k.roots = make([][]int32, len(k.by))
	for rail, list := range k.by {
		k.roots[rail] = make([]int32, len(list))
	}
	for by, n := range k.entering() {
		left := int(math.Floor(max(0, full*k.room[by]-mean*float64(n)) + 1e-6))
		for n > 0 && left > 0 {
			for i := range k.by {
				rail := (by + i) % len(k.by)
				for u, x := range k.by[rail] {
					if x == by && left > 0 {
						k.roots[rail][u]++
						left--
					}
				}
			}
		}
	}
}

// reach checks that nodes of all kinds reach one another however their rails are rerouted.
func (b *reroutes) reach(r *request) error {
	for i, x := range b.kinds {
		from := b.rank[slices.Index(b.kind, i)]
		for j, y := range b.kinds {
			if i == j {
				continue // the rails themselves
			}
			to := b.rank[slices.Index(b.kind, j)]
			for rail := range b.rails {
				for u := range b.units {
					if err := r.router.Reach(int(from[x.by[rail][u]]), int(to[y.by[rail][u]])); err != nil {
						return notApplicable("%v", err)
					}
				}
			}
		}
	}
	return nil
}

// inClasses reports whether nodes are alike but for a few and the root's, so that one of each
// class can stand for all.
func (r *request) inClasses() bool {
	type key struct {
		root int
		of   collective.Kind
	}
	root := -1
	if r.spec.Kind.Rooted() {
		root = r.t.BoxOf(r.spec.Root)
	}
	b, err := r.reroutes()
	return err == nil && r.symmetric(key{root, r.spec.Kind}, func() symmetry.Group {
		return r.t.NodeTree(func(node int) int {
			box := r.t.BoxOfNode(node)
			if box == root {
				return -1
			}
			return b.kind[box]
		})
	})
}
