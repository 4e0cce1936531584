package step

import (
	"math"

	"railyard/model/topology"
)

// pattern is who talks to whom in a group.
type pattern uint8

const (
	ring     pattern = iota // all-reduce, all-gather, reduce-scatter
	exchange                // all-to-all
	chain                   // pipeline: each member to the next
)

// sharing is what links leave to each group of a family when all groups communicate at
// once, at line rate.
type sharing struct {
	scaleUp float64 // share of what a group alone gets inside domains, at most 1
	network float64 // bytes/s out of a domain for a group, +Inf where it stays in one
	limit   topology.LinkID
	spans   bool // groups cross the network
}

// The model of contention: a group moves its bytes along a ring over its domains; between
// two neighbouring domains every local rank sends its equal part to its counterpart, as
// NCCL's channels do with one adapter each; inside a domain the ring goes from rank to
// rank. In an exchange every domain sends the same to every other one. Loads of all
// groups add up on each link, and the fullest link sets the pace of all. A test holds
// this against the simulator's jobs that run at once (sim.CompileJobs).

// maxNeighbours bounds the other domains that an exchange's load is sampled at.
const maxNeighbours = 8

// share works out the sharing of a family under a pattern. On a regular machine it is
// enough to look at what the ranks of one unit (see sample) send.
func (m *Machine) share(f *Family, p pattern) (sharing, error) {
	links := len(m.Topology.Links())
	l := &loads{m: m, p: p, all: make([]float64, links), one: map[topology.LinkID]float64{}, net: make([]bool, links)}
	f.Groups(func(ranks []int) {
		if l.err == nil && m.sampled(ranks) {
			l.add(ranks)
			l.groups++
		}
	})
	return l.result(), l.err
}

type loads struct {
	m      *Machine
	p      pattern
	groups int
	all    []float64                   // by link: bytes of all groups for a byte that each group moves
	one    map[topology.LinkID]float64 // the same of the first group
	net    []bool                      // by link: it carries traffic between domains
	err    error
}

// add puts a group's traffic on the links.
func (l *loads) add(ranks []int) {
	parts := l.byDomain(ranks)
	for _, part := range parts {
		if len(part) > 1 && l.p != chain {
			l.within(part)
		}
	}
	n := len(parts)
	if l.p == chain {
		for i := range len(ranks) - 1 {
			l.send(ranks[i], ranks[i+1], 1, l.m.domains[ranks[i]] != l.m.domains[ranks[i+1]])
		}
		return
	}
	for i := range parts {
		if n == 1 {
			break
		}
		if l.p == ring {
			l.between(parts[i], parts[(i+1)%n], 1)
			continue
		}
		count := min(n-1, maxNeighbours)
		for k := range count {
			l.between(parts[i], parts[(i+1+k*(n-1)/count)%n], 1/float64(count))
		}
	}
}

// byDomain cuts a group into its members of each domain.
func (l *loads) byDomain(ranks []int) [][]int {
	index := map[int]int{}
	var parts [][]int
	for _, r := range ranks {
		d := l.m.domains[r]
		i, ok := index[d]
		if !ok {
			i = len(parts)
			index[d] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	return parts
}

// within is a ring inside a domain, or an exchange between all its members.
func (l *loads) within(part []int) {
	n := len(part)
	for i, r := range part {
		if l.p == ring {
			l.send(r, part[(i+1)%n], 1, false)
			continue
		}
		for d := 1; d < n; d++ {
			l.send(r, part[(i+d)%n], 1/float64(n-1), false)
		}
	}
}

// between sends a byte from one domain to another, spread over the ranks of the first.
func (l *loads) between(from, to []int, bytes float64) {
	for i, r := range from {
		l.send(r, to[i%len(to)], bytes/float64(len(from)), true)
	}
}

func (l *loads) send(from, to int, bytes float64, net bool) {
	if l.m.sample.ranks > 0 && from >= l.m.sample.ranks {
		return
	}
	route, err := l.m.router.Route(from, to)
	if err != nil {
		l.err = err
		return
	}
	for _, h := range route.Hops {
		x := bytes * float64(h.Num) / float64(h.Den) * l.m.sample.shared(l.m.Topology, h.Link)
		l.all[h.Link] += x
		if l.groups == 0 {
			l.one[h.Link] += x
		}
		if net {
			l.net[h.Link] = true
		}
	}
}

// result compares the fullest links.
func (l *loads) result() sharing {
	s := sharing{scaleUp: 1, network: math.Inf(1), limit: topology.NoLink}
	alone, together := math.Inf(1), math.Inf(1)
	local := topology.NoLink
	for i, x := range l.all {
		id := topology.LinkID(i)
		if x == 0 || l.m.sample.down(l.m.Topology, id) {
			continue
		}
		rate := float64(l.m.Topology.Rate(id))
		if l.net[i] {
			s.spans = true
			if r := rate / x; r < s.network {
				s.network, s.limit = r, id
			}
			continue
		}
		if r := rate / x; r < together {
			together, local = r, id
		}
		if own := l.one[id]; own > 0 {
			alone = min(alone, rate/own)
		}
	}
	if !math.IsInf(together, 1) && !math.IsInf(alone, 1) {
		s.scaleUp = min(together/alone, 1)
	}
	if s.limit == topology.NoLink {
		s.limit = local
	}
	return s
}
