package pack

import (
	"fmt"
	"math/big"

	"railyard/model/topology"
	"railyard/model/units"
)

// piece is the share of a transfer between two ranks that crosses a resource.
type piece struct {
	resource int32
	num, den int64
}

// routes say what a transfer between two ranks loads: the links of the route that the
// runtime takes, or the edges of a graph made by hand.
type routes struct {
	t        *topology.Topology // nil for graphs made by hand
	name     func(int32) string
	capacity func(int32) int64
	count    int
	find     func(u, v int32) ([]piece, error)
	known    map[int64][]piece
	net      map[[2]int32]bool // which of those that are known go over the network
}

func (r *routes) of(u, v int32) ([]piece, error) {
	key := int64(u)<<32 | int64(v)
	if p, ok := r.known[key]; ok {
		return p, nil
	}
	p, err := r.find(u, v)
	if err == nil {
		r.known[key] = p
	}
	return p, err
}

// topologyRoutes are those of the router, except where it goes over a PCIe that the graph
// does not count.
func topologyRoutes(g *Graph) *routes {
	t := g.t
	router := topology.NewRouter(t)
	net := map[[2]int32]bool{}
	return &routes{
		net:      net,
		t:        t,
		name:     func(i int32) string { return t.LinkName(topology.LinkID(i)) },
		capacity: func(i int32) int64 { return int64(t.Rate(topology.LinkID(i))) },
		count:    len(t.Links()),
		known:    map[int64][]piece{},
		find: func(u, v int32) ([]piece, error) {
			route, err := router.Passing(int(u), int(v))
			if err != nil {
				return nil, err
			}
			if k := route.Kind; k > topology.Switched && k < topology.Net && !g.host[t.NodeOf(int(u))] {
				return nil, fmt.Errorf("pack: %s reaches %s over PCIe only", g.Name(int(u)), g.Name(int(v)))
			}
			if route.Kind == topology.Net {
				net[[2]int32{u, v}] = true
			}
			return piecesOf(route), nil
		},
	}
}

func piecesOf(route topology.Route) []piece {
	out := make([]piece, len(route.Hops))
	for i, h := range route.Hops {
		out[i] = piece{int32(h.Link), h.Num, h.Den}
	}
	return out
}

// directRoutes are the edges of a graph of ranks alone.
func directRoutes(g *Graph) *routes {
	r := &routes{
		name:     func(i int32) string { return g.Name(int(g.Edges[i].From)) + "->" + g.Name(int(g.Edges[i].To)) },
		capacity: func(i int32) int64 { return g.Edges[i].Cap },
		count:    len(g.Edges),
		known:    map[int64][]piece{},
		find: func(u, v int32) ([]piece, error) {
			return nil, fmt.Errorf("pack: there is no link from %s to %s", g.Name(int(u)), g.Name(int(v)))
		},
	}
	for i, e := range g.Edges {
		r.known[int64(e.From)<<32|int64(e.To)] = []piece{{int32(i), 1, 1}}
	}
	return r
}

// pairs are weights of transfers by ordered pair of ranks.
type pairs struct {
	n      int
	weight []int64
}

func newPairs(n int) *pairs { return &pairs{n, make([]int64, n*n)} }

// pairsOf has a weight of one for those that are wanted.
func pairsOf(n int, want func(u, v int) bool) *pairs {
	p := newPairs(n)
	for u := range n {
		for v := range n {
			if u != v && want(u, v) {
				p.add(int32(u), int32(v), 1)
			}
		}
	}
	return p
}

func (p *pairs) add(u, v int32, w int64) { p.weight[int(u)*p.n+int(v)] += w }

// load adds up what the transfers put on each resource.
func (r *routes) load(p *pairs) ([]sum, error) {
	out := make([]sum, r.count)
	for i, w := range p.weight {
		if w == 0 {
			continue
		}
		list, err := r.of(int32(i/p.n), int32(i%p.n))
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			num, den := h.num, h.den
			if g := units.GCD(w, den); g > 1 {
				den /= g
				num *= w / g
			} else {
				num *= w
			}
			out[h.resource].add(num, den)
		}
	}
	return out, nil
}

// rate is how fast one unit of weight can go.
func (r *routes) rate(p *pairs) (*big.Rat, error) {
	loads, err := r.load(p)
	if err != nil {
		return nil, err
	}
	var best *big.Rat
	for i := range loads {
		if loads[i].zero() {
			continue
		}
		x := new(big.Rat).SetInt64(r.capacity(int32(i)))
		if x.Quo(x, loads[i].rat()); best == nil || x.Cmp(best) < 0 {
			best = x
		}
	}
	if best == nil {
		return nil, fmt.Errorf("pack: nothing is sent")
	}
	return best, nil
}
