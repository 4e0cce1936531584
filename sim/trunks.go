package sim

import (
	"cmp"
	"slices"

	"railyard/model/topology"
)

// trunk is the part that all routes between two leaves of a network have in common.
type trunk struct {
	number int32
	full   []topology.Hop // until they are hops
	copies []int32        // by hop of full: how many links of its orbit; nil: one each
	times  int32          // how many routes each of its routes stands for
	hops   []hop          // full by index into Plan.wires
	routes []int32        // ascending
}

// parts are the hops of a route, each wire once.
func (r *route) parts() [2][]hop {
	if r.trunk == nil {
		return [2][]hop{r.hops}
	}
	return [2][]hop{r.hops, r.trunk.hops}
}

// find looks the way of a route up. Whole ones are left for flows that are hashed, and for the
// plans that others are held against.
func (c *compiler) find(r *route, strand, id int32) error {
	src, dst := int(r.src), int(r.dst)
	var named bool
	var err error
	if r.full, named, err = c.paths[r.job].Striped(src, dst); named {
		return err
	}
	var shared *topology.Trunk
	switch {
	case c.options.Hashing != nil:
		r.full, err = c.hashed(strand, src, dst)
	case c.options.Flat:
		r.full, err = c.router.Route(src, dst)
	default:
		r.full, shared, err = c.router.Ends(src, dst)
	}
	if err != nil || shared == nil {
		return err
	}
	key := trunkKey{shared.Number, r.times}
	t, ok := c.trunkOf[key]
	if !ok {
		t = &trunk{number: int32(len(c.trunks)), full: shared.Hops, times: r.times}
		if c.symmetry != nil {
			x, known := c.trunkHops[shared.Number]
			if !known {
				x.hops, x.copies = c.byOrbit(shared.Hops)
				c.trunkHops[shared.Number] = x
			}
			t.full, t.copies = x.hops, x.copies
		}
		c.trunkOf[key] = t
		c.trunks = append(c.trunks, t)
	}
	t.routes = append(t.routes, id)
	r.trunk = t
	return nil
}

// trunkKey tells trunks apart, by their numbers, whose routes stand for as many.
type trunkKey struct {
	number int
	times  int32
}

// orbitHops are hops of a trunk by orbit.
type orbitHops struct {
	hops   []topology.Hop
	copies []int32
}

// user is what stands for a trunk's routes among uses of a wire.
func (t *trunk) user() int32 { return ^t.number }

// byRoute has, in place of uses by trunks, those by their routes.
func (c *compiler) byRoute(list []linkUse) []linkUse {
	if !slices.ContainsFunc(list, func(u linkUse) bool { return u.route < 0 }) {
		return list
	}
	var out []linkUse
	for _, u := range list {
		if u.route >= 0 {
			out = append(out, u)
			continue
		}
		for _, r := range c.trunks[^u.route].routes {
			out = append(out, linkUse{r, u.count, u.num, u.den})
		}
	}
	slices.SortFunc(out, func(a, b linkUse) int { return cmp.Compare(a.route, b.route) })
	return out
}
