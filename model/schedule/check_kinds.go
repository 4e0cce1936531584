package schedule

import (
	"slices"

	"railyard/model/symmetry"
)

// The first node of each orbit is run for all of it (see Kinds). Another one's program is its own, moved, and so are the messages; what a
// first node hears from another one is what that one's first node sends to where the first one comes when the other comes to its own.
// All others hear the same, moved, if what a first node sends to a node is, moved by any permutation that leaves the
// first one where it is, what it sends to where that takes the other. Nobody sends after it has waited in a phase, so that
// what one is sent, all are.

// byFirstNodes runs a channel's first nodes alone.
func byFirstNodes(x *Expander, channel int, inPlace bool) (*checker, error) {
	k := newChecker(x, channel, inPlace, x.kinds[channel])
	if !k.follows() {
		return nil, errAsymmetric
	}
	return k, k.run()
}

// ProvenByFirstNodes reports whether first nodes' programs are proof enough of all channels, which all have kinds.
func ProvenByFirstNodes(s *Schedule) bool {
	x := NewExpander(s)
	for c := range s.Channels {
		if _, err := byFirstNodes(x, c, false); err != nil {
			return false
		}
	}
	return true
}

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

// nextHeard is the next message that a rank takes from a peer, on the connection that stands for theirs, if it has been sent.
func (k *checker) nextHeard(m *kindMoves, c key, r int, peer, by int32) (message, bool) {
	at, q := key{peer, int32(r), c.phase}, k.queues[c]
	if q == nil {
		return message{}, false
	}
	list := q.messages
	if by != 0 {
		if k.heard[at] == nil { // all of a phase have been sent once one has
			k.heard[at] = k.messagesTo(m, q, int(c.src), m.by(by))
		}
		list = k.heard[at]
	}
	i := k.takenSoFar[at]
	if i == len(list) {
		return message{}, false
	}
	k.takenSoFar[at]++
	out := list[i]
	if m.node[peer] != m.node[r] {
		k.taken[int32(r)] += out.weight()
	}
	if by != 0 || m.node[peer] == m.node[r] { // nobody else takes it
		list[i].values, list[i].places = nil, nil
	}
	return out, true
}

// messagesTo are a connection's, moved. Those that move together are cut anew, as the sender's operations are.
func (k *checker) messagesTo(m *kindMoves, q *queue, sender int, to permutation) (out []message) {
	chunk, from := func(c int32) int32 { return m.chunkTo(c, to) }, func(r runs) runs { return m.runsTo(r, to) }
	k.byParts(q, sender, func(list []message, how way) {
		var all []placedValue
		var sets []ChunkSet
		for i := range list {
			all = append(all, placed(list[i], chunk, from)...)
			if how == together {
				sets = m.appendRanges(sets, list[i].src.Set.shifted(-list[i].src.Set.First/int32(k.chunks)*int32(k.chunks)), to)
			} else {
				sets = append(sets, list[i].src.Set)
			}
		}
		if how == singly {
			out = append(out, inPlaces(list[0], all))
			return
		}
		if how == together {
			sets = Union(sets)
		}
		slices.SortFunc(all, func(a, b placedValue) int { return int(a.place - b.place) })
		for _, set := range sets {
			set = set.inCopyOf(list[0].src.Set, int32(k.chunks))
			var part []placedValue
			set.Each(func(place int32) {
				if i, ok := slices.BinarySearchFunc(all, place, func(x placedValue, place int32) int { return int(x.place - place) }); ok {
					part = append(part, all[i])
				}
			})
			out = append(out, inPlaces(list[0], part))
		}
	})
	return out
}

// inPlaces is a message like one, of values that the sender has in some places.
func inPlaces(like message, list []placedValue) message {
	m := message{op: like.op, src: like.src, how: like.how}
	for _, x := range list {
		m.values, m.places = append(m.values, x.value), append(m.places, x.place)
	}
	return m
}

// byParts visits a connection's messages: those that move together at once, others one by one.
func (k *checker) byParts(q *queue, sender int, visit func(list []message, how way)) {
	for first := 0; first < len(q.messages); {
		how, end := q.messages[first].how, first+1
		for how != singly && end < len(q.messages) && k.inOnePart(sender, q.messages[end-1].op, q.messages[end].op) {
			end++
		}
		visit(q.messages[first:end], how)
		first = end
	}
}

// weight is what a message counts: the same wherever it is moved, also if that cuts it otherwise.
func (m *message) weight() int {
	if m.how == singly {
		return 1
	}
	return len(m.values)
}

// inOnePart reports whether two operations of a rank, the next after one another that it has for a peer, move together.
func (k *checker) inOnePart(r int, a, b int32) bool {
	m := k.byKinds()
	return b == a+1 && k.ways[r][a] == k.ways[r][b] && m.sameButSets(&k.progs[r][a], &k.progs[r][b])
}

// matched reports whether all messages were taken, by all ranks, and are what the claim makes of one another. No rank has taken
// more than were sent, so it is enough to count.
func (k *checker) matched(m *kindMoves) bool {
	balance := map[int32]int{} // by first node's rank: what is sent to it and to those that it stands for, less what they take
	size := func(rank int32) int {
		_, size := m.group.Orbit(int(m.node[rank]))
		return size
	}
	for c, q := range k.queues {
		if m.node[c.src] != m.node[c.dst] {
			to, n := m.rank(c.dst, -m.of(c.dst)), size(c.src)
			for i := range q.messages {
				balance[to] += q.messages[i].weight() * n
			}
		} else if k.takenSoFar[c] != len(q.messages) {
			return false
		}
	}
	for r, n := range k.taken {
		balance[r] -= n * size(r)
	}
	for _, n := range balance {
		if n != 0 {
			return false
		}
	}
	return k.asClaimed(m)
}

// asClaimed holds what first nodes send to others against what permutations that leave the first ones where they are make of it.
func (k *checker) asClaimed(m *kindMoves) bool {
	sent, node := map[int32]map[key][]uint64{}, func(n int32) int32 { return n } // by first node: what it sends, outlined
	for c, q := range k.queues {
		if a := m.node[c.src]; a != m.node[c.dst] {
			if sent[a] == nil {
				sent[a] = map[key][]uint64{}
			}
			sent[a][c] = k.outline(m, q, int(c.src), node)
		}
	}
	for a, list := range sent {
		for _, to := range m.group.Fixing(int(a)).Generators() {
			by := func(node int32) int32 { return int32(to(int(node))) }
			for c := range list {
				if !slices.Equal(k.outline(m, k.queues[c], int(c.src), by), list[key{c.src, m.rankTo(c.dst, by), c.phase}]) {
					return false
				}
			}
		}
	}
	return true
}

// outline are hashes of a connection's messages, moved: one of those that move together, whatever their order. (Two that differ have the
// same one once in 2⁶⁴ times, unless somebody seeks such a pair on purpose.)
func (k *checker) outline(m *kindMoves, q *queue, sender int, to permutation) (out []uint64) {
	var from *runs
	var hash uint64
	k.byParts(q, sender, func(list []message, how way) {
		h := uint64(0)
		for i := range list {
			n := 0
			list[i].src.Set.Each(func(place int32) {
				v := list[i].values[n]
				if v.from != from {
					from, hash = v.from, m.hash(*v.from, to)
				}
				h += symmetry.Mix(uint64(m.chunkTo(place, to)), symmetry.Mix(uint64(m.chunkTo(v.chunk, to)), hash))
				n++
			})
		}
		out = append(out, symmetry.Mix(h, uint64(list[0].src.Buf)))
	})
	return out
}

// hash is one of a set of ranks, moved.
func (m *kindMoves) hash(from runs, to permutation) (h uint64) {
	for i := 0; i < len(from); i += 2 {
		for lo := from[i]; lo < from[i+1]; {
			hi := min(from[i+1], m.rank0[m.node[lo]+1])
			h += symmetry.Mix(uint64(m.rankTo(lo, to)), uint64(hi-lo))
			lo = hi
		}
	}
	return h
}

// arrivesTogether holds a message's places against those of the operation that takes it, which move together: they stay paired if they
// are of the same chunks, or of the same nodes where they do not move.
func (k *checker) arrivesTogether(m *kindMoves, msg message, to ChunkSet, how way) error {
	places := msg.places
	if places == nil {
		msg.src.Set.Each(func(place int32) { places = append(places, place) })
	}
	i, ok := 0, msg.how == how
	to.Each(func(place int32) {
		if how == together {
			ok = ok && (place-places[i])%int32(k.chunks) == 0
		} else {
			ok = ok && m.digit(place) == m.digit(places[i])
		}
		i++
	})
	if !ok {
		return errAsymmetric
	}
	return nil
}
