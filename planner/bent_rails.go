package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildBentRails is hierarchical_two_shot for nodes whose ways into the network are not
// alike, since adapters, GPUs or links are lost, slow or busy. There, a rail bends: some of
// its units cross by way of other GPUs of the node, so that all adapters that are left
// are full at once, and of an all-reduce such a node is root of less. Nodes that are
// alike do alike: the plan has as many kinds of programs as there are kinds of nodes.
func buildBentRails(r *request) (*schedule.Schedule, error) {
	if !r.bendable() {
		return nil, notApplicable("it does not make %v", r.spec.Kind)
	}
	b, err := r.bends()
	if err != nil {
		return nil, err
	}
	if r.spec.Ranks > maxRing && !r.alike() && !r.inClasses() {
		return nil, notApplicable("of more than %d ranks, nodes have to be alike but for a few", maxRing)
	}
	x := b.schedule(r.spec.Kind)
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * b.units, Bends: x}
	stage := func(op collective.Kind, level int, src, dst schedule.Buffer) {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenBends, Op: op, Level: level, Src: src, Acc: dst, Dst: dst})
	}
	const in, out, scratch = schedule.Input, schedule.Output, schedule.Scratch
	switch r.spec.Kind {
	case collective.AllGather:
		stage(collective.AllGather, 1, in, out)
		stage(collective.AllGather, 2, out, out)
		stage(collective.AllGather, 3, out, out)
	case collective.ReduceScatter:
		stage(collective.ReduceScatter, 3, in, scratch)
		stage(collective.ReduceScatter, 2, scratch, scratch)
		stage(collective.ReduceScatter, 1, scratch, out)
	case collective.AllReduce:
		ch.Chunks = b.allRoots()
		stage(collective.ReduceScatter, 3, in, scratch)
		stage(collective.ReduceScatter, 2, scratch, out)
		stage(collective.AllGather, 2, out, out)
		stage(collective.AllGather, 3, out, out)
	default:
		if slices.ContainsFunc(b.rank, func(ranks []int32) bool { return slices.Contains(ranks, -1) }) {
			return nil, notApplicable("nodes are not of one size")
		}
		for level := 1; level <= 3; level++ {
			stage(collective.AllToAll, level, in, out)
		}
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
}

// bendable reports whether bent rails make the collective.
func (r *request) bendable() bool {
	switch r.spec.Kind {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll:
		return true
	}
	return false
}

// enoughToBend is from beyond how many ranks on bent rails come nearer to the bound than
// trees that fill scale-up links and NICs at once: NICs alone limit many nodes.
const enoughToBend = 64

// schedule is how the plan format says it.
func (b *bends) schedule(of collective.Kind) *schedule.Bends {
	x := &schedule.Bends{Units: int32(b.units)}
	for _, k := range b.kind {
		x.Nodes = append(x.Nodes, int32(k))
	}
	for i, k := range b.kinds {
		var out schedule.BentKind
		for rail, units := range k.by {
			var list schedule.RankList
			for _, by := range units {
				list = append(list, int32(by))
			}
			out.By = append(out.By, list)
			if b.rank[slices.Index(b.kind, i)][rail] < 0 {
				out.Lost = append(out.Lost, int32(rail))
			}
			if of == collective.AllReduce {
				out.Roots = append(out.Roots, k.roots[rail])
			}
		}
		x.Kinds = append(x.Kinds, out)
	}
	return x
}

// allRoots counts the chunks of an all-reduce.
func (b *bends) allRoots() int {
	total := 0
	for _, k := range b.kind {
		for _, list := range b.kinds[k].roots {
			for _, n := range list {
				total += int(n)
			}
		}
	}
	return total
}
