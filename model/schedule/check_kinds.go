package schedule

import (
	"slices"

	"railyard/model/topology"
)

// kindMoves exchange a node with the first one of its kind (see Bends), with the chunks
// that are numbered by it. By construction, phases of generator bends look the same after
// any exchange of nodes of a kind, but for the order of messages between two waits and for
// how what goes between two ranks is cut into them, which makes no difference; so the first
// node of each kind is run for all.
//
// A node that is alone in its kind, as a root's is, stays where it is, whatever is moved; how
// the root's node shares out chunks inside, by the number of their nodes, is seen by no other. So what a first
// node sends to one of another kind is heard from all nodes of its kind; and what it sends
// to the others of that kind has to be the same, moved (see matched). Nobody sends after it
// has waited in a phase, so that what one is sent, all are.
type kindMoves struct {
	b     *Bends
	first []int32 // by node: the first of its kind
	node  []int32 // by rank
	rank0 []int32 // by node: its first rank
	owner []int32 // by chunk: node
	place []int32 // by chunk: its number among the node's
	own   [][]int32
	read  map[key]int // messages that a rank has taken from a peer
}

// newKindMoves is nil for channels with other phases, or that need clocks.
func newKindMoves(s *Schedule, x *Expander, channel int) *kindMoves {
	ch := &s.Channels[channel]
	if ch.Bends == nil || slices.ContainsFunc(ch.Phases, func(ph Phase) bool { return ph.Gen != GenBends }) {
		return nil
	}
	m := &kindMoves{b: ch.Bends, own: make([][]int32, len(ch.Bends.Nodes)), read: map[key]int{}}
	kinds := slices.Clone(ch.Bends.Nodes)
	if node := m.b.rootNode(s.Spec); node >= 0 {
		kinds[node] = -1
	}
	for node, k := range kinds {
		m.first = append(m.first, int32(slices.Index(kinds, k)))
		m.rank0 = append(m.rank0, int32(len(m.node)))
		for range m.b.Ranks(node) {
			m.node = append(m.node, int32(node))
		}
	}
	m.owner, m.place = make([]int32, ch.Chunks), make([]int32, ch.Chunks)
	add := func(chunk, node int32) {
		m.owner[chunk], m.place[chunk] = node, int32(len(m.own[node]))
		m.own[node] = append(m.own[node], chunk)
	}
	if x.bent[channel] == nil || s.Spec.Blocks() > 1 {
		for c := range int32(ch.Chunks) {
			add(c, m.node[c/m.b.Units])
		}
		return m
	}
	for _, units := range x.bent[channel].part {
		for _, nodes := range units {
			for node, set := range nodes {
				set.Each(func(c int32) { add(c, int32(node)) })
			}
		}
	}
	return m
}

// of is the move that brings a rank's original to it: its node, counted from 1, or 0.
func (m *kindMoves) of(rank int32) int32 {
	if n := m.node[rank]; m.first[n] != n {
		return n + 1
	}
	return 0
}

func (m *kindMoves) inverse(by int32) int32 { return by }

// other is where a move brings a node.
func (m *kindMoves) other(node, by int32) int32 {
	switch {
	case by == 0:
	case node == by-1:
		return m.first[node]
	case node == m.first[by-1]:
		return by - 1
	}
	return node
}

func (m *kindMoves) rank(rank, by int32) int32 {
	n := m.node[rank]
	return m.rank0[m.other(n, by)] + rank - m.rank0[n]
}

// chunk is where a move brings a place; one in scratch keeps its copy.
func (m *kindMoves) chunk(chunk, by int32) int32 {
	n := int32(len(m.owner))
	c := chunk % n
	return chunk - c + m.own[m.other(m.owner[c], by)][m.place[c]]
}

// runs is where a move brings a set of ranks.
func (m *kindMoves) runs(from runs, by int32) runs {
	if by == 0 || len(from) == 2 && from[0] == 0 && int(from[1]) == len(m.node) {
		return from
	}
	a, b := m.first[by-1], by-1
	var spans []span
	cuts := []int32{m.rank0[a], m.end(a), m.rank0[b], m.end(b)}
	slices.Sort(cuts)
	for i := 0; i < len(from); i += 2 {
		lo := from[i]
		for _, cut := range append(cuts, from[i+1]) {
			if hi := min(cut, from[i+1]); hi > lo {
				to := m.rank(lo, by)
				spans = append(spans, span{to, to + hi - lo})
				lo = hi
			}
		}
	}
	return joined(spans)
}

// end is the rank after a node's.
func (m *kindMoves) end(node int32) int32 {
	if int(node)+1 < len(m.rank0) {
		return m.rank0[node+1]
	}
	return int32(len(m.node))
}

func (m *kindMoves) originals() []int32 {
	var out []int32
	for r := range m.node {
		if m.of(int32(r)) == 0 {
			out = append(out, int32(r))
		}
	}
	return out
}

// digit is what moves of a place's number.
func (m *kindMoves) digit(place int32) int32 { return m.owner[place%int32(len(m.owner))] }

// carries is left to the routes of all ranks.
func (m *kindMoves) carries(*topology.Topology) bool { return false }

// follows reports whether programs are such that the first nodes can be run for all.
func (k *checker) follows(m *kindMoves) bool {
	if k.clocks != nil {
		return false
	}
	for _, r := range k.ranks {
		phase, waited := 0, false
		for i := range k.progs[r] {
			for int32(i) >= k.phaseAt[r][phase] {
				phase, waited = phase+1, false
			}
			if op := &k.progs[r][i]; op.Kind == Recv || op.Kind == RecvReduce {
				waited = true
			} else if op.Kind.Sends() && waited {
				return false
			}
		}
	}
	return true
}

// hear is the next message that a rank takes from a peer, if it has been sent.
func (m *kindMoves) hear(q *queue, r int, peer, phase int32) (message, bool) {
	at := key{peer, int32(r), phase}
	if q == nil || m.read[at] == len(q.messages) {
		return message{}, false
	}
	m.read[at]++
	return q.messages[m.read[at]-1], true
}

// matched reports whether all messages were taken, by all ranks.
func (k *checker) matched(m *kindMoves) bool {
	for c, q := range k.queues {
		a, b := m.node[c.src], m.node[c.dst]
		by := m.of(c.dst)
		peers := []int32{c.src}
		to := c.dst
		switch {
		case a == b:
		case m.first[a] == m.first[b]: // heard by the first node from the one that it was sent to
			peers[0], to = m.rank(c.src, by), m.rank(c.dst, by)
		case by == 0: // heard from all nodes of the sender's kind; the others of its own hear the same
			for node, first := range m.first {
				move := int32(node) + 1
				if first == a && int32(node) != a {
					peers = append(peers, m.rank(c.src, move))
				}
				if first == b && int32(node) != b && !k.sameMoved(q, k.queues[key{c.src, m.rank(c.dst, move), c.phase}], move) {
					return false
				}
			}
		case k.queues[key{c.src, m.rank(c.dst, by), c.phase}] == nil:
			return false
		default:
			continue
		}
		for _, p := range peers {
			if m.read[key{p, to, c.phase}] != len(q.messages) {
				return false
			}
		}
	}
	return true
}

// sameMoved reports whether moving the messages of a connection gives those of another.
func (k *checker) sameMoved(from, to *queue, by int32) bool {
	if to == nil || len(from.messages) != len(to.messages) {
		return false
	}
	for i := range from.messages {
		moved, other := k.moved(from.messages[i], by), k.moved(to.messages[i], 0)
		if !slices.Equal(moved.places, other.places) || moved.src.Buf != other.src.Buf {
			return false
		}
		for j := range moved.values {
			if moved.values[j].chunk != other.values[j].chunk || !moved.values[j].from.equal(other.values[j].from) {
				return false
			}
		}
	}
	return true
}
