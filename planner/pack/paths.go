package pack

import (
	"cmp"
	"maps"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
)

// Path is over which scale-up switches what a rank sends to another goes, where that is not the route of the topology.
type Path struct {
	From, To int32
	Stripes  []topology.Stripe
}

// PathUse is how much goes from one rank to another, over which switches.
type PathUse map[[2]int32][]topology.Stripe

// Add counts what goes from a rank to another over switches and those behind them.
func (p PathUse) Add(from, to int32, over [][]topology.DeviceID, weight int64) {
	pair := [2]int32{from, to}
	list := p[pair]
	if i := slices.IndexFunc(list, func(s topology.Stripe) bool { return compareOver(s.Over, over) == 0 }); i >= 0 {
		list[i].Weight += weight
		return
	}
	p[pair] = append(list, topology.Stripe{Over: over, Weight: weight})
}

func compareOver(a, b [][]topology.DeviceID) int {
	return slices.CompareFunc(a, b, slices.Compare[[]topology.DeviceID])
}

// addHop counts what goes along a hop, the ways that data go on its arcs.
func (p PathUse) addHop(a *arcs, hop []int32) {
	from, to, over := a.list[hop[0]].from, a.list[hop[len(hop)-1]].to, a.over(hop)
	if a.down {
		p.Add(from, to, over, 1)
	}
	if a.up {
		back := slices.Clone(over)
		slices.Reverse(back)
		p.Add(to, from, back, 1)
	}
}

// paths are those of settled trees.
func (x *settling) paths(t *topology.Topology) []Path {
	use := PathUse{}
	for i := range x.units {
		for way, tree := range x.units[i].trees {
			for _, hop := range tree.hops {
				if hop != nil {
					use.addHop(x.ways[way], hop)
				}
			}
		}
	}
	return use.Paths(t)
}

func inOrder(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

// reversedPaths are those of what goes the other way.
func reversedPaths(paths []Path) []Path {
	out := slices.Clone(paths)
	for i, p := range paths {
		out[i] = Path{p.To, p.From, slices.Clone(p.Stripes)}
		for j, s := range p.Stripes {
			out[i].Stripes[j].Over = slices.Clone(s.Over)
			slices.Reverse(out[i].Stripes[j].Over)
		}
	}
	slices.SortFunc(out, func(a, b Path) int { return inOrder([2]int32{a.From, a.To}, [2]int32{b.From, b.To}) })
	return out
}

// Paths are those that are not the routes of the topology, ascending.
func (p PathUse) Paths(t *topology.Topology) (out []Path) {
	if t == nil {
		return nil
	}
	router := topology.NewRouter(t)
	for _, pair := range slices.SortedFunc(maps.Keys(p), inOrder) {
		list := p[pair]
		even, err := router.Route(int(pair[0]), int(pair[1]))
		if err == nil && even.Kind > topology.Switched {
			continue // no choice of ours
		}
		var common int64
		slices.SortFunc(list, func(a, b topology.Stripe) int { return compareOver(a.Over, b.Over) })
		for _, s := range list {
			common = units.GCD(common, s.Weight)
		}
		for i := range list {
			list[i].Weight /= common
		}
		own, failed := router.Striped(int(pair[0]), int(pair[1]), list)
		if failed == nil && err == nil && slices.Equal(own.Hops, even.Hops) {
			continue
		}
		out = append(out, Path{pair[0], pair[1], list})
	}
	return out
}

// along are the routes of transfers that take paths of their own.
func (r *routes) along(t *topology.Topology, paths []Path) (*routes, error) {
	if len(paths) == 0 {
		return r, nil
	}
	own := *r
	own.known = maps.Clone(r.known)
	router := topology.NewRouter(t)
	for _, p := range paths {
		route, err := router.Striped(int(p.From), int(p.To), p.Stripes)
		if err != nil {
			return nil, err
		}
		own.known[int64(p.From)<<32|int64(p.To)] = piecesOf(route)
	}
	return &own, nil
}
