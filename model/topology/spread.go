package topology

import (
	"math"
	"slices"

	"railyard/model/units"
)

// share is an exact fraction of a transfer's bytes.
type share struct{ num, den int64 }

func (s share) reduced() share {
	if g := units.GCD(s.num, s.den); g > 1 {
		return share{s.num / g, s.den / g}
	}
	return s
}

// maxDen keeps products of shares and rates inside 64 bits. Shares of regular fabrics
// have small denominators; only very irregular ones are rounded (up) to 2⁻³⁰.
const maxDen = 1 << 30

func (s share) bounded() share {
	if s = s.reduced(); s.den > maxDen {
		return share{units.MulDivUp(s.num, maxDen, s.den), maxDen}.reduced()
	}
	return s
}

// times multiplies by part/whole.
func (s share) times(part, whole int64) share {
	p := share{part, whole}.bounded()
	g1, g2 := units.GCD(s.num, p.den), units.GCD(p.num, s.den)
	return share{s.num / g1 * (p.num / g2), s.den / g2 * (p.den / g1)}.bounded()
}

func (s share) plus(o share) share {
	if s.num == 0 {
		return o
	}
	g := units.GCD(s.den, o.den)
	return share{s.num*(o.den/g) + o.num*(s.den/g), s.den / g * o.den}.bounded()
}

// spreader finds all shortest paths between two devices and splits a transfer over
// them, at each device in proportion to the rates of the links that lead on. It keeps
// its working memory between calls.
type spreader struct {
	t     *Topology
	dist  []int32 // to the destination; valid where stamp matches
	stamp []uint32
	now   uint32
	come  []arrival // of the transfer that is split
	hops  []Hop     // the same
}

func newSpreader(t *Topology) *spreader {
	return &spreader{t: t, dist: make([]int32, len(t.devices)), stamp: make([]uint32, len(t.devices)),
		come: make([]arrival, len(t.devices))}
}

// path is a transfer spread over equally short paths.
type path struct {
	hops    []Hop
	latency delay // of the slowest of them
	via     [len(kindNames)]int
	links   int
	apart   bool // no link comes twice in hops

	trunk *trunk // not in hops: it belongs at their index at; nil: none
	at    int
}

// find spreads a transfer from src to dst over devices that allow admits in between.
func (s *spreader) find(src, dst DeviceID, allow func(DeviceID) bool) (path, bool) {
	if !s.measure(src, dst, true, allow) {
		return path{}, false
	}
	return s.split(src, dst, s.rate), true
}

// findFitting does so in proportion to what can go on behind the links as well, so that a
// slow link near dst gets less, as one near src does.
func (s *spreader) findFitting(src, dst DeviceID, allow func(DeviceID) bool) (path, bool) {
	if !s.measure(src, dst, true, allow) {
		return path{}, false
	}
	return s.split(src, dst, s.through(dst)), true
}

func (s *spreader) rate(l LinkID) int64 { return int64(s.t.Rate(l)) }

// through is what can go over a link and on to dst, other ways into the same devices left
// aside.
func (s *spreader) through(dst DeviceID) func(LinkID) int64 {
	known := map[DeviceID]int64{dst: math.MaxInt64}
	var onFrom func(DeviceID) int64
	through := func(l LinkID) int64 { return min(s.rate(l), onFrom(s.t.links[l].To)) }
	onFrom = func(u DeviceID) int64 {
		if _, ok := known[u]; !ok {
			for _, l := range s.onward(u, s.dist[u]-1) {
				known[u] += through(l)
			}
		}
		return known[u]
	}
	return through
}

// arrival is what comes of a transfer to a device, and when.
type arrival struct {
	share   share
	latency delay
}

// and is with what comes one way more.
func (x arrival) and(s share, after delay) arrival {
	if x.share.den > 0 {
		after = x.latency.slower(after)
	}
	return arrival{x.share.plus(s), after}
}

// split is the transfer over the paths that were measured, in proportion to weights.
func (s *spreader) split(src, dst DeviceID, weight func(LinkID) int64) path {
	p, hops := path{apart: true}, s.hops[:0]
	front, next := []DeviceID{src}, []DeviceID(nil)
	s.come[src] = arrival{share: share{1, 1}}
	for d := s.dist[src]; d > 0; d-- {
		next = next[:0]
		for i, u := range front {
			if i == 0 && d < s.dist[src] {
				p.via[s.t.devices[u].Kind]++
			}
			at := s.come[u]
			s.come[u] = arrival{}
			var total int64
			onward := s.onward(u, d-1)
			for _, l := range onward {
				total += weight(l)
			}
			for _, l := range onward {
				h, to := at.share.times(weight(l), total), s.t.links[l].To
				if s.come[to].share.den == 0 {
					next = append(next, to)
				}
				s.come[to] = s.come[to].and(h, at.latency.then(s.t.Class(l).delay()))
				hops = append(hops, Hop{Link: l, Num: h.num, Den: h.den})
				if u == src {
					p.links += int(s.t.links[l].Count)
				}
			}
		}
		slices.Sort(next)
		front, next = next, front
	}
	s.hops, p.hops, p.latency = hops, slices.Clone(hops), s.come[dst].latency
	s.come[dst] = arrival{}
	return p
}

// onward are the links of u that lead to a device at distance d.
func (s *spreader) onward(u DeviceID, d int32) []LinkID {
	var out []LinkID
	for _, l := range s.t.Out(u) {
		if v := s.t.links[l].To; s.stamp[v] == s.now && s.dist[v] == d {
			out = append(out, l)
		}
	}
	return out
}

// forget drops all distances.
func (s *spreader) forget() {
	if s.now++; s.now == math.MaxUint32 {
		clear(s.stamp)
		s.now = 1
	}
}

// measure is a breadth-first search from dst backwards, up to src's distance; links from src to dst count where direct is true.
func (s *spreader) measure(src, dst DeviceID, direct bool, allow func(DeviceID) bool) bool {
	s.forget()
	s.stamp[dst], s.dist[dst] = s.now, 0
	for front := []DeviceID{dst}; len(front) > 0 && s.stamp[src] != s.now; {
		var next []DeviceID
		for _, v := range front {
			for _, l := range s.t.In(v) {
				u := s.t.links[l].From
				if s.stamp[u] == s.now || u != src && !allow(u) || u == src && v == dst && !direct {
					continue
				}
				s.stamp[u], s.dist[u] = s.now, s.dist[v]+1
				next = append(next, u)
			}
		}
		front = next
	}
	return s.stamp[src] == s.now && src != dst
}
