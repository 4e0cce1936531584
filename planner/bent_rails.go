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
	if alike := !r.spec.Kind.Rooted() && r.alike(); r.spec.Ranks > maxRing && !alike && !r.inClasses() {
		return nil, notApplicable("of more than %d ranks, nodes have to be alike but for a few", maxRing)
	}
	x := b.schedule()
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * b.units, Bends: x}
	ch.Phases = schedule.BentPhases(r.spec.Kind)
	switch kind := r.spec.Kind; {
	case kind == collective.AllReduce:
		ch.Chunks = b.allRoots(-1)
	case kind.Rooted():
		ch.Chunks = b.allRoots(r.t.NodeOf(r.spec.Root))
	case kind == collective.AllToAll && slices.ContainsFunc(b.rank, func(ranks []int32) bool { return slices.Contains(ranks, -1) }):
		return nil, notApplicable("nodes are not of one size")
	}
	// there, little latency is to be hidden, and messages of unlike sizes would get into one another's way
	if r.spec.Kind == collective.AllToAll && len(b.kinds) > 1 {
		return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
	}
	return &schedule.Schedule{Channels: staggered(ch)}, nil
}

// staggered is a channel twice, with half of the data each, in unlike numbers of slices:
// while the messages of one are on their way, those of the other fill the links. In as many
// slices, both would wait at the same time.
func staggered(ch schedule.Channel) []schedule.Channel {
	if ch.Slices == 1 {
		return []schedule.Channel{ch}
	}
	other := ch
	other.Slices += (ch.Slices + 3) / 4
	return []schedule.Channel{ch, other}
}

// bendable reports whether bent rails make the collective.
func (r *request) bendable() bool {
	switch r.spec.Kind {
	case collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll, collective.Broadcast, collective.Reduce:
		return true
	}
	return false
}

// enoughToBend is from beyond how many ranks on bent rails come nearer to the bound than
// trees that fill scale-up links and NICs at once: NICs alone limit many nodes.
const enoughToBend = 64

// schedule is how the plan format says it.
func (b *bends) schedule() *schedule.Bends {
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
			if k.roots != nil {
				out.Roots = append(out.Roots, k.roots[rail])
			}
		}
		x.Kinds = append(x.Kinds, out)
	}
	return x
}

// allRoots counts the chunks of which nodes are roots, without those of one node (−1: none).
func (b *bends) allRoots(without int) int {
	total := 0
	for node, k := range b.kind {
		for _, list := range b.kinds[k].roots {
			for _, n := range list {
				if node != without {
					total += int(n)
				}
			}
		}
	}
	return total
}
