package schedule

import (
	"slices"

	"railyard/model/symmetry"
)

// The first node of each kind is run for all (see Kinds). Its message to a node stands for those
// between any two nodes that permutations make of them, so it has to be the same, moved, to all
// nodes of a kind; and what first nodes hear, they hear from all nodes of a kind. Nobody sends
// after it has waited in a phase, so that what one is sent, all are.

// follows reports whether programs are such that the first nodes can be run for all.
func (k *checker) follows() bool {
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

// nextMessage is the next message that a rank takes from a peer, if it has been sent.
func (k *checker) nextMessage(q *queue, r int, peer, phase int32) (message, bool) {
	at := key{peer, int32(r), phase}
	if q == nil || k.takenSoFar[at] == len(q.messages) {
		return message{}, false
	}
	k.takenSoFar[at]++
	return q.messages[k.takenSoFar[at]-1], true
}

// matched reports whether all messages were taken, by all ranks, and are what the claim makes of
// one another.
func (k *checker) matched(m *kindMoves) bool {
	for c, q := range k.queues {
		a, b := m.node[c.src], m.node[c.dst]
		if a == b {
			if k.takenSoFar[c] != len(q.messages) {
				return false
			}
			continue
		}
		if !k.asClaimed(m, c, q) {
			return false
		}
		// a first node's rank hears a peer's message as the peer's original sends it to a node farther back
		from, r, n := m.nodesOf[m.Nodes[a]], m.rank(c.dst, -m.pos[b]), len(m.nodesOf[m.Nodes[b]])
		for i := (n - int(m.pos[b])) % n; i < len(from); i += n {
			peer := m.rank0[from[i]] + c.src - m.rank0[a]
			if k.takenSoFar[key{peer, r, c.phase}] != len(q.messages) {
				return false
			}
		}
	}
	return true
}

// asClaimed holds a connection of a first node to another node against those to others of that
// kind: each is the first of them, with the two nodes exchanged; and that one stays as it is when
// all but its ends are permuted.
func (k *checker) asClaimed(m *kindMoves, c key, q *queue) bool {
	a, b := m.node[c.src], m.node[c.dst]
	to := m.nodesOf[m.Nodes[b]]
	if to[0] == a {
		to = to[1:]
	}
	if b == to[0] {
		return !slices.ContainsFunc(m.generators(a, b), func(p permutation) bool { return !k.sameMoved(m, q, q, p) }) &&
			!slices.ContainsFunc(to, func(node int32) bool {
				return k.queues[key{c.src, c.dst - m.rank0[b] + m.rank0[node], c.phase}] == nil
			})
	}
	first := k.queues[key{c.src, c.dst - m.rank0[b] + m.rank0[to[0]], c.phase}]
	return first != nil && k.sameMoved(m, first, q, exchange(b, to[0]))
}

// exchange is the permutation of two nodes.
func exchange(a, b int32) permutation {
	return func(node int32) int32 {
		switch node {
		case a:
			return b
		case b:
			return a
		}
		return node
	}
}

// generators generate the permutations that leave two nodes where they are, and the others in their kinds.
func (m *kindMoves) generators(a, b int32) (out []permutation) {
	kinds := slices.Clone(m.Nodes)
	kinds[a], kinds[b] = int32(len(m.Of)), int32(len(m.Of))+1
	for _, to := range symmetry.NewTree(kinds, nil).Generators() {
		out = append(out, func(node int32) int32 { return int32(to(int(node))) })
	}
	return out
}

// sameMoved reports whether moving the messages of a connection gives those of another.
func (k *checker) sameMoved(m *kindMoves, from, to *queue, by permutation) bool {
	if len(from.messages) != len(to.messages) {
		return false
	}
	for i := range from.messages {
		moved := k.placed(from.messages[i], func(c int32) int32 { return m.chunkTo(c, by) }, func(r runs) runs { return m.runsTo(r, by) })
		other := k.placed(to.messages[i], func(c int32) int32 { return c }, func(r runs) runs { return r })
		if from.messages[i].src.Buf != to.messages[i].src.Buf || !slices.EqualFunc(moved, other, func(x, y placedValue) bool {
			return x.place == y.place && x.value.chunk == y.value.chunk && k.from(x.value).equal(k.from(y.value))
		}) {
			return false
		}
	}
	return true
}
