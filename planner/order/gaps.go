package order

import "slices"

// gap is a time of the period in which a connection is free.
type gap struct{ from, to int64 }

// take gives a hop that is ready at a time the first free time from there on, in several parts
// where it has to be, and says when it ends.
func (c *conn) take(ready, takes, period int64) (ends int64) {
	lap := ready / period * period
	i := c.gapFrom(ready - lap)
	for takes > 0 {
		if i == len(c.gaps) {
			i, lap = 0, lap+period
		}
		g := &c.gaps[i]
		n := min(takes, g.to-g.from)
		g.from, takes, ends = g.from+n, takes-n, lap+g.from+n
		if g.from == g.to {
			c.gaps = slices.Delete(c.gaps, i, i+1)
		}
	}
	return ends
}

// gapFrom is the first gap that is not over at a time; one that has begun is cut in two there.
func (c *conn) gapFrom(at int64) int {
	i, _ := slices.BinarySearchFunc(c.gaps, at, func(g gap, at int64) int {
		if g.to <= at {
			return -1
		}
		return 1
	})
	if i < len(c.gaps) && c.gaps[i].from < at {
		c.gaps = slices.Insert(c.gaps, i, gap{c.gaps[i].from, at})
		i++
		c.gaps[i].from = at
	}
	return i
}
