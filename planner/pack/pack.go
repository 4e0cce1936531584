package pack

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/topology"
)

// Options limit the search for trees.
type Options struct {
	// Work is how many arcs settling may look at (see settling), for an all-reduce beside those of the all-gather that serves it; a
	// first round is always finished. 0: DefaultWork.
	Work int
}

// DefaultWork takes about two seconds of a core of 2.8 GHz, of which 40 million arcs are looked at in one.
const DefaultWork = 80_000_000

// ForTopology is PackFor on the graph of a topology, which is asked once. Where links are as fast both
// ways, a reduce-scatter takes the trees of an all-gather.
func ForTopology(t *topology.Topology, kind collective.Kind, root int, o Options) (*Packing, error) {
	type key struct {
		kind collective.Kind
		root int
		o    Options
	}
	return topology.OnceOr(t, key{kind, root, o}, func() (*Packing, error) {
		g, err := FromTopology(t)
		if err != nil {
			return nil, err
		}
		if kind == collective.ReduceScatter && g.symmetric() {
			p, err := ForTopology(t, collective.AllGather, root, o)
			return p.reversed(), err
		}
		return PackFor(g, kind, root, o)
	})
}

// reversed is the reduce-scatter of an all-gather.
func (p *Packing) reversed() *Packing {
	if p == nil {
		return nil
	}
	q := *p
	q.Kind, q.Few, q.Fewer, q.Paths = collective.ReduceScatter, p.Few.reversed(), nil, reversedPaths(p.Paths)
	for _, f := range p.Fewer {
		q.Fewer = append(q.Fewer, f.reversed())
	}
	return &q
}

// Pack is PackFor for an all-gather.
func Pack(g *Graph, o Options) (*Packing, error) { return PackFor(g, collective.AllGather, 0, o) }

// mostRanks is up to how many ranks trees are sought: there are as many trees of as many
// ranks.
const mostRanks = 4096

// search keeps the best packing so far, and the best in few parts.
type search struct {
	g       *Graph
	kind    collective.Kind
	root    int // of a broadcast or a reduce
	o       Options
	bound   Result
	routes  *routes
	best    *Packing
	few     *Packing
	kept    []*Packing // see Packing.Fewer
	left    int        // of the work
	distant struct {   // the useful transfers that routes alone decide on
		known bool
		list  []transfer
	}
}

func newSearch(g *Graph, kind collective.Kind, root int, o Options, bound Result) *search {
	return &search{g: g, kind: kind, root: root, o: o, bound: bound, left: cmp.Or(o.Work, DefaultWork)}
}

// found is what the search has come to.
func (s *search) found() (*Packing, error) {
	if s.best == nil {
		return nil, fmt.Errorf("pack: no trees found")
	}
	if s.few != s.best {
		s.best.Few = s.few
	}
	slices.SortStableFunc(s.kept, func(p, q *Packing) int { return cmp.Or(cmp.Compare(p.K, q.K), q.Rate.Cmp(p.Rate)) })
	for _, p := range s.kept {
		outdone := func(q *Packing) bool { return q.Rate.Cmp(p.Rate) >= 0 && q.Height <= p.Height }
		if (p.K < s.best.K || p.Height < s.best.Height) && !slices.ContainsFunc(s.best.Fewer, outdone) {
			s.best.Fewer = append(s.best.Fewer, p)
		}
	}
	for _, p := range append(s.kept, s.best) {
		if s.g.t != nil {
			p.routes = nil // many; Verify asks the router anew
		}
	}
	return s.best, nil
}

// packAllRanks looks for trees of all ranks: stars; rails and stars for nodes of GPUs; paths along the
// dimensions of meshes and tori; else, for graphs that are not too large, trees by Edmonds' theorem,
// which always reach the bound of the graph of the transfers that are used (see transfers).
func (s *search) packAllRanks() error {
	if !starsFall(s.g, s.bound.Rate, s.routes) && s.consider(stars(s.g.Ranks)) {
		return nil
	}
	if b, ok := boxOf(s.g); ok {
		for _, turned := range []bool{false, true} {
			if p, err := boxes(b, s.routes, turned); err == nil && s.consider(p) {
				return nil
			}
		}
	}
	for _, p := range grids(s.forward(s.g)) {
		if s.consider(p) {
			return nil
		}
	}
	return s.exactly(edmonds)
}

// forward is a graph as trees go along it, from their roots.
func (s *search) forward(g *Graph) *Graph {
	if down(s.kind) {
		return g
	}
	return g.Reversed()
}

// packer packs trees into a graph of ranks alone, in k parts of the data, 0: as many as it takes.
type packer func(g *Graph, k int64, effort int) (*Packing, error)

// fullEffort is for how long lower trees are sought where they come from exact packing, in arcs that flows look at, some 20 ms; the first
// try is always finished. Five times as many find hardly better ones.
const fullEffort = 2_000_000

// mostExact is up to how many ranks times transfers trees are packed exactly: a second or two.
const mostExact = 80_000

// exactly packs all that transfers carry, shared out evenly, where these are not too many, and settles what trees share links by where
// that does not come near the bound. Where hops have several ways, over planes of switches or links beside them, even shares do not
// choose among these: trees are settled first, and packed as well where even shares could reach the bound, as over equal planes,
// since packed trees may be lower and load all planes alike.
func (s *search) exactly(pack packer) (failed error) {
	both, first := false, false
	var packed func() error
	if size := s.g.Ranks * (len(s.near()) + len(s.far())); size <= mostExact {
		g, unit, err := s.evenly()
		if err != nil {
			return err
		}
		packed = func() error { return s.inParts(s.forward(g), pack) }
		choices := s.g.t != nil && ScaleUp(s.g.t).Choices()
		first = s.g.Direct() || !choices && (!PerRoot(s.kind) || size <= mostExact/4)
		if choices && !s.g.Direct() {
			even, err := BoundFor(g, s.kind, s.root)
			both = err == nil && even.Rate.Float()*unit >= nearEnough*s.bound.Rate.Float()
		}
	}
	tries := s.settlings()
	switch {
	case packed == nil:
	case first:
		tries = slices.Insert(tries, 0, packed)
	default:
		tries = append(tries, packed)
	}
	for _, try := range tries {
		if err := try(); s.best == nil {
			failed = err
		} else if s.reached() >= nearEnough && !both {
			return nil
		}
	}
	return failed
}

// inParts packs with as many parts as it takes, and with fewer: messages are larger then, and where other links than those
// of the transfers are scarce, they may even do more.
func (s *search) inParts(g *Graph, pack packer) error {
	p, err := pack(g, 0, fullEffort)
	if err != nil {
		return err
	}
	if s.consider(p) && (s.g.Direct() || s.g.Ranks > mostLower) && p.K <= fewParts {
		return nil // with fewer parts, trees that do the same may be lower, but not on direct links
	}
	for k := int64(1); k <= min(fewParts, p.K-1); k++ {
		if p, err := pack(g, k, fullEffort/fewParts); err == nil {
			s.consider(p)
		}
	}
	return nil
}

// mostLower is up to how many ranks lower trees are sought where the bound is reached.
const mostLower = 16

// fewParts is up to how many parts are tried where the bound takes more, and how many
// balanced trees a root has.
const fewParts = 8

// consider keeps p if it is faster, or as fast with lower or fewer trees, and says whether
// the bound is reached.
func (s *search) consider(p *Packing) bool {
	if p != nil {
		p.Kind = s.kind
	}
	return p != nil && s.keep(p, p.K <= fewParts)
}

func (s *search) keep(p *Packing, few bool) bool {
	if p.evaluate(s.bound, s.routes) != nil {
		return false // some transfer has no route
	}
	s.kept = append(s.kept, p)
	if p.better(s.best) {
		s.best = p
	}
	if few && p.better(s.few) {
		s.few = p
	}
	return s.best.Rate == s.bound.Rate
}

// better reports whether p is faster than another packing, or as fast with lower or fewer
// trees.
func (p *Packing) better(o *Packing) bool {
	return o == nil || cmp.Or(p.Rate.Cmp(o.Rate), o.Height-p.Height, o.Count()-p.Count()) > 0
}
