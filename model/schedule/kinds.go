package schedule

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/symmetry"
)

// Kinds claim that nodes of a kind are equivalent: a channel's phases then hold the programs of the
// ranks of the first node of each kind, in the order of kinds, and all others' are these, moved.
// Ranks are numbered node by node, and chunks band by band, of a band node by node. What is a node here may also be a
// group of consecutive nodes.
//
// The claim is that everything stays as it is under any permutation of the nodes of each kind,
// but for the order of messages between two waits. The program of a kind's i-th node is that of
// its first one after the nodes of every kind have turned by i, so that peers follow one another
// from the next ones on and no rank is hit by all others first. Check proves the claim.
type Kinds struct {
	Nodes RankList   `json:"nodes"` // by node: its kind
	Of    []NodeKind `json:"of"`
}

// NodeKind is what nodes of a kind have in common.
type NodeKind struct {
	Ranks  int32    `json:"ranks"`
	Chunks RankList `json:"chunks"` // by band: how many of its chunks are a node's
}

// Ranks is how many ranks a node has.
func (k *Kinds) Ranks(node int) int32 { return k.Of[k.Nodes[node]].Ranks }

// permutation says where nodes go.
type permutation func(node int32) int32

// kindMoves are the permutations of nodes within their kinds; as images, those by which the
// nodes of every kind turn as far.
type kindMoves struct {
	*Kinds
	nodesOf [][]int32 // by kind: its nodes
	pos     []int32   // by node: its place among these
	node    []int32   // by rank
	rank0   []int32   // by node: its first rank; and behind the last one
	program []int32   // by kind: the program of its first rank
	start   []int32   // by band and node: its first chunk; and behind the last one
	segment []int32   // by chunk: the number of its band and node
	uses    []chunkUse

	// Of operations that stay where they are: what they do, whoever their peers are, and whether they may.
	does relabelling
	may  map[uint64]bool
}

func newKindMoves(k *Kinds) *kindMoves {
	m := &kindMoves{Kinds: k, nodesOf: make([][]int32, len(k.Of)), rank0: []int32{0}, start: []int32{0},
		may:  map[uint64]bool{},
		does: relabelling{rank: func(int32) int32 { return 0 }, chunk: stay, copies: maxScratch, sets: map[ChunkSet]uint64{}}}
	for node, kind := range k.Nodes {
		m.pos = append(m.pos, int32(len(m.nodesOf[kind])))
		m.nodesOf[kind] = append(m.nodesOf[kind], int32(node))
		for range k.Of[kind].Ranks {
			m.node = append(m.node, int32(node))
		}
		m.rank0 = append(m.rank0, int32(len(m.node)))
	}
	programs := int32(0)
	for i := range k.Of {
		m.program = append(m.program, programs)
		programs += k.Of[i].Ranks
	}
	for band := range k.Of[0].Chunks {
		for _, kind := range k.Nodes {
			for range k.Of[kind].Chunks[band] {
				m.segment = append(m.segment, int32(len(m.start))-1)
			}
			m.start = append(m.start, int32(len(m.segment)))
		}
	}
	return m
}

// originals are the ranks of the first node of each kind, in the order of their programs.
func (m *kindMoves) originals() (out []int32) {
	for _, nodes := range m.nodesOf {
		for rank := m.rank0[nodes[0]]; rank < m.rank0[nodes[0]+1]; rank++ {
			out = append(out, rank)
		}
	}
	return out
}

// turned is where nodes go when all turn.
func (m *kindMoves) turned(by int32) permutation {
	return func(node int32) int32 {
		nodes := m.nodesOf[m.Nodes[node]]
		n := int32(len(nodes))
		return nodes[((m.pos[node]+by)%n+n)%n]
	}
}

func (m *kindMoves) rankTo(rank int32, to permutation) int32 {
	n := m.node[rank]
	return m.rank0[to(n)] + rank - m.rank0[n]
}

// chunkTo is where a place goes; one in scratch keeps its copy.
func (m *kindMoves) chunkTo(place int32, to permutation) int32 {
	c := place % int32(len(m.segment))
	return place + m.shift(m.segment[c], to)
}

// shift is how far the chunks of a segment go.
func (m *kindMoves) shift(segment int32, to permutation) int32 {
	n := int32(len(m.Nodes))
	node := segment % n
	return m.start[segment-node+to(node)] - m.start[segment]
}

// runsTo is where a set of ranks goes.
func (m *kindMoves) runsTo(from runs, to permutation) runs {
	if len(from) == 2 && from[0] == 0 && int(from[1]) == len(m.node) {
		return from
	}
	return from.moved(func(lo int32) int32 { return m.rank0[m.node[lo]+1] }, func(rank int32) int32 { return m.rankTo(rank, to) })
}

// segmentOf is the segment of a set that lies in one.
func (m *kindMoves) segmentOf(s ChunkSet) (segment int32, one bool) {
	if s.Len() == 0 {
		return 0, true
	}
	n := int64(len(m.segment))
	first, last := int64(s.First), s.last()
	at := m.segment[first%n]
	return at, first/n == last/n && at == m.segment[last%n]
}

// places are those of an operation; of nothing where it has none.
func (op *Op) places() []Loc {
	return append(op.Srcs[:len(op.Srcs):len(op.Srcs)], op.Src, op.Dst)
}

// parts visits the operations of a program: those that go where their sets do, which lie in one
// segment each, and together those that differ in nothing but their sets and stay where they are,
// since some of these have chunks of several nodes.
func (m *kindMoves) parts(ops []Op, visit func(part []Op, stay bool)) {
	for first := 0; first < len(ops); {
		end := first
		stay := false
		for ; end < len(ops) && (end == first || m.sameButSets(&ops[end], &ops[first])); end++ {
			stay = stay || m.spread(&ops[end])
		}
		visit(ops[first:end], stay)
		first = end
	}
}

// spread reports whether any place of an operation has chunks of several segments.
func (m *kindMoves) spread(op *Op) bool {
	several := func(l Loc) bool {
		_, one := m.segmentOf(l.Set)
		return !one
	}
	return several(op.Src) || several(op.Dst) || slices.ContainsFunc(op.Srcs, several)
}

// sameButSets reports whether two operations differ in nothing but their sets, in whichever copy of scratch these lie: so both ends of
// messages make the same parts of them.
func (m *kindMoves) sameButSets(a, b *Op) bool {
	alike := func(x, y Loc) bool { return x.Buf == y.Buf }
	return a.Kind == b.Kind && a.Peer == b.Peer && slices.Equal(a.Peers, b.Peers) && alike(a.Src, b.Src) && alike(a.Dst, b.Dst) &&
		slices.EqualFunc(a.Srcs, b.Srcs, alike)
}

func (m *kindMoves) numbered() bool                { return true }
func (m *kindMoves) of(rank int32) int32           { return m.pos[m.node[rank]] }
func (m *kindMoves) inverse(by int32) int32        { return -by }
func (m *kindMoves) rank(rank, by int32) int32     { return m.rankTo(rank, m.turned(by)) }
func (m *kindMoves) chunk(chunk, by int32) int32   { return m.chunkTo(chunk, m.turned(by)) }
func (m *kindMoves) runs(from runs, by int32) runs { return m.runsTo(from, m.turned(by)) }
func (m *kindMoves) digit(place int32) int32       { return m.segment[place%int32(len(m.segment))] }

// append appends a rank's program: its original's, moved.
func (m *kindMoves) append(dst []Op, ph *Phase, rank int32) []Op {
	node := m.node[rank]
	first := len(dst)
	dst = ph.appendProgram(dst, int(m.program[m.Nodes[node]]+rank-m.rank0[node]))
	if m.pos[node] == 0 {
		return dst
	}
	to := m.turned(m.pos[node])
	m.parts(dst[first:], func(part []Op, stay bool) {
		for i := range part {
			op := &part[i]
			if op.Peer >= 0 {
				op.Peer = m.rankTo(op.Peer, to)
			}
			op.Peers = slices.Clone(op.Peers)
			for j, p := range op.Peers {
				op.Peers[j] = m.rankTo(p, to)
			}
			if stay {
				continue
			}
			op.Src.Set, op.Dst.Set = m.setTo(op.Src.Set, to), m.setTo(op.Dst.Set, to)
			op.Srcs = slices.Clone(op.Srcs)
			for j := range op.Srcs {
				op.Srcs[j].Set = m.setTo(op.Srcs[j].Set, to)
			}
		}
	})
	return dst
}

// setTo is where a set of one segment goes.
func (m *kindMoves) setTo(s ChunkSet, to permutation) ChunkSet {
	if s.Len() == 0 {
		return s
	}
	at, _ := m.segmentOf(s)
	return s.shifted(m.shift(at, to))
}

// validatePrograms checks that the programs of a channel with kinds can be moved.
func (k *Kinds) validatePrograms(ch *Channel) error {
	m := newKindMoves(k)
	ranks := m.originals()
	var ops []Op
	for p := range ch.Phases {
		for i := range ch.Phases[p].programs() {
			ops = ch.Phases[p].appendProgram(ops[:0], i)
			if node := m.node[ranks[i]]; len(m.nodesOf[k.Nodes[node]]) > 1 && !m.movable(ops) {
				return fmt.Errorf("phase %d: rank %d: chunks are neither of one node each nor the same of all nodes of a kind", p, ranks[i])
			}
		}
	}
	return nil
}

// movable reports whether what stays where it is in a program may; what is known is not looked up
// again, by what operations do, whoever their peers are: others do the same with the same chunks.
func (m *kindMoves) movable(ops []Op) bool {
	ok := true
	m.parts(ops, func(part []Op, stay bool) {
		if !stay {
			for i := range part {
				ok = ok && !slices.ContainsFunc(part[i].places(), func(l Loc) bool { return !l.Set.ascends() })
			}
			return
		}
		key := m.does.outline(part)
		if _, seen := m.may[key]; !seen {
			m.may[key] = m.preserved(part)
		}
		ok = ok && m.may[key] && !m.does.wild
	})
	return ok
}

// preserved reports whether permutations leave operations as they are together: what these do with the
// chunks of a node, and in which order, they do with those of all nodes of its kind, and with those of no two at once. What is done with
// a node's chunks is compared by a hash.
func (m *kindMoves) preserved(part []Op) bool {
	does := make([]uint64, len(m.Nodes)) // by node
	for i := range part {
		if !m.usesOf(&part[i]) {
			return false
		}
		for _, x := range m.uses {
			does[x.node] = symmetry.Mix(does[x.node], x.use)
		}
	}
	for node, kind := range m.Nodes {
		if does[node] != does[m.nodesOf[kind][0]] {
			return false
		}
	}
	return true
}

// chunkUse is what an operation does with a chunk of a node: a hash of which place, copy, band and number in the node it has in each of
// the operation's places.
type chunkUse struct {
	node int32
	use  uint64
}

// usesOf finds those of all chunks that an operation works on, and reports whether its places' chunks pair up within nodes.
func (m *kindMoves) usesOf(op *Op) bool {
	n, nodes, out := int32(len(m.segment)), int32(len(m.Nodes)), m.uses[:0]
	for j, l := range op.places() {
		if l.Set.Len() == 0 {
			continue
		}
		first := len(out) == 0
		if !l.Set.ascends() || int64(l.Set.First/n) != l.Set.last()/int64(n) || !first && l.Set.Len() != len(out) {
			return false
		}
		if first {
			out = slices.Grow(out, l.Set.Len())
		}
		at, same, page := 0, true, l.Set.First/n
		l.Set.Each(func(place int32) {
			place -= page * n
			segment := m.segment[place]
			if first {
				out = append(out, chunkUse{node: segment})
			}
			x := &out[at]
			at++
			same = same && x.node == segment
			x.use = symmetry.Mix(x.use, symmetry.Mix(uint64(j)<<32|uint64(page), uint64(segment/nodes)<<32|uint64(place-m.start[segment])))
		})
		if !same {
			return false
		}
	}
	for i := range out {
		out[i].node %= nodes
	}
	m.uses = out
	return true
}

func (k *Kinds) validate(s *Schedule, ch *Channel) error {
	if len(k.Of) < 1 || len(k.Nodes) < 1 || len(k.Nodes) > s.Spec.Ranks || len(k.Of[0].Chunks) < 1 {
		return fmt.Errorf("%d kinds of %d nodes", len(k.Of), len(k.Nodes))
	}
	nodes := make([]int, len(k.Of))
	var ranks, chunks int64
	rootNode := -1
	for node, kind := range k.Nodes {
		if kind < 0 || int(kind) >= len(k.Of) {
			return fmt.Errorf("there is no kind %d of nodes", kind)
		}
		nodes[kind]++
		if ranks += int64(k.Of[kind].Ranks); rootNode < 0 && int64(s.Spec.Root) < ranks {
			rootNode = node
		}
		for _, n := range k.Of[kind].Chunks {
			chunks += int64(n)
		}
	}
	for i := range k.Of {
		if err := k.Of[i].validate(s, ch, len(k.Of[0].Chunks)); err != nil || nodes[i] == 0 {
			return fmt.Errorf("kind %d of %d nodes: %w", i, nodes[i], err)
		}
	}
	switch kind := s.Spec.Kind; {
	case ranks != int64(s.Spec.Ranks) || chunks != int64(ch.Chunks):
		return fmt.Errorf("%d ranks and %d chunks instead of %d and %d", ranks, chunks, s.Spec.Ranks, ch.Chunks)
	case kind == collective.AllToAllV || kind == collective.SendRecv || kind == collective.Barrier:
		return fmt.Errorf("nodes are not equivalent in %v", kind)
	case slices.ContainsFunc(ch.Phases, func(ph Phase) bool { return ph.Gen != GenOps }):
		return fmt.Errorf("phases have programs of operations, of generator %s", GenOps)
	case kind.Rooted() && nodes[k.Nodes[rootNode]] > 1:
		return fmt.Errorf("the root's node %d is not the only one of its kind", rootNode)
	}
	return nil
}

func (k *NodeKind) validate(s *Schedule, ch *Channel, bands int) error {
	if k.Ranks < 1 || len(k.Chunks) != bands || slices.Min(k.Chunks) < 0 {
		return fmt.Errorf("%d ranks, chunks %v in %d bands", k.Ranks, k.Chunks, bands)
	}
	if per := ch.Chunks / s.Spec.Blocks(); s.Spec.Blocks() > 1 && (bands > 1 || int(k.Chunks[0]) != int(k.Ranks)*per) {
		return fmt.Errorf("chunks %v instead of %d for each of %d ranks", k.Chunks, per, k.Ranks)
	}
	return nil
}
