package schedule

import (
	"fmt"
	"slices"

	"railyard/model/collective"
)

// Bends say how data gets into and out of each node. Rail j is the GPUs that are number j
// in their nodes. What belongs to a GPU (of an all-to-all: goes to it) is cut into units;
// unit u of rail j enters and leaves a node through its GPU number By[j][u]: j itself,
// unless that rail bends there. Nodes of a kind do alike.
type Bends struct {
	Units int32      `json:"units"`
	Nodes RankList   `json:"nodes"` // by node: its kind
	Kinds []BentKind `json:"kinds"`
}

// BentKind is what nodes of a kind have in common.
type BentKind struct {
	By   []RankList `json:"by"`             // by rail: by unit
	Lost RankList   `json:"lost,omitempty"` // rails on which there is no GPU
	// by rail: by unit, chunks of which a node is the root (all_reduce), or that are dealt to it (broadcast, reduce)
	Roots []RankList `json:"roots,omitempty"`
}

func (b *Bends) rails() int32 { return int32(len(b.Kinds[0].By)) }

// Ranks is how many ranks a node has.
func (b *Bends) Ranks(node int) int32 {
	k := &b.Kinds[b.Nodes[node]]
	return int32(len(k.By) - len(k.Lost))
}

// ranksOf are the ranks of each node by rail, −1 where there is none.
func (b *Bends) ranksOf() [][]int32 {
	out := make([][]int32, len(b.Nodes))
	next := int32(0)
	for node, k := range b.Nodes {
		out[node] = make([]int32, b.rails())
		for j := range out[node] {
			if out[node][j] = -1; !slices.Contains(b.Kinds[k].Lost, int32(j)) {
				out[node][j] = next
				next++
			}
		}
	}
	return out
}

// appendBends appends the program of a rank in a stage.
func (x *Expander) appendBends(dst []Op, channel int, ph *Phase, rank int) []Op {
	ch := &x.s.Channels[channel]
	if ph.Op == collective.AllToAll {
		return appendBentAllToAll(dst, ch, ph, rank)
	}
	direct := *ph
	direct.Gen, direct.Root = GenDirect, 0
	e := emitter{ops: dst, ph: &direct, spec: &x.s.Spec}
	for _, g := range x.bent[channel].of(ph, int32(rank)) {
		e.member = member{group: g, chunks: ch.Chunks, pos: slices.Index(g.Ranks, int32(rank)), size: len(g.Ranks)}
		direct.Op = x.bent[channel].op(ph)
		generate(&e)
	}
	sendFirst(e.ops[len(dst):], rank, x.s.Spec.Ranks)
	return e.ops[:len(dst)+joinNeighbours(e.ops[len(dst):])]
}

// joinNeighbours makes one message of those between two ranks whose chunks follow one another,
// and says how many operations are left. Both ends join the same: their places are those
// of the same chunks, or, as groups of a stage in which two ranks are have them at the
// same distance, in the same copy of scratch.
func joinNeighbours(ops []Op) int {
	n := 0
	for _, o := range ops {
		if n > 0 && o.Kind == ops[n-1].Kind && o.Peer == ops[n-1].Peer {
			if o.Kind == Send && ops[n-1].Src.followedBy(o.Src) {
				ops[n-1].Src.Set.Count += o.Src.Set.Count
				continue
			}
			if o.Kind == Recv && ops[n-1].Dst.followedBy(o.Dst) {
				ops[n-1].Dst.Set.Count += o.Dst.Set.Count
				continue
			}
		}
		ops[n] = o
		n++
	}
	return n
}

// followedBy reports whether a place and another one are one range.
func (l Loc) followedBy(next Loc) bool {
	a, b := l.Set, next.Set
	return l.Buf == next.Buf && a.Outer <= 1 && b.Outer <= 1 && (a.Stride == 1 || a.Count == 1) && (b.Stride == 1 || b.Count == 1) &&
		a.First+a.Count == b.First
}

// bentStage is what the generator makes in a phase.
type bentStage struct {
	op    collective.Kind
	level int
}

// bentStages are those of each collective.
var bentStages = map[collective.Kind][]bentStage{
	collective.AllToAll:      {{collective.AllToAll, 1}, {collective.AllToAll, 2}, {collective.AllToAll, 3}},
	collective.AllGather:     {{collective.AllGather, 1}, {collective.AllGather, 2}, {collective.AllGather, 3}},
	collective.ReduceScatter: {{collective.ReduceScatter, 3}, {collective.ReduceScatter, 2}, {collective.ReduceScatter, 1}},
	collective.AllReduce: {{collective.ReduceScatter, 3}, {collective.ReduceScatter, 2}, {collective.AllGather, 2},
		{collective.AllGather, 3}},
	collective.Broadcast: {{collective.Broadcast, 1}, {collective.Broadcast, 2}, {collective.AllGather, 2}, {collective.AllGather, 3}},
	collective.Reduce:    {{collective.ReduceScatter, 3}, {collective.ReduceScatter, 2}, {collective.Reduce, 2}, {collective.Reduce, 1}},
}

// BentPhases are the phases of a collective over bent rails. What is summed up on the way lies
// in scratch until the last phase that sums; blocks of an all-to-all are copied on as they come.
func BentPhases(kind collective.Kind) (list []Phase) {
	stages, src := bentStages[kind], Input
	for i, x := range stages {
		dst := Output
		if i+1 < len(stages) && stages[i+1].op.Reduces() {
			dst = Scratch
		}
		list = append(list, Phase{Gen: GenBends, Op: x.op, Level: x.level, Src: src, Acc: dst, Dst: dst})
		if kind != collective.AllToAll {
			src = dst
		}
	}
	return list
}

// validateBends checks a phase over bent rails.
func (s *Schedule) validateBends(ch *Channel, ph *Phase) error {
	b := ch.Bends
	switch {
	case b == nil:
		return fmt.Errorf("generator bends: the channel has no bends")
	case !slices.Contains(bentStages[s.Spec.Kind], bentStage{ph.Op, ph.Level}):
		return fmt.Errorf("bends: level %d of %v is no part of %v", ph.Level, ph.Op, s.Spec.Kind)
	case len(b.Kinds) < 1 || len(b.Nodes) < 1 || len(b.Nodes) > s.Spec.Ranks || b.Units < 1 || int(b.Units) > ch.Chunks || b.rails() > 1024:
		return fmt.Errorf("bends: %d kinds of %d nodes in %d units", len(b.Kinds), len(b.Nodes), b.Units)
	}
	for _, k := range b.Nodes {
		if k < 0 || int(k) >= len(b.Kinds) {
			return fmt.Errorf("bends: there is no kind %d of nodes", k)
		}
	}
	if ranks, chunks := b.count(s); ranks != int64(s.Spec.Ranks) || chunks != int64(ch.Chunks) {
		return fmt.Errorf("bends: %d ranks and %d chunks instead of %d and %d", ranks, chunks, s.Spec.Ranks, ch.Chunks)
	}
	for i := range b.Kinds {
		if err := b.Kinds[i].validate(b, s); err != nil {
			return fmt.Errorf("bends: kind %d: %w", i, err)
		}
	}
	return nil
}

// count is how many ranks and chunks there are.
func (b *Bends) count(s *Schedule) (ranks, chunks int64) {
	rootNode := b.rootNode(s.Spec)
	for node, k := range b.Nodes {
		ranks += int64(b.Ranks(node))
		for _, list := range b.Kinds[k].Roots {
			for _, n := range list {
				if int32(node) != rootNode {
					chunks += int64(n)
				}
			}
		}
	}
	if !s.hasRoots() {
		chunks = ranks * int64(b.Units)
	}
	return ranks, chunks
}

// hasRoots reports whether chunks of bent rails belong to nodes, not to ranks.
func (s *Schedule) hasRoots() bool {
	return s.Spec.Kind == collective.AllReduce || s.Spec.Kind == collective.Broadcast || s.Spec.Kind == collective.Reduce
}

func (k *BentKind) validate(b *Bends, s *Schedule) error {
	switch {
	case len(k.By) != int(b.rails()):
		return fmt.Errorf("%d rails instead of %d", len(k.By), b.rails())
	case len(k.Lost) > 0 && (s.Spec.Kind == collective.AllToAll || len(k.Lost) >= len(k.By)):
		return fmt.Errorf("lost rails %v", k.Lost)
	case (k.Roots == nil) == s.hasRoots(), k.Roots != nil && len(k.Roots) != len(k.By):
		return fmt.Errorf("roots of %d rails", len(k.Roots))
	}
	for i, rail := range k.Lost {
		if rail < 0 || int(rail) >= len(k.By) || i > 0 && rail <= k.Lost[i-1] {
			return fmt.Errorf("lost rails %v", k.Lost)
		}
	}
	for j, units := range k.By {
		if len(units) != int(b.Units) || k.Roots != nil && len(k.Roots[j]) != len(units) {
			return fmt.Errorf("rail %d: %d units instead of %d", j, len(units), b.Units)
		}
		for u, by := range units {
			if by < 0 || int(by) >= len(k.By) || slices.Contains(k.Lost, by) || k.Roots != nil && k.Roots[j][u] < 0 {
				return fmt.Errorf("rail %d, unit %d", j, u)
			}
		}
	}
	return nil
}
