package pack

import (
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
)

// mostSettled bounds the messages of a slice of all roots, mostShared those where all data share the trees, whose units may need as many
// as there are speeds of links to fit into: beyond, pipelines take too long to simulate.
const mostSettled, mostShared = 20_000, 4096

// settlings are the ways to settle trees, of which the next are for where those before do not come near the bound. Trees that go one way
// are also the cheapest arborescences; first where routes alone decide on hops, over networks, where it matters most by which hop a node
// is entered. Those of an all-reduce may sum up along other links than results take where links are not as fast both ways.
func (s *search) settlings() []func() error {
	if s.best != nil && PerRoot(s.kind) && s.g.Ranks*s.g.Ranks > mostSettled {
		return nil // one unit of each root is too many messages already
	}
	a := s.arcsOfUse()
	grown := func() error { return s.settle(false, a) }
	switch {
	case s.kind != collective.AllReduce:
		tries := []func() error{grown, func() error { return s.settle(true, a) }}
		if len(s.far()) > 0 {
			slices.Reverse(tries)
		}
		return tries
	case s.g.symmetric():
		return []func() error{grown}
	default:
		out := s.arcs()
		return []func() error{grown, func() error { return s.settle(true, out, out.back()) }}
	}
}

// settle considers settled trees in few units, and in more where these do not come near the bound, or, where all data share the trees, may
// be lower; not where whole units cannot do better than what is known, nor where all rounds, and as much for lower trees, take more work
// than is left. Those of an all-reduce serve both ways, or, where links are not as fast both ways, others sum up than spread results.
func (s *search) settle(directed bool, ways ...*arcs) error {
	each := 0.0 // what a unit takes in a round
	for _, units := range s.units(ways[0]) {
		if s.best != nil && (s.left <= 0 || 2*settleRounds*float64(units)*each > float64(s.left)) {
			break
		}
		least, whole := float64(units)/s.bound.Rate.Float(), s.whole(ways[0], units)
		if whole > 0 && least/whole < s.reached()*(1-1e-9) {
			continue
		}
		x := newSettling(ways, s.rootsOf(units))
		x.directed = directed
		if len(ways) > 1 {
			x.anyRoot(s.g.Ranks, 10*fullEffort)
		}
		if err := x.settle(least, whole, s.left); err != nil {
			return err
		}
		each = float64(x.looked) / float64(x.rounds*units)
		p := x.packing(units, s.kind, s.g.t)
		if s.consider(p); x.lower(s.left) {
			s.consider(x.packing(units, s.kind, s.g.t))
		}
		s.left -= x.looked
		lower := p.Share > nearEnough && units < fewParts && !PerRoot(s.kind)
		if s.reached() > nearEnough && !lower {
			break
		}
	}
	return nil
}

// whole is how long what leads to some rank is busy at least with whole units of a root's data, each of which comes to every rank once, by
// one arc; 0 where other roots have data, too.
func (s *search) whole(a *arcs, units int) (most float64) {
	if PerRoot(s.kind) || s.kind == collective.AllReduce {
		return 0
	}
	for v := range s.g.Ranks {
		if v != s.root {
			most = max(most, a.takesIn(a.in[v], units))
		}
	}
	return most
}

// takesIn is how long the busiest of some arcs is with units, each of which goes to the one that is done with it first.
func (a *arcs) takesIn(list []int32, units int) (busiest float64) {
	busy := make([]float64, len(list))
	for range units {
		first := 0
		for j, i := range list {
			if busy[j]+a.list[i].time() < busy[first]+a.list[list[first]].time() {
				first = j
			}
		}
		busy[first] += a.list[list[first]].time()
		busiest = max(busiest, busy[first])
	}
	return busiest
}

// units are in how many units of the data of a root, or of all, trees are settled: in few first, since messages are larger then, and
// in more; those as well of which the most fits on links.
func (s *search) units(a *arcs) (out []int) {
	most := s.mostUnits()
	few := min(fewParts, most)
	out = []int{s.fitting(a, few), s.fitting(a, most), most}
	for n := 1; n < most; n *= 2 {
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofManyRanks is in how many units trees are settled at most where those of more would have many messages.
const ofManyRanks = 32

// reached is the share of the bound of the best trees so far in no more parts than settled trees may have, which can be played in many
// slices.
func (s *search) reached() (best float64) {
	for _, p := range s.kept {
		if p.K <= int64(s.mostUnits()) {
			best = max(best, p.Share)
		}
	}
	return best
}

func (s *search) mostUnits() int {
	n := s.g.Ranks
	if PerRoot(s.kind) {
		return max(1, min(ofManyRanks, mostSettled/(n*n)))
	}
	return max(ofManyRanks, mostShared/n)
}

// fitting is the least number of units, up to one, of which what fits on arcs leaves next to nothing of them unused at the rate of
// the bound; else that which leaves the least.
func (s *search) fitting(a *arcs, most int) int {
	best, least := 1, math.Inf(1)
	for units := 1; units <= most && least > 1-nearEnough; units++ {
		lost := 0.0
		for _, x := range a.list {
			for _, t := range x.takes {
				fit := float64(units) / s.bound.Rate.Float() / t.time
				if whole := math.Floor(fit * (1 + 1e-9)); whole < fit {
					lost = max(lost, 1-whole/fit)
				}
			}
		}
		if lost < least {
			best, least = units, lost
		}
	}
	return best
}

// rootsOf are the roots of units: of an all-reduce, whose trees have no direction, any.
func (s *search) rootsOf(units int) (roots []int32) {
	for range units {
		switch {
		case s.kind == collective.AllReduce:
			roots = append(roots, 0)
		case !PerRoot(s.kind):
			roots = append(roots, int32(s.root))
		default:
			for r := range int32(s.g.Ranks) {
				roots = append(roots, r)
			}
		}
	}
	return roots
}

// arcsOfUse are what units take along a tree, on the ways that data go.
func (s *search) arcsOfUse() *arcs {
	a := s.arcs()
	switch {
	case s.kind == collective.AllReduce:
		return a.both()
	case up(s.kind):
		return a.back()
	}
	return a
}

// packing is settled trees, those of a root that are alike joined.
func (x *settling) packing(units int, kind collective.Kind, t *topology.Topology) *Packing {
	p := &Packing{Kind: kind, K: int64(units), Trees: make([][]Tree, x.ranks), Method: "settled trees", Paths: x.paths(t)}
	for i := range x.units {
		u := &x.units[i]
		tree := Tree{Weight: 1, Parent: u.trees[0].parent}
		if len(u.trees) > 1 {
			tree.Up = u.trees[1].parent
		}
		list := p.Trees[u.root]
		same := func(o Tree) bool { return slices.Equal(o.Parent, tree.Parent) && slices.Equal(o.Up, tree.Up) }
		if k := slices.IndexFunc(list, same); k >= 0 {
			list[k].Weight++
			continue
		}
		p.Trees[u.root] = append(list, tree)
	}
	if kind == collective.AllReduce && len(x.ways) == 1 {
		p.rerootAtCentres()
	}
	return p
}
