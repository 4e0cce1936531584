package planner

import (
	"slices"

	"railyard/model/schedule"
	"railyard/planner/pack"
)

// buildShortFlows is flows on paths of fewer links: units wait at every rank on their way, so
// that these cost less latency and fill sooner; but more links are as full as the fullest.
func buildShortFlows(r *request) (*schedule.Schedule, error) {
	g, err := r.flowGraph()
	if err != nil {
		return nil, err
	}
	short := r.shortOver(g)
	if short == nil {
		return nil, notApplicable("no path of flows has fewer links")
	}
	return r.sendFlow(inShortPaths, short), nil
}

// shortOver is a flow on paths of fewer links; nil: there are none.
func (r *request) shortOver(g *flowGraph) *flow {
	return onceFlow(r, inShortPaths, func() *flow {
		f := r.spreadOver(g).copied()
		if !f.shorten() {
			return nil
		}
		return f.inFewPaths()
	})
}

// shorten gives each unit the path of fewest links on which no link becomes fuller than the
// fullest is, again and again until none is shorter, and says whether any is.
func (f *flow) shorten() (found bool) {
	f.fullest()
	for shorter := true; shorter; {
		shorter = false
		for i, p := range f.paths {
			if p == nil {
				continue
			}
			f.count(p, -f.size(i))
			if q := f.fewest(p[0], p[len(p)-1], f.size(i)); q != nil && len(q) < len(p) {
				f.paths[i], shorter, found = q, true, true
			}
			f.count(f.paths[i], f.size(i))
		}
	}
	return found
}

// fullest finds the loads of all paths anew, and the largest.
func (f *flow) fullest() float64 {
	clear(f.load)
	f.full = 0
	for i, p := range f.paths {
		if p != nil {
			f.count(p, f.size(i))
		}
	}
	return f.full
}

// fewest is the path of fewest links that have room for a unit, breadth first; nil: there is none.
func (f *flow) fewest(src, dst int32, size float64) []int32 {
	room := f.full * (1 + 1e-12)
	for v := range f.from {
		f.from[v] = -1
	}
	f.from[src] = src
	for queue := []int32{src}; len(queue) > 0 && f.from[dst] < 0; queue = queue[1:] {
		v := queue[0]
		last := f.lastRank(v)
		for _, w := range f.g.next[v] {
			if f.from[w] < 0 && (f.mixed || last == v || !f.g.joins(last, w)) && f.fits(v, w, size, room) {
				f.from[w] = v
				queue = append(queue, w)
			}
		}
	}
	if f.from[dst] < 0 {
		return nil
	}
	return f.pathTo(src, dst)
}

// fits reports whether an arc has room for a unit of a size, where nothing may be fuller than so much.
func (f *flow) fits(a, b int32, size, room float64) bool {
	return !slices.ContainsFunc(f.g.takes(a, b), func(t pack.Take) bool { return f.load[t.Resource]+size*t.Time > room })
}
