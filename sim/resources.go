package sim

import (
	"encoding/binary"
	"math"
	"slices"

	"railyard/model/topology"
)

// resource stands for links that are always loaded in the same proportion.
type resource struct {
	capacity float64 // bytes/s of the link that limits, at line rate
	routes   int32
	single   bool // all routes on it use this resource and no other
}

// mergeLinks makes one resource of all links that the same routes load in the same
// proportion, e.g. the four NVSwitch uplinks of a GPU, or PCIe slot, NIC port and leaf
// port in a row. The resource's capacity is that of the link that limits.
func (c *compiler) mergeLinks() {
	uses := c.linkUses()
	bySignature := map[string]int32{}
	var sig []byte
	for i, l := range c.links {
		u := uses[i]
		sig = signature(sig[:0], u)
		// Normalised to the first route's share, the link carries this much.
		capacity := float64(c.topo.Rate(l)) * float64(u[0].den) / float64(u[0].num)
		id, ok := bySignature[string(sig)]
		if !ok {
			id = int32(len(c.res))
			bySignature[string(sig)] = id
			c.res = append(c.res, resource{capacity: capacity, routes: int32(len(u))})
			for _, x := range u {
				w := float64(x.num) / float64(x.den) * float64(u[0].den) / float64(u[0].num)
				c.routes[x.route].use = append(c.routes[x.route].use, newUsage(id, w, 1))
			}
		}
		c.res[id].capacity = min(c.res[id].capacity, capacity)
	}
}

// linkUses numbers the links in use and lists the routes over each.
func (c *compiler) linkUses() [][]linkUse {
	index := map[topology.LinkID]int32{}
	for r := range c.routes {
		for _, h := range c.routes[r].full.Hops {
			if _, ok := index[h.Link]; !ok {
				index[h.Link] = 0
				c.links = append(c.links, h.Link)
			}
		}
	}
	slices.Sort(c.links)
	for i, l := range c.links {
		index[l] = int32(i)
	}
	uses := make([][]linkUse, len(c.links))
	for r := range c.routes {
		x := &c.routes[r]
		x.hops = make([]hop, len(x.full.Hops))
		for i, h := range x.full.Hops {
			l := index[h.Link]
			x.hops[i] = hop{l, float64(h.Num) / float64(h.Den)}
			uses[l] = append(uses[l], linkUse{int32(r), h.Num, h.Den})
		}
	}
	return uses
}

type linkUse struct {
	route    int32
	num, den int64
}

// signature is equal for links used by the same routes in the same proportions.
func signature(sig []byte, u []linkUse) []byte {
	for _, x := range u {
		// x.num/x.den divided by the first share, in lowest terms.
		num, den := reduce(x.num, u[0].num)
		den2, num2 := reduce(x.den, u[0].den)
		n, d := reduce(num*num2, den*den2)
		sig = binary.AppendVarint(sig, int64(x.route))
		sig = binary.AppendVarint(sig, n)
		sig = binary.AppendVarint(sig, d)
	}
	return sig
}

// reduce is a/b in lowest terms.
func reduce(a, b int64) (num, den int64) {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x, b / x
}

// classify finds the resources that a single connection uses, which are no more than a
// limit on its rate, and those that stand alone; and the kinds of cost.
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
			rate := c.res[u.res].capacity / u.weight
			r.solo = min(r.solo, rate)
			if c.res[u.res].routes == 1 && perRoute[i] == 1 {
				r.private = min(r.private, rate)
			} else {
				shared = append(shared, u)
			}
		}
		r.use = shared
	}
	c.standAlone()
	c.costClasses()
}

// standAlone finds the resources whose routes use no other one.
func (p *Plan) standAlone() {
	for i := range p.res {
		p.res[i].single = true
	}
	for i := range p.routes {
		if use := p.routes[i].use; len(use) > 1 {
			for _, u := range use {
				p.res[u.res].single = false
			}
		}
	}
}

// whole is the plan before folding.
func (p *Plan) whole() *Plan {
	if p.flat != nil {
		return p.flat
	}
	return p
}
