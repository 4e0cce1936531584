package sim

import (
	"encoding/binary"

	"railyard/model/topology"
)

// mergeLinks makes one resource of all links that the same routes load in the same
// proportion, e.g. the four NVSwitch uplinks of a GPU, or PCIe slot, NIC port and leaf
// port in a row. The resource's capacity is that of the link that limits.
func (c *compiler) mergeLinks() {
	uses := map[topology.LinkID][]linkUse{}
	var order []topology.LinkID
	for r := range c.routes {
		for _, h := range c.routes[r].full.Hops {
			if uses[h.Link] == nil {
				order = append(order, h.Link)
			}
			uses[h.Link] = append(uses[h.Link], linkUse{int32(r), h.Num, h.Den})
		}
	}
	bySignature := map[string]int32{}
	var sig []byte
	for _, l := range order {
		u := uses[l]
		sig = signature(sig[:0], u)
		// Normalised to the first route's share, the link carries this much.
		capacity := float64(c.topo.Rate(l)) * float64(u[0].den) / float64(u[0].num)
		id, ok := bySignature[string(sig)]
		if !ok {
			id = int32(len(c.res))
			bySignature[string(sig)] = id
			c.res = append(c.res, resource{capacity: capacity})
			for _, x := range u {
				w := float64(x.num) / float64(x.den) * float64(u[0].den) / float64(u[0].num)
				c.routes[x.route].use = append(c.routes[x.route].use, usage{id, w})
			}
		}
		c.res[id].links = append(c.res[id].links, l)
		c.res[id].capacity = min(c.res[id].capacity, capacity)
	}
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
