package step

import (
	"math"
	"slices"

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
// once.
type sharing struct {
	Share
	limit topology.LinkID
}

// The model of contention: a group moves its bytes along a ring over its domains; between
// two neighbouring domains every local rank sends its equal part to its counterpart, as
// NCCL's channels do with one adapter each; inside a domain the ring goes from rank to
// rank, where it can over links that join them without PCIe, as NCCL's search for channels
// orders them. In an exchange every domain sends the same to every other one. Loads of all
// groups add up on each link, and the fullest link sets the pace of all. What this leaves to a
// group is compared with the same model of the group alone: inside domains where it is, between
// them on the part of the machine that the library's model stands for. So a group alone on the
// machine has a share of exactly 1. A test holds this against the simulator's jobs that run at
// once (sim.CompileJobs).

// maxNeighbours bounds the other domains that an exchange's load is sampled at.
const maxNeighbours = 8

// share works out the sharing of a family under a pattern, of which a group alone is on part.
func (m *Machine) share(f *Family, p pattern, part *topology.Topology) (sharing, error) {
	together, err := m.load(f, p)
	if err != nil || together.network().link == topology.NoLink {
		return together.result(1), err
	}
	alone := m
	if part != m.Topology {
		if alone, err = NewMachine(part, m.GPU, nil); err != nil {
			return sharing{}, err
		}
	}
	whole := newFamily(f.Axis, []dim{{1, part.NumRanks()}}, nil)
	one, err := alone.load(&whole, p)
	return together.result(one.network().rate), err
}

// load adds up the traffic of a family's groups. On a regular machine it is enough to look at
// what the ranks of one unit (see sample) send.
func (m *Machine) load(f *Family, p pattern) (*loads, error) {
	links := len(m.Topology.Links())
	l := &loads{m: m, p: p, all: make([]float64, links), one: make([]float64, links), net: make([]bool, links)}
	f.Groups(func(ranks []int) {
		if l.err == nil && m.sampled(ranks) {
			l.add(ranks)
			l.groups++
		}
	})
	return l, l.err
}

type loads struct {
	m      *Machine
	p      pattern
	groups int
	all    []float64 // by link: bytes of all groups for a byte that each group moves
	one    []float64 // the same of the first group
	net    []bool    // by link: it carries traffic between domains
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
	if l.p == ring {
		part = l.m.around(part)
	}
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

// fullest is the link that sets the pace of all, and the bytes/s that it lets each group move.
type fullest struct {
	rate float64
	link topology.LinkID
}

func (l *loads) fullest(load []float64, net bool) fullest {
	x := fullest{math.Inf(1), topology.NoLink}
	for i := range load {
		if id := topology.LinkID(i); load[i] > 0 && l.net[i] == net && !l.m.sample.down(l.m.Topology, id) {
			if rate := float64(l.m.Topology.Rate(id)) / load[i]; rate < x.rate {
				x = fullest{rate, id}
			}
		}
	}
	return x
}

// network is the fullest link that carries traffic between domains, local that of the others.
func (l *loads) network() fullest { return l.fullest(l.all, true) }

func (l *loads) local() fullest { return l.fullest(l.all, false) }

// result compares the fullest links with those of a group alone: inside domains the first one,
// across what it moves there at most.
func (l *loads) result(network float64) sharing {
	net, local := l.network(), l.local()
	s := sharing{Share{1, 1}, local.link}
	if net.link != topology.NoLink {
		s.Network, s.limit = min(net.rate/network, 1), net.link
	}
	if alone := l.fullest(l.one, false); !math.IsInf(alone.rate, 1) {
		s.ScaleUp = min(local.rate/alone.rate, 1)
	}
	return s
}

// maxAround bounds the ranks that are put into another order, and the steps of the search.
const maxAround, aroundSteps = 16, 1 << 14

// around is some ranks of a domain in an order in which each has links to the next that are no
// PCIe, the first that there is; as they are, where there is none.
func (m *Machine) around(part []int) []int {
	joined := func(a, b int) bool {
		route, err := m.router.Route(a, b)
		return err == nil && route.Kind <= topology.Switched
	}
	as := true
	for i, r := range part {
		as = as && joined(r, part[(i+1)%len(part)])
	}
	if as || len(part) > maxAround {
		return part
	}
	steps, order := aroundSteps, []int{part[0]}
	var extend func() bool
	extend = func() bool {
		last := order[len(order)-1]
		if len(order) == len(part) {
			return joined(last, part[0])
		}
		for _, r := range part {
			if steps--; steps > 0 && !slices.Contains(order, r) && joined(last, r) {
				if order = append(order, r); extend() {
					return true
				}
				order = order[:len(order)-1]
			}
		}
		return false
	}
	if extend() {
		return order
	}
	return part
}
