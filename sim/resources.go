package sim

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
)

// resource stands for links that are always loaded in the same proportion.
type resource struct {
	capacity      float64 // bytes/s of the link that limits, at line rate
	pace          float64 // bytes/s over many operations, each of which may be faster (see cost.Curve, Sustained); 0: capacity
	links         float64 // the same of those that leave no switch of a network; +Inf: there are none
	congestedRate float64 // bytes/s while several messages cross it (see congestion.go)
	routes        int32
	node          *side // what a node's adapters share (see node.go), where efficiency, that of links, does not count; nil: links
}

// linkUse is a route over a link: count routes like it each put num/den of their bytes
// on the link.
type linkUse struct {
	route    int32
	count    int64 // of all links of an orbit, until they are divided among them
	num, den int64
}

// mergeLinks makes one resource of all links that the same routes load in the same
// proportion, e.g. the four NVSwitch uplinks of a GPU, or PCIe slot, NIC port and leaf
// port in a row. The resource's capacity is that of the link that limits.
func (c *compiler) mergeLinks() error {
	uses, err := c.linkUses()
	if err != nil {
		return err
	}
	bySignature := map[string]int32{}
	var sig []byte
	for i, w := range c.wires {
		u := uses[i]
		most := largest(u)
		sig = signature(sig[:0], u, most)
		// Normalised to the largest share, the link carries this much.
		capacity := c.rate(w) * float64(most.den) / float64(most.num)
		id, ok := bySignature[string(sig)]
		if !ok {
			id = c.newResource(u, most)
			bySignature[string(sig)] = id
		}
		c.res[id].add(capacity, c.isPort(w.link))
	}
	if err := c.shareNodes(); err != nil {
		return err
	}
	c.setCongestedRates()
	return nil
}

// newResource is one that routes load, with weights relative to the largest share.
func (c *compiler) newResource(u []linkUse, most linkUse) int32 {
	id := int32(len(c.res))
	c.res = append(c.res, resource{capacity: math.Inf(1), links: math.Inf(1), routes: int32(len(u))})
	for _, x := range u {
		weight := float64(x.num) / float64(x.den) * float64(most.den) / float64(most.num)
		c.routes[x.route].use = append(c.routes[x.route].use, newUsage(id, weight, int32(x.count)))
	}
	return id
}

// largest is the use with the largest share.
func largest(u []linkUse) linkUse {
	most := u[0]
	for _, x := range u[1:] {
		if x.num*most.den > most.num*x.den {
			most = x
		}
	}
	return most
}

// wireIndex numbers wires.
type wireIndex struct {
	plain []int32 // by link: its wire of lane 0
	lanes map[wire]int32
}

func (x *wireIndex) at(w wire) int32 {
	if w.lane == 0 {
		return x.plain[w.link]
	}
	return x.lanes[w]
}

// numberWires numbers the wires in use, and counts their uses by wire. Under a symmetry, the first link of an orbit
// stands for all.
func (c *compiler) numberWires() (index wireIndex, uses []int32) {
	index = wireIndex{make([]int32, len(c.topo.Links())), map[wire]int32{}}
	count := func(hops []topology.Hop) {
		for _, h := range hops {
			l, _ := c.orbit(h.Link)
			w := wire{l, h.Lane}
			n := index.at(w) + 1
			if w.lane == 0 {
				index.plain[l] = n
			} else {
				index.lanes[w] = n
			}
			if n == 1 {
				c.wires = append(c.wires, w)
			}
		}
	}
	for r := range c.routes {
		count(c.routes[r].full.Hops)
	}
	slices.SortFunc(c.wires, func(a, b wire) int {
		return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.lane, b.lane))
	})
	for i, w := range c.wires {
		uses = append(uses, index.at(w))
		if w.lane == 0 {
			index.plain[w.link] = int32(i)
		} else {
			index.lanes[w] = int32(i)
		}
	}
	return index, uses
}

// linkUses lists the routes over each wire.
func (c *compiler) linkUses() ([][]linkUse, error) {
	index, counts := c.numberWires()
	uses := make([][]linkUse, len(c.wires))
	for l, n := range counts {
		uses[l] = make([]linkUse, 0, n)
	}
	add := func(user, times int32, hops []topology.Hop, copies []int32) []hop {
		out := make([]hop, len(hops))
		for i, h := range hops {
			orbit, size := c.orbit(h.Link)
			l := index.at(wire{orbit, h.Lane})
			n := int64(times)
			if copies != nil {
				n *= int64(copies[i])
			}
			out[i] = hop{l, float64(h.Num) / float64(h.Den) * float64(n) / float64(size)}
			uses[l] = addUse(uses[l], linkUse{user, n, h.Num, h.Den})
		}
		return out
	}
	for r := range c.routes {
		x := &c.routes[r]
		x.hops = add(int32(r), x.times, x.full.Hops, x.copies)
		if c.links != nil {
			x.full.Hops, x.copies = nil, nil // which take more memory than all else
		}
	}
	for l, list := range uses {
		_, size := c.orbit(c.wires[l].link)
		for i := range list {
			if list[i].count%int64(size) != 0 {
				return nil, fmt.Errorf("%w: %d uses of %d links", errAsymmetric, list[i].count, size)
			}
			list[i].count /= int64(size)
		}
	}
	return uses, nil
}

// errAsymmetric marks routes that a symmetry does not spread evenly after all.
var errAsymmetric = fmt.Errorf("sim: not symmetric")

// orbit is the link that stands for a link, and for how many in all.
func (c *compiler) orbit(l topology.LinkID) (topology.LinkID, int) {
	if c.links != nil {
		return c.links.LinkOrbit(l)
	}
	return l, 1
}

// orbits is working memory of byOrbit.
type orbits struct {
	hops   []topology.Hop
	copies []int32
}

// byOrbit makes one hop of those over links of an orbit with equal shares: routes through
// networks of three levels have thousands of hops in a handful of orbits.
func (c *compiler) byOrbit(hops []topology.Hop) ([]topology.Hop, []int32) {
	x := &c.orbits
	x.hops, x.copies = x.hops[:0], x.copies[:0]
	at := -1
	for _, h := range hops {
		h.Link, _ = c.orbit(h.Link)
		if at < 0 || x.hops[at] != h { // neighbours are mostly of one
			at = slices.Index(x.hops, h)
		}
		if at < 0 {
			at = len(x.hops)
			x.hops, x.copies = append(x.hops, h), append(x.copies, 0)
		}
		x.copies[at]++
	}
	return slices.Clone(x.hops), slices.Clone(x.copies)
}

// addUse counts a route that puts equal shares on several links of an orbit once for each.
func addUse(list []linkUse, u linkUse) []linkUse {
	for i := len(list) - 1; i >= 0 && list[i].route == u.route; i-- {
		if list[i].num*u.den == u.num*list[i].den {
			list[i].count += u.count
			return list
		}
	}
	return append(list, u)
}

// signature is equal for links used by the same routes in the same proportions.
func signature(sig []byte, u []linkUse, most linkUse) []byte {
	for _, x := range u {
		// x.num/x.den divided by the largest share, in lowest terms.
		num, den := reduce(x.num, most.num)
		den2, num2 := reduce(x.den, most.den)
		n, d := reduce(num*num2, den*den2)
		sig = binary.AppendVarint(sig, int64(x.route))
		sig = binary.AppendVarint(sig, x.count)
		sig = binary.AppendVarint(sig, n)
		sig = binary.AppendVarint(sig, d)
	}
	return sig
}

// reduce is a/b in lowest terms.
func reduce(a, b int64) (num, den int64) {
	g := units.GCD(a, b)
	return a / g, b / g
}

// classify finds the resources that a single connection uses, which are no more than a
// limit on its rate, and the kinds of cost.
func (c *compiler) classify() {
	perRoute := make([]int32, len(c.routes))
	for i := range c.conns {
		perRoute[c.conns[i].route]++
	}
	for i := range c.routes {
		r := &c.routes[i]
		r.solo, r.private = math.Inf(1), math.Inf(1)
		shared := r.use[:0]
		for _, u := range r.use {
			if c.res[u.res].node != nil {
				shared = append(shared, u)
				continue
			}
			rate := c.res[u.res].capacity / u.weight
			r.solo = min(r.solo, rate)
			if c.res[u.res].routes == 1 && perRoute[i] == 1 && u.count == 1 {
				r.private = min(r.private, rate)
			} else {
				shared = append(shared, u)
			}
		}
		r.use = shared
	}
	c.costClasses()
}

// unfolded is the plan before folding.
func (p *Plan) unfolded() *Plan { return cmp.Or(p.base, p) }

// flat is the plan with everything in it that was folded or left out by symmetry.
func (p *Plan) flat() (*Plan, error) {
	base := p.unfolded()
	if base.symmetry == nil {
		return base, nil
	}
	if base.whole == nil {
		o := p.options
		o.Flat = true
		whole, err := CompileJobs(p.topo, p.jobs, p.profile, o)
		if err != nil {
			return nil, err
		}
		base.whole = whole
	}
	return base.whole, nil
}
