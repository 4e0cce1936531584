package topology

import (
	"fmt"
	"maps"
	"slices"
)

// capable says what a device does with data that pass through it.
func (t *Topology) capable(d DeviceID) (multicast, reduction bool) {
	m := t.devices[d].Model
	if m < 0 {
		return false, false
	}
	return t.models[m].Multicast, t.models[m].Reduction
}

// Team is a rank with others: switches between them copy what it sends, or combine what they send to it. A message between them shares
// its way with those of the other peers.
type Team struct {
	Rank  int32
	Peers []int32
	Sums  bool // else copies
}

// Pair is the source and the destination of the team's data for a peer, or from it.
func (t *Team) Pair(peer int) [2]int32 {
	if t.Sums {
		return [2]int32{t.Peers[peer], t.Rank}
	}
	return [2]int32{t.Rank, t.Peers[peer]}
}

// TeamWorks is the error of TeamRoutes alone, found without them.
func (r *Router) TeamWorks(t Team) error {
	_, _, err := r.shared(&t)
	return err
}

// linkShares are what the routes of a team put on a link: the most of one, and the sum.
type linkShares struct {
	link      LinkID
	most, sum share
	of        []teamShare // different ones, in the order in which they come
}

// teamShare is what some routes put on a link each, and what is left of it when all of them together put the most there.
type teamShare struct {
	alone, part share
	routes      int64
}

// teamShares are the links that a team's routes cross, in the order in which they come.
type teamShares struct {
	at    []int32 // by link: its number, from 1
	links []linkShares
}

// on is what is known of a link; nil where no route crosses it.
func (s *teamShares) on(l LinkID) *linkShares {
	if s.at[l] == 0 {
		return nil
	}
	return &s.links[s.at[l]-1]
}

// share is that of a route which crosses a link, entered where no route has had it.
func (s *teamShares) share(h *Hop) *teamShare {
	x := s.on(h.Link)
	if x == nil {
		s.links = append(s.links, linkShares{link: h.Link})
		s.at[h.Link] = int32(len(s.links))
		x = s.on(h.Link)
	}
	for i := range x.of {
		if x.of[i].alone == (share{h.Num, h.Den}) {
			return &x.of[i]
		}
	}
	x.of = append(x.of, teamShare{alone: share{h.Num, h.Den}})
	return &x.of[len(x.of)-1]
}

// equallyLoaded reports whether as many routes put as much on another link.
func (x *linkShares) equallyLoaded(other *linkShares) bool {
	return slices.EqualFunc(x.of, other.of, func(a, b teamShare) bool { return a.alone == b.alone && a.routes == b.routes })
}

// divide divides the most that a route puts on the link among all that cross it.
func (x *linkShares) divide() {
	for _, y := range x.of {
		if x.most.num == 0 || y.alone.num*x.most.den > x.most.num*y.alone.den {
			x.most = y.alone
		}
		x.sum = x.sum.plus(share{y.alone.num * y.routes, y.alone.den}.bounded())
	}
	part := x.most.times(x.sum.den, x.sum.num)
	for j := range x.of {
		x.of[j].part = x.of[j].alone.times(part.num, part.den)
	}
}

// sharesOf divides what the fullest of a team's routes puts on each link among all that cross it. They are valid until it is called again.
func (r *Router) sharesOf(routes []Route) *teamShares {
	s := &r.team
	if s.at == nil {
		s.at = make([]int32, len(r.t.links))
	}
	for i := range s.links {
		s.at[s.links[i].link] = 0
	}
	s.links = s.links[:0]
	for i := range routes {
		for j := range routes[i].Hops {
			s.share(&routes[i].Hops[j]).routes++
		}
	}
	for i := range s.links {
		if i > 0 && s.links[i].equallyLoaded(&s.links[i-1]) { // as the links of a bundle are
			s.links[i].most, s.links[i].sum, s.links[i].of = s.links[i-1].most, s.links[i-1].sum, s.links[i-1].of
			continue
		}
		s.links[i].divide()
	}
	return s
}

// shared are the routes between a team's ranks, each as if it were alone, and what of them the team shares, which is valid
// until it is called again.
func (r *Router) shared(t *Team) ([]Route, *teamShares, error) {
	routes := make([]Route, len(t.Peers))
	for i := range routes {
		var err error
		pair := t.Pair(i)
		if routes[i], err = r.Route(int(pair[0]), int(pair[1])); err != nil {
			return nil, nil, err
		}
	}
	r.align(routes)
	shares := r.sharesOf(routes)
	return routes, shares, r.able(shares, t)
}

// TeamRoutes are the routes of a team, by peer, when the devices between them make the copies or combine the data: a link that several of
// the routes cross carries the data once, so that each has its part of what it would put there alone. A scale-up switch returns a copy
// to the rank as well (see ownShare). It fails where copies or sums would have to be made by a device that makes none.
func (r *Router) TeamRoutes(t Team) ([]Route, error) {
	routes, shares, err := r.shared(&t)
	if err != nil {
		return nil, err
	}
	total := 0
	for i := range routes {
		total += len(routes[i].Hops)
		for j := range routes[i].Hops {
			h := &routes[i].Hops[j]
			part := shares.share(h).part
			h.Num, h.Den = part.num, part.den
		}
	}
	own := r.ownShare(shares, &t)
	hops := make([]Hop, 0, total+len(routes)*len(own)) // of all routes, which are used and forgotten together
	for i := range routes {
		first := len(hops)
		hops = append(append(hops, routes[i].Hops...), own...)
		routes[i].Hops = slices.Clip(hops[first:])
	}
	return routes, nil
}

// ownShare is what is added to each of a team's routes: what the rank whose data are copied, or for which data
// are combined, has on the way in the other direction. Scale-up switches work on addresses
// behind which is the memory of all ranks of the team (NVLink SHARP: multimem.st,
// multimem.ld_reduce): of what a rank multicasts, a copy returns to itself, and its own part
// of a sum is read from it. So n ranks that reduce and spread N bytes have N·(n+1)/n on the
// wire in each direction (the maintainer of nccl-tests, PR 239). A message to one rank is no
// multicast, and switches of networks send nothing back.
func (r *Router) ownShare(shares *teamShares, t *Team) (own []Hop) {
	if len(t.Peers) < 2 {
		return nil
	}
	d := r.t.ranks[t.Rank]
	away, back := r.t.Out(d), r.t.In(d)
	if t.Sums {
		away, back = back, away
	}
	through, rates := map[DeviceID]share{}, map[DeviceID]int64{}
	for _, l := range away {
		if x := shares.on(l); x != nil && r.t.devices[r.switchOf(l)].Kind == NVSwitch {
			through[r.switchOf(l)] = through[r.switchOf(l)].plus(x.most)
		}
	}
	for _, l := range back {
		rates[r.switchOf(l)] += int64(r.t.Rate(l))
	}
	for _, l := range back {
		s, ok := through[r.switchOf(l)]
		if !ok {
			continue
		}
		s = s.times(int64(r.t.Rate(l)), rates[r.switchOf(l)]).times(1, int64(len(t.Peers)))
		own = append(own, Hop{Link: l, Num: s.num, Den: s.den})
	}
	return own
}

// align splits all routes of a team over the switches between them alike, where these are
// one level of scale-up switches: in proportion to what all of them can carry over each. A
// copy is made, or a part combined, in one switch, so that a slow link of one rank makes all
// others use its switch less.
func (r *Router) align(routes []Route) {
	weight, total := map[DeviceID]int64{}, int64(0)
	for i := range routes {
		through := r.through(&routes[i])
		if through == nil {
			return
		}
		for s, w := range through {
			if have, ok := weight[s]; i == 0 || ok && w < have {
				weight[s] = w
			}
		}
		maps.DeleteFunc(weight, func(s DeviceID, _ int64) bool { return through[s] == 0 })
	}
	for _, w := range weight {
		total += w
	}
	if total == 0 {
		return
	}
	for i := range routes {
		route := &routes[i]
		route.Hops = slices.DeleteFunc(route.Hops, func(h Hop) bool { return weight[r.switchOf(h.Link)] == 0 })
		for j := range route.Hops {
			s := share{1, 1}.times(weight[r.switchOf(route.Hops[j].Link)], total)
			route.Hops[j].Num, route.Hops[j].Den = s.num, s.den
		}
		*route = r.finish(path{hops: route.Hops, latency: route.delay(), links: route.Links}, route.Kind)
	}
}

// through is what a route can carry over each switch; nil where it takes more than one
// level of them, or none.
func (r *Router) through(route *Route) map[DeviceID]int64 {
	if route.Kind != Switched {
		return nil
	}
	out := map[DeviceID]int64{}
	for _, h := range route.Hops {
		s := r.switchOf(h.Link)
		if l := r.t.links[h.Link]; r.t.RankOf(l.From) < 0 && r.t.RankOf(l.To) < 0 {
			return nil
		}
		if rate := int64(r.t.Rate(h.Link)); out[s] == 0 || rate < out[s] {
			out[s] = rate
		}
	}
	return out
}

// switchOf is the end of a link that is no rank.
func (r *Router) switchOf(id LinkID) DeviceID {
	l := r.t.links[id]
	if r.t.RankOf(l.From) < 0 {
		return l.From
	}
	return l.To
}

// able reports which device would have to multiply or to combine data and does not: one
// that more would leave than enters it, or the other way round. A rank at the end has to
// send, or receive, no more than the data once.
func (r *Router) able(shares *teamShares, t *Team) error {
	in, out := map[DeviceID]float64{}, map[DeviceID]float64{}
	for _, x := range shares.links {
		s := float64(x.most.num) / float64(x.most.den)
		out[r.t.links[x.link].From] += s
		in[r.t.links[x.link].To] += s
	}
	if t.Sums {
		in, out = out, in // what it combines leaves a device once, enters it several times
	}
	in[r.t.ranks[t.Rank]] = 1
	const rounding = 1e-6
	for _, d := range slices.Sorted(maps.Keys(out)) {
		m, c := r.t.capable(d)
		if can := !t.Sums && m || t.Sums && c; can || out[d] <= in[d]+rounding {
			continue
		}
		does := "multicast"
		if t.Sums {
			does = "combine data on their way"
		}
		return Unreachable{Advice: fmt.Sprintf("%s does not %s: the topology does not say that it does", r.t.DeviceName(d), does)}
	}
	return nil
}

// InNetwork reports whether any device that is admitted multicasts, and whether any
// combines data on their way. nil admits all.
func (t *Topology) InNetwork(admit func(Device) bool) (multicast, reduction bool) {
	for d := range t.devices {
		if admit != nil && !admit(t.devices[d]) {
			continue
		}
		m, c := t.capable(DeviceID(d))
		multicast, reduction = multicast || m, reduction || c
	}
	return multicast, reduction
}

// withoutInNetwork is what names say of such a machine.
const withoutInNetwork = " without in-network operations"

// WithoutInNetwork is the machine with switches that only forward: as where a site has
// NVLink SHARP turned off. It has the same hash, since what can be planned for it works
// on the whole one. Where they only forward anyway, it is the machine itself.
func (t *Topology) WithoutInNetwork() *Topology {
	if m, r := t.InNetwork(nil); !m && !r {
		return t
	}
	out := *t
	out.derived = new(derived)
	out.models = make([]Model, len(t.models))
	for i, m := range t.models {
		m.Reduction, m.Multicast = false, false
		out.models[i] = m
	}
	out.name += withoutInNetwork
	return &out
}
