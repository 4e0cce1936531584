package block

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Timing is a schedule for the simulator alone that takes as long as stages do with a buffer of a size, on so many streams and thread
// blocks: a channel for each stream, in which a rank does what is in a stage's kernel, then sends all of its group, then waits for all
// that the group brings. What it moves are numbers of bytes, of no buffer.
func Timing(s *schedule.Schedule, nodes [][]int, streams, blocks int, size int64) (*schedule.Schedule, error) {
	o := Options{Count: max(size/wordBytes, 1), Size: wordBytes, Instances: 1}
	g, err := newStager(s, o, nodes)
	if err != nil {
		return nil, err
	}
	if o.Instances = max(blocks/g.blocks(g.streams(streams)), 1); o.Instances > 1 { // which make slices of few bytes fewer
		if g, err = newStager(s, o, nodes); err != nil {
			return nil, err
		}
	}
	t := &timing{g: g, unit: max((size+mostUnits-1)/mostUnits, 1), streams: g.streams(streams)}
	out := *s
	out.Channels, out.Spec.Counts = nil, nil
	if out.Spec.Kind == collective.AllToAllV { // whose sizes are counted
		out.Spec.Kind = collective.AllToAll
	}
	parts := out.Spec.Blocks()
	for n := range t.streams {
		each := (size + int64(t.streams) - 1) / int64(t.streams)
		chunks := int((each + t.unit - 1) / t.unit)
		out.Channels = append(out.Channels, schedule.Channel{Share: 1, Slices: 1, Chunks: (chunks + parts - 1) / parts * parts,
			Phases: []schedule.Phase{{Gen: schedule.GenOps, Op: out.Spec.Kind, Ops: t.stream(n)}}})
	}
	return &out, nil
}

// mostUnits are about the chunks in which bytes are counted; wordBytes those of an element.
const (
	mostUnits = 1 << 23
	wordBytes = 4
)

// timing makes the programs of such a schedule.
type timing struct {
	g       *stager
	unit    int64 // a chunk
	streams int
	ops     []schedule.Program // by rank
}

// stream is what all ranks do on one.
func (t *timing) stream(n int) []schedule.Program {
	t.ops = make([]schedule.Program, t.g.c.s.Spec.Ranks)
	for _, wave := range t.g.waves(n, t.streams) {
		t.kernels(wave)
		t.group(wave)
	}
	return t.ops
}

// deep is an operation of a kernel, behind so many messages on the longest chain before it.
type deep struct {
	op   schedule.Op
	rank int
	at   int
}

// kernels are those of all nodes. Their lanes run side by side: what is behind fewer messages comes first.
func (t *timing) kernels(wave []item) {
	var all []deep
	for _, x := range wave {
		if x.level >= len(x.cut.kernels) {
			continue
		}
		for node, st := range x.cut.kernels[x.level] {
			if st != nil {
				all = append(all, t.depths(x, node, st)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b deep) int { return a.at - b.at })
	for _, x := range all {
		t.ops[x.rank] = append(t.ops[x.rank], x.op)
	}
}

// depths are the operations of a node's strand.
func (t *timing) depths(x item, node int, st *strand) (out []deep) {
	at, sent := make([]int, len(st.steps)), map[*message]int{}
	_ = inOrder([]*strand{st}, func(_ *strand, r, i int) { // of what was cut in such an order
		s := &st.steps[r][i]
		if s.op.Kind == schedule.Send {
			sent[s.msg] = at[r]
		} else if receives(s.op) {
			at[r] = max(at[r], sent[s.msg]+1)
		}
		rank := x.cut.nodes[node][r]
		out = append(out, deep{t.op(x, rank, s.op), rank, at[r]})
	})
	return out
}

// op is an operation of a slice on as many bytes.
func (t *timing) op(x item, rank int, op *schedule.Op) schedule.Op {
	l := op.Dst
	if op.Kind == schedule.Send {
		l = op.Src
	}
	out := schedule.Op{Kind: op.Kind, Peer: op.Peer, Dst: t.bytes(t.moved(x.cut.st.channel, rank, x.slice, l))}
	if out.Src = out.Dst; op.Kind == schedule.Reduce {
		out.Srcs = slices.Repeat([]schedule.Loc{out.Dst}, len(op.Srcs))
	}
	return out
}

// moved is how many bytes a place of a rank has in a slice.
func (t *timing) moved(channel, rank, slice int, l schedule.Loc) (sum int64) {
	at := t.g.c.at
	piece := at.unit(channel) * int64(at.o.Instances)
	l.Set.Each(func(chunk int32) {
		n := piece
		if _, limit := at.place(rank, l.Buf, channel, chunk); limit >= 0 {
			n = min(max(limit-int64(slice)*at.stride(channel), 0), piece)
		}
		sum += n * wordBytes
	})
	return sum
}

// bytes is a place of so many.
func (t *timing) bytes(n int64) schedule.Loc {
	return schedule.Loc{Buf: schedule.Scratch, Set: schedule.ChunkSet{Count: int32((n + t.unit - 1) / t.unit), Stride: 1}}
}

// group is the messages of a stage: sends first, of which none waits for a receive.
func (t *timing) group(wave []item) {
	var all []Transfer
	for _, x := range wave {
		if x.level < len(x.cut.groups) {
			for _, m := range x.cut.groups[x.level] {
				all = append(all, t.g.transfers(x.cut, m, x.slice)...)
			}
		}
	}
	for _, m := range all {
		r := m.From.Rank
		t.ops[r] = append(t.ops[r], schedule.Op{Kind: schedule.Send, Peer: int32(m.To.Rank), Src: t.bytes(m.Bytes)})
	}
	for _, m := range all {
		r := m.To.Rank
		t.ops[r] = append(t.ops[r], schedule.Op{Kind: schedule.Recv, Peer: int32(m.From.Rank), Dst: t.bytes(m.Bytes)})
	}
}
