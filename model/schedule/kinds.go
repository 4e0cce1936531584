package schedule

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/symmetry"
)

// Kinds claim that nodes of a kind are equivalent: a channel's phases then hold the programs of the ranks of few nodes, and all others'
// are these, moved. Ranks are numbered node by node, and chunks band by band, of a band node by node. What is a node here may also be a
// group of consecutive nodes.
//
// The claim is that everything stays as it is, but for the order of messages between two waits, under a group of permutations of the
// nodes: those of nodes of a kind; or, where nodes stand in a grid, those of the coordinates along each of its axes. Of the nodes
// that these take to one another, phases have the programs of the first one, in the order of kinds. The program of another is that
// one's after, along each axis, all coordinates of a class, from the outermost group in, have turned as far as brings the first node
// to it, so that peers follow one another from the next ones on and no rank is hit by all others first. Check proves the claim.
type Kinds struct {
	Nodes RankList   `json:"nodes"` // by node: its kind
	Of    []NodeKind `json:"of"`
	Axes  []KindAxis `json:"axes,omitempty"`  // outermost first; none: one, of which the coordinates are the nodes, of their kinds
	Place RankList   `json:"place,omitempty"` // by node: where it is in the grid, the last axis fastest; left out: at its number
}

// KindAxis is an axis of a grid of nodes.
type KindAxis struct {
	Of     RankList   `json:"of"`               // by coordinate: its class
	Within []RankList `json:"within,omitempty"` // groups that coordinates keep to, by coordinate, innermost first
}

// NodeKind is what nodes of a kind have in common.
type NodeKind struct {
	Ranks  int32    `json:"ranks"`
	Chunks RankList `json:"chunks"` // by band: how many of its chunks are a node's
}

// Ranks is how many ranks a node has.
func (k *Kinds) Ranks(node int) int32 { return k.Of[k.Nodes[node]].Ranks }

// First are the nodes of whose ranks phases have programs, in the order of these.
func (k *Kinds) First() []int32 { return newKindMoves(k).firsts }

// permutation says where nodes go.
type permutation func(node int32) int32

// kindMoves are the permutations of nodes that kinds claim; as images, those that take the first node of each orbit to the others, by
// these nodes' numbers, and back, by the numbers' negatives.
type kindMoves struct {
	*Kinds
	group   *symmetry.Product
	first   []int32        // by node: the first of those to which the group takes it
	firsts  []int32        // these, by kind
	node    []int32        // by rank
	rank0   []int32        // by node: its first rank; and behind the last one
	program []int32        // by node that is a first one: the program of its first rank
	start   []int32        // by band and node: its first chunk; and behind the last one
	segment []int32        // by chunk: the number of its band and node
	ways    map[string]way // of parts, by their signatures, where these are known
}

func newKindMoves(k *Kinds) *kindMoves {
	m := &kindMoves{Kinds: k, group: k.group(), rank0: []int32{0}, start: []int32{0}, program: make([]int32, len(k.Nodes))}
	for node, kind := range k.Nodes {
		first, _ := m.group.Orbit(node)
		if m.first = append(m.first, int32(first)); first == node {
			m.firsts = append(m.firsts, int32(node))
		}
		for range k.Of[kind].Ranks {
			m.node = append(m.node, int32(node))
		}
		m.rank0 = append(m.rank0, int32(len(m.node)))
	}
	slices.SortStableFunc(m.firsts, func(a, b int32) int { return int(k.Nodes[a] - k.Nodes[b]) })
	programs := int32(0)
	for _, node := range m.firsts {
		m.program[node] = programs
		programs += k.Ranks(int(node))
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

// group is what the claim is about.
func (k *Kinds) group() *symmetry.Product {
	dims, axes := k.Grid()
	trees := make([]symmetry.Group, len(axes))
	for a, axis := range axes {
		var tiers [][]int32
		for _, of := range axis.Within {
			tiers = append(tiers, of)
		}
		trees[a] = symmetry.NewTree(axis.Of, tiers)
	}
	return symmetry.NewProduct(dims, k.Place, trees)
}

// Grid is that of the nodes.
func (k *Kinds) Grid() (dims []int32, axes []KindAxis) {
	if axes = k.Axes; axes == nil {
		axes = []KindAxis{{Of: k.Nodes}}
	}
	for _, axis := range axes {
		dims = append(dims, int32(len(axis.Of)))
	}
	return dims, axes
}

// originals are the ranks of the first nodes, in the order of their programs.
func (m *kindMoves) originals() (out []int32) {
	for _, node := range m.firsts {
		for rank := m.rank0[node]; rank < m.rank0[node+1]; rank++ {
			out = append(out, rank)
		}
	}
	return out
}

// by is a permutation by its number (see kindMoves).
func (m *kindMoves) by(by int32) permutation {
	p, back := m.group.To(int(max(by, -by)))
	if by < 0 {
		p = back
	}
	return func(node int32) int32 { return int32(p(int(node))) }
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

// learn finds out how the parts of programs move.
func (m *kindMoves) learn(phases []Phase) {
	if m.ways == nil {
		m.ways = map[string]way{}
	}
	for p := range phases {
		for _, ops := range phases[p].Ops {
			m.parts(ops, func([]Op, way) {})
		}
	}
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

// way is how operations move that differ in nothing but their sets and stand in a row.
type way uint8

const (
	singly   way = iota // each goes where its sets do, which lie in one segment each
	together            // some have chunks of several nodes, in all places the same: together they go where all of these do
	staying             // some do, and what they do with the chunks of a node, they do with those of all equivalent ones
	stuck               // cannot be
)

// parts visits the operations of a program in rows that move together.
func (m *kindMoves) parts(ops []Op, visit func(part []Op, how way)) {
	for first := 0; first < len(ops); {
		end := first
		spread := false
		for ; end < len(ops) && (end == first || m.sameButSets(&ops[end], &ops[first])); end++ {
			spread = spread || m.spread(&ops[end])
		}
		how := singly
		if spread {
			how = m.wayOf(ops[first:end])
		}
		visit(ops[first:end], how)
		first = end
	}
}

// wayOf is how operations of which some have chunks of several nodes move.
func (m *kindMoves) wayOf(part []Op) way {
	key := ""
	if m.ways != nil {
		key = signature(part)
		if how, known := m.ways[key]; known {
			return how
		}
	}
	how := stuck
	switch {
	case m.preserved(part):
		how = staying
	case !slices.ContainsFunc(part, func(op Op) bool { return !m.inOneWay(&op) }):
		how = together
	}
	if m.ways != nil {
		m.ways[key] = how
	}
	return how
}

// inOneWay reports whether an operation works on the same chunks in all of its places.
func (m *kindMoves) inOneWay(op *Op) bool {
	n := int32(len(m.segment))
	set, some := m.mainSet(op)
	return some && !slices.ContainsFunc(op.places(), func(l Loc) bool {
		return l.Set.Len() > 0 && (!l.Set.ascends() || int64(l.Set.First/n) != l.Set.last()/int64(n) ||
			l.Set.shifted(-l.Set.First/n*n) != set)
	})
}

// mainSet are the chunks of an operation's first place that has any, whichever copy they are in.
func (m *kindMoves) mainSet(op *Op) (set ChunkSet, some bool) {
	for _, l := range op.places() {
		if l.Set.Len() > 0 {
			return l.Set.shifted(-l.Set.First / int32(len(m.segment)) * int32(len(m.segment))), true
		}
	}
	return ChunkSet{}, false
}

// spread reports whether any place of an operation has chunks of several segments.
func (m *kindMoves) spread(op *Op) bool {
	several := func(l Loc) bool {
		_, one := m.segmentOf(l.Set)
		return !one
	}
	return several(op.Src) || several(op.Dst) || slices.ContainsFunc(op.Srcs, several)
}

// sameButSets reports whether two operations differ in nothing but their sets.
func (m *kindMoves) sameButSets(a, b *Op) bool {
	n := int32(len(m.segment))
	alike := func(x, y Loc) bool { return x.Buf == y.Buf && x.Set.First/n == y.Set.First/n }
	return a.Kind == b.Kind && a.Peer == b.Peer && alike(a.Src, b.Src) && alike(a.Dst, b.Dst) && slices.EqualFunc(a.Srcs, b.Srcs, alike)
}

// of is the number of the permutation that takes a rank's original to it: 0 where it is its own.
func (m *kindMoves) of(rank int32) int32 {
	if node := m.node[rank]; m.first[node] != node {
		return node
	}
	return 0
}

func (m *kindMoves) inverse(by int32) int32        { return -by }
func (m *kindMoves) rank(rank, by int32) int32     { return m.rankTo(rank, m.by(by)) }
func (m *kindMoves) chunk(chunk, by int32) int32   { return m.chunkTo(chunk, m.by(by)) }
func (m *kindMoves) runs(from runs, by int32) runs { return m.runsTo(from, m.by(by)) }
func (m *kindMoves) digit(place int32) int32       { return m.segment[place%int32(len(m.segment))] }

// append appends a rank's program: its original's, moved. ways, if wanted, says how each operation has moved.
func (m *kindMoves) append(dst []Op, programs []Program, rank int32, ways *[]way) []Op {
	node := m.node[rank]
	first := m.first[node]
	to := m.by(node)
	m.parts(programs[m.program[first]+rank-m.rank0[node]], func(part []Op, how way) {
		at := len(dst)
		switch {
		case how == together:
			dst = m.appendTogether(dst, part, to)
		case how == singly && first != node:
			for i := range part {
				dst = append(dst, m.opTo(part[i], to))
			}
		default:
			dst = append(dst, part...)
		}
		for i := at; i < len(dst); i++ {
			if dst[i].Peer >= 0 && first != node {
				dst[i].Peer = m.rankTo(dst[i].Peer, to)
			}
			if ways != nil {
				*ways = append(*ways, how)
			}
		}
	})
	return dst
}

// opTo is an operation on sets of one segment each after these have gone where they go.
func (m *kindMoves) opTo(op Op, to permutation) Op {
	op.Src.Set, op.Dst.Set = m.setTo(op.Src.Set, to), m.setTo(op.Dst.Set, to)
	op.Srcs = slices.Clone(op.Srcs)
	for j := range op.Srcs {
		op.Srcs[j].Set = m.setTo(op.Srcs[j].Set, to)
	}
	return op
}

// appendTogether appends operations on as few sets as the chunks of some are in that go somewhere together.
func (m *kindMoves) appendTogether(dst, part []Op, to permutation) []Op {
	var list []ChunkSet
	for i := range part {
		set, _ := m.mainSet(&part[i])
		list = m.appendRanges(list, set, to)
	}
	n := int32(len(m.segment))
	for _, set := range Union(list) {
		op := part[0]
		op.Srcs = slices.Clone(op.Srcs)
		op.Src.Set, op.Dst.Set = set.inCopyOf(op.Src.Set, n), set.inCopyOf(op.Dst.Set, n)
		for j := range op.Srcs {
			op.Srcs[j].Set = set.inCopyOf(op.Srcs[j].Set, n)
		}
		dst = append(dst, op)
	}
	return dst
}

// appendRanges appends where the chunks of a set go, in ranges.
func (m *kindMoves) appendRanges(list []ChunkSet, set ChunkSet, to permutation) []ChunkSet {
	set = set.inRanges()
	step := set.Count
	if set.Stride != 1 {
		step = 1
	}
	for o := range max(set.Outer, 1) {
		for i := int32(0); i < set.Count; i += step {
			for at, end := set.First+o*set.OuterStride+i*set.Stride, set.First+o*set.OuterStride+i*set.Stride+step; at < end; {
				segment := m.segment[at]
				next := min(end, m.start[segment+1])
				list = append(list, Range(at+m.shift(segment, to), next-at))
				at = next
			}
		}
	}
	return list
}

// inCopyOf is a set in the copy of n chunks in which another one lies; empty where that is.
func (c ChunkSet) inCopyOf(o ChunkSet, n int32) ChunkSet {
	if o.Len() == 0 {
		return o
	}
	return c.shifted(o.First / n * n)
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
	m.ways = map[string]way{}
	ranks := m.originals()
	for p := range ch.Phases {
		for i, ops := range ch.Phases[p].Ops {
			if _, size := m.group.Orbit(int(m.node[ranks[i]])); size > 1 && !m.movable(ops) {
				return fmt.Errorf("phase %d: rank %d: chunks are neither of one node each nor the same of all nodes of a kind", p, ranks[i])
			}
		}
	}
	return nil
}

// movable reports whether a program can be moved.
func (m *kindMoves) movable(ops []Op) bool {
	ok := true
	m.parts(ops, func(part []Op, how way) {
		ok = ok && how != stuck
		for i := range part {
			ok = ok && (how != singly || !slices.ContainsFunc(part[i].places(), func(l Loc) bool { return !l.Set.ascends() }))
		}
	})
	return ok
}

// signature is what operations do, whoever their peers are: others do the same with the same chunks.
func signature(part []Op) string {
	var b []byte
	for i := range part {
		op := &part[i]
		b = append(b, byte(op.Kind), byte(len(op.Srcs)), byte(len(op.Srcs)>>8), byte(len(op.Srcs)>>16))
		for _, l := range op.places() {
			b = append(b, byte(l.Buf))
			for _, x := range [...]int32{l.Set.First, l.Set.Count, l.Set.Stride, l.Set.Outer, l.Set.OuterStride} {
				b = binary.LittleEndian.AppendUint32(b, uint32(x))
			}
		}
	}
	return string(b)
}

// preserved reports whether permutations leave operations as they are together: what these do with the
// chunks of a node, in whatever order, they do with those of all equivalent ones, and with those of no two at once.
func (m *kindMoves) preserved(part []Op) bool {
	of := make([][][]int32, len(m.Nodes)) // by node: what is done with one chunk
	for i := range part {
		if !m.usesOf(&part[i], of) {
			return false
		}
	}
	for _, list := range of {
		slices.SortFunc(list, slices.Compare)
	}
	for node, first := range m.first {
		if !slices.EqualFunc(of[node], of[first], slices.Equal) {
			return false
		}
	}
	return true
}

// usesOf adds to what is known by node, for each of the chunks that an operation works on, where that is in each of its places: which
// place, band, number there. It reports whether the places' chunks pair up within nodes.
func (m *kindMoves) usesOf(op *Op, of [][][]int32) bool {
	n, nodes := int32(len(m.segment)), int32(len(m.Nodes))
	places := op.places()
	chunks, width := 0, 1+3*len(places)
	var uses []int32 // by chunk: its segment, then what is known of it in each place
	for j, l := range places {
		if l.Set.Len() == 0 {
			continue
		}
		first := uses == nil
		if first {
			chunks = l.Set.Len()
			uses = make([]int32, chunks*width)
		}
		if !l.Set.ascends() || int64(l.Set.First/n) != l.Set.last()/int64(n) || l.Set.Len() != chunks {
			return false
		}
		at, same := 0, true
		l.Set.Each(func(place int32) {
			place %= n
			segment, x := m.segment[place], uses[at:at+width]
			if first {
				x[0] = segment
			}
			same = same && x[0] == segment
			copy(x[1+3*j:], []int32{1, segment / nodes, place - m.start[segment]})
			at += width
		})
		if !same {
			return false
		}
	}
	for at := 0; at < len(uses); at += width {
		node := uses[at] % nodes
		of[node] = append(of[node], uses[at+1:at+width:at+width])
	}
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
	}
	if err := k.validateGrid(); err != nil {
		return err
	}
	if _, size := k.group().Orbit(rootNode); s.Spec.Kind.Rooted() && size > 1 {
		return fmt.Errorf("the root's node %d is not the only one of its kind", rootNode)
	}
	return nil
}

// validateGrid checks that permutations along the axes of the grid are some of the nodes of each kind.
func (k *Kinds) validateGrid() error {
	dims, axes := k.Grid()
	places := int64(1)
	for a, axis := range axes {
		if places *= int64(dims[a]); places < 1 || places > maxPlaces {
			return fmt.Errorf("a grid of %d places", places)
		}
		for _, of := range axis.Within {
			if len(of) != int(dims[a]) {
				return fmt.Errorf("axis %d: groups of %d coordinates instead of %d", a, len(of), dims[a])
			}
		}
	}
	at := k.Place
	if at == nil {
		at = make(RankList, len(k.Nodes))
		for n := range at {
			at[n] = int32(n)
		}
	}
	seen := make([]bool, places)
	for node, place := range at {
		if len(at) != len(k.Nodes) || place < 0 || int64(place) >= places || seen[place] {
			return fmt.Errorf("node %d has no place of its own among the grid's %d", node, places)
		}
		seen[place] = true
	}
	for _, to := range k.group().Generators() {
		for node, kind := range k.Nodes {
			if image := to(node); image < 0 || image >= len(k.Nodes) || k.Nodes[image] != kind {
				return fmt.Errorf("node %d may go where no node of its kind is", node)
			}
		}
	}
	return nil
}

// maxPlaces bounds the grid of nodes.
const maxPlaces = 1 << 22

func (k *NodeKind) validate(s *Schedule, ch *Channel, bands int) error {
	if k.Ranks < 1 || len(k.Chunks) != bands || slices.Min(k.Chunks) < 0 {
		return fmt.Errorf("%d ranks, chunks %v in %d bands", k.Ranks, k.Chunks, bands)
	}
	if per := ch.Chunks / s.Spec.Blocks(); s.Spec.Blocks() > 1 && (bands > 1 || int(k.Chunks[0]) != int(k.Ranks)*per) {
		return fmt.Errorf("chunks %v instead of %d for each of %d ranks", k.Chunks, per, k.Ranks)
	}
	return nil
}
