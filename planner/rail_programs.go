package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// railStage is what a phase over rerouted rails makes. Levels are
//
//	1: inside the node, from a unit's GPU to the one through which it leaves
//	2: across, on each rail, or part of one that is rerouted otherwise, tier by tier
//	3: inside the node, from where units enter to all others, or to their destination
//
// and the same in reverse where data are summed up.
type railStage struct {
	op    collective.Kind
	level int
	tier  int // level 2, where nodes have all they need of one another
}

// railStages are those of each collective. A broadcast is dealt out to all nodes but the root's,
// which then gather it from one another; a reduce is the same in reverse.
var railStages = map[collective.Kind][]railStage{
	collective.AllToAll:      {{collective.AllToAll, 1, 0}, {collective.AllToAll, 2, 0}, {collective.AllToAll, 3, 0}},
	collective.AllGather:     {{collective.AllGather, 1, 0}, {collective.AllGather, 2, 0}, {collective.AllGather, 3, 0}},
	collective.ReduceScatter: {{collective.ReduceScatter, 3, 0}, {collective.ReduceScatter, 2, 0}, {collective.ReduceScatter, 1, 0}},
	collective.AllReduce: {{collective.ReduceScatter, 3, 0}, {collective.ReduceScatter, 2, 0}, {collective.AllGather, 2, 0},
		{collective.AllGather, 3, 0}},
	collective.Broadcast: {{collective.Broadcast, 1, 0}, {collective.Broadcast, 2, 0}, {collective.AllGather, 2, 0},
		{collective.AllGather, 3, 0}},
	collective.Reduce: {{collective.ReduceScatter, 3, 0}, {collective.ReduceScatter, 2, 0}, {collective.Reduce, 2, 0},
		{collective.Reduce, 1, 0}},
	collective.Gather:  {{collective.Gather, 1, 0}, {collective.Gather, 2, 0}, {collective.Gather, 3, 0}},
	collective.Scatter: {{collective.Scatter, 3, 0}, {collective.Scatter, 2, 0}, {collective.Scatter, 1, 0}},
}

// stages are those of a collective, with those of level 2 by tier.
func (g *railGroups) stages() (out []railStage) {
	for _, x := range railStages[g.spec.Kind] {
		if x.level != 2 || x.op.Rooted() || x.op == collective.AllToAll {
			out = append(out, x)
			continue
		}
		for tier := range g.passes {
			if x.tier = tier; x.op == collective.ReduceScatter {
				x.tier = len(g.passes) - 1 - tier
			}
			out = append(out, x)
		}
	}
	return out
}

// channel is a collective over rerouted rails and tiers of nodes, outermost first: the programs of the first group of
// nodes of each kind. What is summed up on the way lies in scratch until the last phase that sums; blocks of an
// all-to-all are copied on as they come.
func (b *reroutes) channel(spec collective.Spec, tiers [][]int32, inner string) schedule.Channel {
	g := newRailGroups(b, spec, tiers)
	g.inner = inner
	ch := schedule.Channel{Share: 1, Slices: 1, Chunks: g.chunks, Kinds: g.claim()}
	stages, src := g.stages(), schedule.Input
	for i, x := range stages {
		dst := schedule.Output
		if i+1 < len(stages) && (stages[i+1].op.Reduces() || g.collects()) {
			dst = schedule.Scratch
		}
		ph := schedule.Phase{Gen: schedule.GenOps, Op: x.op, Src: src, Acc: dst, Dst: dst}
		g.programs(&ph, x)
		ch.Phases = append(ch.Phases, ph)
		if spec.Kind != collective.AllToAll {
			src = dst
		}
	}
	return ch
}

// programs adds those of the first groups' ranks in a stage: in each of its groups, everybody talks to everybody at once.
func (g *railGroups) programs(ph *schedule.Phase, x railStage) {
	direct := schedule.Phase{Gen: schedule.GenDirect, Op: x.inGroups(), Src: ph.Src, Acc: ph.Acc, Dst: ph.Dst}
	if x.level == 3 && !g.collects() { // switches neither gather nor scatter
		direct.Gen = g.inner
	}
	if x.op != collective.AllToAll {
		direct.Groups.List = append([]schedule.Group{}, g.of(x)...) // there may be none
	}
	one := &schedule.Schedule{Spec: g.spec, Channels: []schedule.Channel{{Chunks: g.chunks, Phases: []schedule.Phase{direct}}}}
	inGroups := schedule.NewExpander(one)
	var ops []schedule.Op // before neighbours are joined, which leaves few of many
	for _, node := range slices.Concat(g.first...) {
		for rail, rank := range g.rank[node] {
			switch {
			case rank < 0:
			case x.op == collective.AllToAll:
				ph.Add(sendFirst(g.exchange(x.level, node, rail), int(rank), g.spec.Ranks))
			default:
				ops = inGroups.AppendProgram(ops[:0], 0, 0, int(rank))
				ph.Add(joinNeighbours(sendFirst(ops, int(rank), g.spec.Ranks)))
			}
		}
	}
}

// inGroups is what the groups of a stage do.
func (x railStage) inGroups() collective.Kind {
	gathers := x.op == collective.AllGather
	switch {
	case x.op.Rooted():
		return x.op
	case x.level == 1 && gathers:
		return collective.Scatter
	case x.level == 1:
		return collective.Gather
	case gathers:
		return collective.Broadcast
	}
	return collective.Reduce
}

// sendFirst puts the programs of a rank in several groups into one, in which nobody waits in
// one group before it sends in another: sends, copies, receives, then what works on these.
// Peers to whom as much goes stand together, the next ones first, so that ranks that do
// alike have the same program wherever among them one stands that does otherwise.
func sendFirst(ops []schedule.Op, rank, ranks int) []schedule.Op {
	type place struct{ stage, chunks, messages, ahead, at int }
	stages := [...]int{schedule.Send: 0, schedule.Multicast: 0, schedule.Copy: 1, schedule.Recv: 2, schedule.Reduce: 3,
		schedule.SwitchReduce: 3}
	with := map[int32]*place{} // by peer, and by its complement what comes from there
	of := func(o *schedule.Op) (*place, int) {
		peer, chunks, ahead := o.Peer, o.Src.Set.Len(), int(o.Peer)-rank
		if o.Kind == schedule.Recv {
			peer, chunks, ahead = ^peer, o.Dst.Set.Len(), -ahead // behind
		}
		if with[peer] == nil {
			with[peer] = &place{stage: stages[o.Kind], ahead: (ahead + ranks) % ranks}
		}
		return with[peer], chunks
	}
	moves := func(o *schedule.Op) bool { return o.Kind == schedule.Send || o.Kind == schedule.Recv }
	to := make([]*place, len(ops))
	for i := range ops {
		if o := &ops[i]; moves(o) {
			x, chunks := of(o)
			to[i] = x
			x.messages++
			x.chunks += chunks
		}
	}
	order := make([]place, len(ops))
	for i := range ops {
		if order[i] = (place{stage: stages[ops[i].Kind]}); to[i] != nil {
			order[i] = *to[i]
		}
		order[i].at = i
	}
	slices.SortFunc(order, func(a, b place) int {
		return cmp.Or(a.stage-b.stage, a.chunks-b.chunks, a.messages-b.messages, a.ahead-b.ahead, a.at-b.at)
	})
	out := slices.Grow([]schedule.Op(nil), len(ops))
	for _, x := range order {
		out = append(out, ops[x.at])
	}
	return out
}

// joinNeighbours makes one message of those between two ranks whose chunks lie side by side, or do so in equal steps.
// Both ends join the same: their places are those of the same chunks, or, as groups of a stage in
// which two ranks are have them at the same distance, in the same copy of scratch.
func joinNeighbours(ops []schedule.Op) []schedule.Op {
	n := 0
	for _, o := range ops {
		if n > 0 && joinsTo(&ops[n-1], &o) {
			continue
		}
		ops[n] = o
		n++
	}
	return ops[:n]
}

// joinsTo makes one of two operations, if they are messages with the same peers whose places widen alike.
func joinsTo(before, o *schedule.Op) bool {
	moves := o.Kind != schedule.Copy && o.Kind != schedule.Reduce
	if !moves || o.Kind != before.Kind || o.Peer != before.Peer || !slices.Equal(o.Peers, before.Peers) {
		return false
	}
	wide := *before
	widens := func(l *schedule.Loc, by schedule.Loc) bool {
		return by.Set.Len() == 0 || l.Buf == by.Buf && l.Set.Widen(by.Set)
	}
	if !widens(&wide.Src, o.Src) || !widens(&wide.Dst, o.Dst) {
		return false
	}
	*before = wide
	return true
}
