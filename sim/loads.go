package sim

import (
	"math"

	"railyard/model/topology"
	"railyard/model/units"
)

// loads adds up what each link and each rank carries.
func (p *Plan) loads(e *engine, r *Result) {
	p = p.unfolded()
	perRoute, sent := make([]float64, len(p.routes)), make([]float64, p.topo.NumRanks())
	for i := range p.conns {
		k := &p.conns[i]
		sum := e.bytes(k)
		perRoute[k.route] += float64(sum)
		sent[p.routes[k.route].src] += float64(float64(sum) * float64(p.channelsOf(k.channel)) * p.routes[k.route].leaving *
			p.peersOf(k))
	}
	for _, b := range sent {
		r.SentBytes = append(r.SentBytes, units.Bytes(math.Round(b)))
	}
	bytes := make([]float64, len(p.wires))
	for i, b := range perRoute {
		for _, h := range p.routes[i].hops {
			bytes[h.wire] += float64(b * h.share)
		}
	}
	r.Links = make([]LinkLoad, len(p.wires))
	for i, w := range p.wires {
		r.Links[i] = p.load(w, bytes[i], r.Time)
	}
	r.Shared = p.mostShared(perRoute, r.Time)
	r.Node = p.busiestNode(perRoute, r.Time)
	if p.symmetry != nil {
		p.symmetry.spread(r)
	}
	if p.links != nil {
		spreadLinks(r, p.links, len(p.topo.Links()))
	}
	r.Balance = balance(r)
}

// bytes are those of an operation on a connection of the plan, or of that which it is folded from.
func (e *engine) bytes(k *conn) (sum units.Bytes) {
	for i, s := range e.listed(k) {
		sum += units.Bytes(k.messages.loop.times(int32(i))) * e.table.bytes[s]
	}
	return sum * units.Bytes(e.strand(k.channel).slices)
}

// channelsOf is how many channels one stands for.
func (p *Plan) channelsOf(channel int32) int32 {
	if p.symmetry == nil {
		return 1
	}
	return p.symmetry.times[channel]
}

// peersOf is to how many peers a connection stands for those of its sender.
func (p *Plan) peersOf(k *conn) float64 {
	if p.symmetry == nil {
		return 1
	}
	return float64(k.times / p.symmetry.multiplicity(p.routes[k.route].src) / p.symmetry.times[k.channel])
}

// spreadLinks gives all links what those carry that stand for them.
func spreadLinks(r *Result, group *topology.Symmetry, links int) {
	load := map[topology.LinkID]*LinkLoad{}
	for i := range r.Links {
		load[r.Links[i].Link] = &r.Links[i]
	}
	count := 0
	for l := range load {
		_, size := group.LinkOrbit(l)
		count += size
	}
	all := make([]LinkLoad, 0, count)
	for l := range topology.LinkID(links) {
		orbit, _ := group.LinkOrbit(l)
		if x, ok := load[orbit]; ok {
			all = append(all, LinkLoad{Link: l, Bytes: x.Bytes, Utilisation: x.Utilisation})
		}
	}
	r.Links = all
}

// load is what a wire carries in a time.
func (p *Plan) load(w wire, bytes float64, t units.Time) LinkLoad {
	l := LinkLoad{Link: w.link, Lane: w.lane, Bytes: bytes}
	if t != 0 {
		l.Utilisation = bytes / (p.rate(w) * t.Seconds())
	}
	return l
}

func balance(r *Result) Balance {
	ranks, links := newSpread(), newSpread()
	for _, s := range r.SentBytes {
		ranks.add(float64(s))
	}
	for _, l := range r.Links {
		links.add(l.Utilisation)
	}
	var b Balance
	b.Ranks, b.MinRank = ranks.evenness()
	b.Links, b.MinLink = links.evenness()
	return b
}

// spread is how evenly something is spread.
type spread struct{ n, sum, least, most float64 }

func newSpread() spread { return spread{least: math.Inf(1)} }

func (s *spread) add(v float64) {
	s.n++
	s.sum += v
	s.least, s.most = min(s.least, v), max(s.most, v)
}

// evenness is mean and least as parts of the largest; 0 where there is nothing.
func (s *spread) evenness() (mean, least float64) {
	if s.most == 0 {
		return 0, 0
	}
	return s.sum / s.n / s.most, s.least / s.most
}
