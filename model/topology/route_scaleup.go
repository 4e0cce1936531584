package topology

import "slices"

// scaleUp keeps paths through switches between nodes, which are asked for again and again:
// a rack's ranks talk to all others in every schedule.
type scaleUp struct {
	known map[[2]DeviceID]path
	hops  int // in all of them
}

// maxScaledHops bounds what is kept (40 bytes each); beyond, it begins anew.
const maxScaledHops = 1 << 20

// find returns what is known or what search finds.
func (c *scaleUp) find(a, b DeviceID, search func() (path, bool)) (path, bool) {
	key := [2]DeviceID{a, b}
	p, ok := c.known[key]
	if !ok {
		if p, ok = search(); !ok {
			return p, false
		}
		if c.hops += len(p.hops); c.known == nil || c.hops > maxScaledHops {
			c.known, c.hops = map[[2]DeviceID]path{}, len(p.hops)
		}
		c.known[key] = p
	}
	p.hops = slices.Clone(p.hops) // the caller may change them
	return p, true
}
