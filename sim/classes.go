package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/model/schedule"
	"railyard/model/topology"
)

// classes say that the nodes of a class do alike, on a machine whose nodes are not all
// alike: in every phase everybody talks to everybody, or to all of the rail, and what
// ranks do depends on the class of their node alone. The first node of each class is
// compiled for all, and a connection to one of several peers that are alike, since
// automorphisms that leave the sender where it is take one to the other, for those to all
// of them. It spares compiling what folding would then find to be equal.
type classes struct {
	group    *topology.Classes
	node     []int32 // by rank
	first    []int32 // by node: its first rank
	partners map[[2]int32]partners
}

// partners are the nodes of a class that are as far from a node as one of them.
type partners struct{ first, count int32 }

// findClasses is nil where the schedule's or the topology's structure shows none.
func findClasses(t *topology.Topology, s *schedule.Schedule) *classes {
	if t.NumNodes() < 2 || !s.Spec.Uniform() {
		return nil
	}
	y := &classes{first: slices.Repeat([]int32{-1}, t.NumNodes()), partners: map[[2]int32]partners{}}
	for r := range t.NumRanks() {
		n := t.NodeOf(r)
		y.node = append(y.node, int32(n))
		if y.first[n] < 0 {
			y.first[n] = int32(r)
		}
	}
	for i := range s.Channels {
		for j := range s.Channels[i].Phases {
			if !y.byClass(&s.Channels[i], &s.Channels[i].Phases[j]) {
				return nil
			}
		}
	}
	labels := map[string]int{}
	var ok bool
	y.group, ok = topology.NewClasses(t, func(node int) int {
		var key []byte
		if s.Spec.Kind.Rooted() && y.node[s.Spec.Root] == int32(node) {
			key = append(key, 0)
		}
		for i := range s.Channels {
			if b := s.Channels[i].Bends; b != nil {
				key = binary.AppendVarint(key, int64(b.Nodes[node]))
			}
		}
		if _, known := labels[string(key)]; !known {
			labels[string(key)] = len(labels)
		}
		return labels[string(key)]
	})
	if !ok {
		return nil
	}
	return y
}

// byClass reports whether what ranks do in a phase depends on what their node is, and not on
// which it is.
func (y *classes) byClass(ch *schedule.Channel, ph *schedule.Phase) bool {
	nodes, ranks := int32(len(y.first)), int32(len(y.node))
	size := func(n int) int32 {
		if n+1 < len(y.first) {
			return y.first[n+1] - y.first[n]
		}
		return ranks - y.first[n]
	}
	if ch.Bends != nil && len(ch.Bends.Nodes) != len(y.first) {
		return false
	}
	for n := range y.first {
		if y.first[n] < 0 || ch.Bends != nil && size(n) != ch.Bends.Ranks(n) || ph.Gen != schedule.GenBends && size(n)*nodes != ranks {
			return false
		}
	}
	return ph.Gen == schedule.GenBends || ph.Gen == schedule.GenDirect && (&symmetry{nodes: nodes, local: ranks / nodes}).toAnyNode(ph)
}

// ranks are those of the first nodes of all classes.
func (y *classes) ranks() []int32 {
	var out []int32
	for r, n := range y.node {
		if y.group.First(int(n)) == int(n) {
			out = append(out, int32(r))
		}
	}
	return out
}

// size is how many ranks a rank stands for.
func (y *classes) size(rank int32) int32 { return int32(y.group.Size(int(y.node[rank]))) }

// toward is the rank that stands for a peer of a rank of a first node, and for how many.
func (y *classes) toward(rank int32, apart int, like int32) (peer, count int32) {
	from, place := y.node[rank], like-y.first[y.node[like]]
	class := y.group.Class(int(y.node[like]))
	key := [2]int32{from, int32(class)<<8 | int32(apart)}
	p, ok := y.partners[key]
	if !ok {
		for n := range y.first {
			if y.group.Class(n) == class && y.group.Apart(int(from), n) == apart {
				if p.count++; p.count == 1 {
					p.first = int32(n)
				}
			}
		}
		y.partners[key] = p
	}
	return y.first[p.first] + place, p.count
}

// canonical is the connection that stands for one to or from a rank of a first node, and
// how many it stands for.
func (y *classes) canonical(src, dst int32) (from, to, times int32) {
	apart := y.group.Apart(int(y.node[src]), int(y.node[dst]))
	from = y.first[y.group.First(int(y.node[src]))] + src - y.first[y.node[src]]
	to, count := y.toward(from, apart, dst)
	return from, to, count * y.size(src)
}

// mergeAlike leaves of the program at hand what it does with the first of peers that are
// alike: it does the same with the others at the same time.
func (c *compiler) mergeAlike() error {
	uses, lists := usesIn(c.prog, len(c.conn)), make([][]int32, len(c.conn))
	for i := range c.prog {
		if k := c.prog[i].conn; k >= 0 {
			lists[k] = append(lists[k], c.prog[i].size)
		}
	}
	type end struct {
		conn int32
		out  bool
	}
	first, number := map[end]int32{}, make([]int32, len(c.conn)) // −1: as the first one does
	left := int32(0)
	for i, k := range c.conn {
		at, known := first[end{k, c.out[i]}]
		switch {
		case !known:
			first[end{k, c.out[i]}], number[i] = int32(i), left
			c.conn[left], c.out[left], c.with[left] = c.conn[i], c.out[i], c.with[i]
			left++
		case uses[i] != uses[at] || !slices.Equal(lists[i], lists[at]):
			return fmt.Errorf("%w: unlike messages", errAsymmetric)
		default:
			number[i] = -1
		}
	}
	c.conn, c.out, c.with = c.conn[:left], c.out[:left], c.with[:left]
	prog := c.prog[:0]
	for _, o := range c.prog {
		if o.conn >= 0 {
			if o.conn = number[o.conn]; o.conn < 0 {
				continue
			}
		}
		prog = append(prog, o)
	}
	c.prog = prog
	return nil
}

// receive gives connections an inbox for each lane that receives.
func (c *compiler) receive() {
	boxes := make([][]int32, len(c.conns)) // by connection: where laneConns has them
	for _, at := range c.receives {
		boxes[c.laneConns[at]] = append(boxes[c.laneConns[at]], at)
	}
	c.inboxes = []int32{}
	for k, list := range boxes {
		for _, at := range list {
			c.laneConns[at] = int32(len(c.inboxes))
			c.inboxes = append(c.inboxes, int32(k))
		}
	}
}

// spread gives all ranks and links what those that stand for them carry.
func (y *classes) spread(r *Result, links int) {
	for i := range r.SentBytes {
		n := int(y.node[i])
		r.SentBytes[i] = r.SentBytes[y.first[y.group.First(n)]+int32(i)-y.first[n]]
	}
	spreadLinks(r, y.group.Symmetry, links)
}
