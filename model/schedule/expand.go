package schedule

import (
	"fmt"
	"slices"

	"railyard/model/collective"
)

// Expander turns a schedule's generators into operations, one rank at a time. It is
// read-only after NewExpander and safe for concurrent use.
type Expander struct {
	s     *Schedule
	index [][][][]place    // by channel, phase and rank; nil for grids
	trees [][]treePrograms // by channel and phase; of generator trees only
	kinds []*kindMoves     // by channel; of those with kinds of nodes only

	// Of a coarse one (see Coarse):
	fine   *Expander
	grains []*grains // by channel; nil: its chunks are as they are
	torn   bool      // a program works on a part of one
}

// NewExpander prepares the expansion of a valid schedule (see Validate).
func NewExpander(s *Schedule) *Expander { return newExpander(s, nil) }

// NewSketch is for what does not depend on the order of messages: those of trees are not
// put in order, nor cut into pieces, which takes long. Programs of trees are those of some ranks alone.
func NewSketch(s *Schedule, of []int) *Expander {
	sketched := make([]bool, s.Spec.Ranks)
	for _, r := range of {
		sketched[r] = true
	}
	return newExpander(s, sketched)
}

func newExpander(s *Schedule, sketched []bool) *Expander {
	x := &Expander{s: s, index: make([][][][]place, len(s.Channels)), trees: make([][]treePrograms, len(s.Channels)),
		kinds: make([]*kindMoves, len(s.Channels))}
	for c, ch := range s.Channels {
		if like := slices.IndexFunc(s.Channels[:c], func(o Channel) bool { return ch.SharesPrograms(&o) }); like >= 0 {
			x.index[c], x.trees[c], x.kinds[c] = x.index[like], x.trees[like], x.kinds[like]
			continue
		}
		x.index[c], x.trees[c] = make([][][]place, len(ch.Phases)), make([]treePrograms, len(ch.Phases))
		var trees *treePhases
		if ch.Trees != nil {
			trees = newTreePhases(ch.Trees, s.Spec.Ranks, sketched)
		}
		if ch.Kinds != nil {
			x.kinds[c] = newKindMoves(ch.Kinds)
		}
		for p := range ch.Phases {
			if ph := &ch.Phases[p]; ph.Gen == GenTrees {
				x.trees[c][p] = trees.programs(ph)
			} else if ph.Groups.List != nil {
				x.index[c][p] = indexGroups(ph.Groups.List, s.Spec.Ranks)
			}
		}
	}
	return x
}

// AppendProgram appends to dst the operations of one rank in one phase of a channel,
// for one slice.
func (x *Expander) AppendProgram(dst []Op, channel, phase, rank int) []Op {
	if x.fine != nil {
		return x.appendCoarse(dst, channel, phase, rank)
	}
	ch := &x.s.Channels[channel]
	ph := &ch.Phases[phase]
	switch ph.Gen {
	case GenOps:
		if m := x.kinds[channel]; m != nil {
			return m.append(dst, ph, int32(rank))
		}
		return ph.appendProgram(dst, rank)
	case GenRails:
		return x.appendRails(dst, ch, ph, rank)
	case GenTrees:
		return x.trees[channel][phase].append(dst, rank)
	}
	e := emitter{ops: dst, ph: ph, spec: &x.s.Spec}
	if g := ph.Groups.Grid; g != nil {
		e.member = gridMember(g, ch.Chunks, rank)
		generate(&e)
		return e.ops
	}
	for _, at := range x.index[channel][phase][rank] {
		e.member = listMember(&ph.Groups.List[at.group], ch.Chunks, at.pos)
		generate(&e)
	}
	return e.ops
}

// AppendOnce is AppendProgram, but of what long pipelines repeat, the operations of the
// first time only; the loop counts from the end of dst. Chunks differ from time to time,
// their number does not. No time: nothing repeats.
func (x *Expander) AppendOnce(dst []Op, channel, phase, rank int) ([]Op, Loop) {
	if x.fine != nil {
		return x.fine.AppendOnce(dst, channel, phase, rank)
	}
	if t := x.trees[channel][phase]; t.ordered != nil {
		return t.ordered.appendOnce(dst, rank)
	}
	return x.AppendProgram(dst, channel, phase, rank), Loop{}
}

// The generators.
const (
	GenRing     = "ring"
	GenDirect   = "direct"
	GenTree     = "tree"
	GenDoubling = "doubling"
	GenBruck    = "bruck"
	GenSwitch   = "switch"
	GenOps      = "ops"
	GenTrees    = "trees"
	GenRails    = "rails"
)

// generators lists, for each generator, the collectives it makes.
var generators = map[string]map[collective.Kind]func(*emitter){
	GenRing: {
		collective.ReduceScatter: ringReduceScatter, collective.AllGather: ringAllGather,
		collective.AllReduce: ringAllReduce, collective.Broadcast: treeBroadcast, collective.Reduce: treeReduce,
	},
	GenDirect: {
		collective.AllGather: directAllGather, collective.ReduceScatter: directReduceScatter,
		collective.AllReduce: directAllReduce, collective.AllToAll: directAllToAll, collective.AllToAllV: directAllToAll,
		collective.Gather: directGather, collective.Scatter: directScatter,
		collective.Broadcast: directBroadcast, collective.Reduce: directReduce,
		collective.SendRecv: directSendRecv, collective.Barrier: directBarrier,
	},
	GenTree: {
		collective.Broadcast: treeBroadcast, collective.Reduce: treeReduce,
		collective.Gather: treeGather, collective.Scatter: treeScatter, collective.Barrier: treeBarrier,
	},
	GenDoubling: {collective.ReduceScatter: halvingReduceScatter, collective.AllGather: doublingAllGather,
		collective.AllReduce: doublingAllReduce},
	GenBruck: {
		collective.AllGather: bruckAllGather, collective.ReduceScatter: bruckReduceScatter,
		collective.AllToAll: bruckAllToAll, collective.Barrier: disseminationBarrier,
	},
	GenSwitch: {
		collective.AllGather: directAllGather, collective.ReduceScatter: directReduceScatter,
		collective.Broadcast: directBroadcast, collective.Reduce: directReduce,
	},
}

// Supports reports whether a generator makes a collective.
func Supports(gen string, op collective.Kind) bool { return generators[gen][op] != nil }

func generate(e *emitter) {
	f := generators[e.ph.Gen][e.ph.Op]
	if f == nil {
		panic(fmt.Sprintf("schedule: %s does not make %v: Validate first", e.ph.Gen, e.ph.Op))
	}
	if e.size == 1 {
		e.alone()
		return
	}
	f(e)
}

// alone is what is left of an algorithm where a group has one member.
func (e *emitter) alone() {
	set := e.part(0)
	switch e.ph.Op {
	case collective.AllReduce, collective.Broadcast, collective.Reduce, collective.SendRecv:
		set = e.whole()
	case collective.Barrier:
		return
	}
	e.copy(at(e.ph.Src, set), at(e.ph.Dst, set))
}

// emitter collects the operations of one member of one group.
type emitter struct {
	member
	ops  []Op
	ph   *Phase
	spec *collective.Spec
}

// at is a place in a buffer.
func at(b Buffer, set ChunkSet) Loc { return Loc{Buf: b, Set: set} }

// next is another operation, written in place: programs have thousands.
func (e *emitter) next() *Op {
	e.ops = append(e.ops, Op{})
	return &e.ops[len(e.ops)-1]
}

func (e *emitter) send(to int, src Loc) {
	op := e.next()
	op.Kind, op.Peer, op.Src = Send, e.rank(to), src
}

func (e *emitter) recv(from int, dst Loc) {
	op := e.next()
	op.Kind, op.Peer, op.Dst = Recv, e.rank(from), dst
}

func (e *emitter) recvReduce(from int, src, dst Loc) {
	op := e.next()
	op.Kind, op.Peer, op.Src, op.Dst = RecvReduce, e.rank(from), src, dst
}

// copy moves data locally; nothing to do where source and destination are one place, or
// there are none.
func (e *emitter) copy(src, dst Loc) {
	if src != dst && src.Set.Len() > 0 {
		e.ops = append(e.ops, Op{Kind: Copy, Peer: -1, Src: src, Dst: dst})
	}
}

func (e *emitter) reduce(dst Loc, srcs []Loc) {
	e.ops = append(e.ops, Op{Kind: Reduce, Peer: -1, Dst: dst, Srcs: srcs})
}

// scratch is copy number n of a set in the scratch buffer.
func (e *emitter) scratch(n int, set ChunkSet) Loc {
	return at(Scratch, set.shifted(int32(n*e.chunks)))
}
