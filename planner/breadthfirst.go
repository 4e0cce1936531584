package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildBreadthFirst stores and forwards over direct links: where ranks reach others
// only through other ranks (meshes, tori, any graph without switches), every collective
// still has a schedule. Every block travels on shortest paths from its owner, so nothing
// takes longer than the diameter in steps; blocks are cut into pieces, each of which goes
// down a tree of its own, so that in each step the fullest link carries as little as it can.
// What goes the same way in a step is as few messages as it can be.
// L. Zhao, S. Pal, T. Chugh, W. Wang, J. Fantl, P. Basu, J. Khoury, A. Krishnamurthy,
// "Efficient direct-connect topologies for collective communications", 2022 (BFB).
//
// Pieces are what slices are for other algorithms; but broadcast and reduce, which go over the
// root's tree alone, are pipelined.
func buildBreadthFirst(r *request) (*schedule.Schedule, error) {
	x, err := r.breadthFirst()
	if err != nil {
		return nil, err
	}
	pieces := min(r.slices(), maxBlockPieces(r.spec.Ranks))
	switch r.spec.Kind {
	case collective.AllToAllV:
		return nil, notApplicable("it does not make %v: blocks differ in size on their way", r.spec.Kind)
	case collective.Broadcast, collective.Reduce:
		return r.downOneTree(x), nil
	}
	s := &schedule.Schedule{}
	out, in := x.out.trees(pieces), x.in.trees(pieces)
	for i := range pieces {
		ch := schedule.Channel{}
		switch r.spec.Kind {
		case collective.AllGather, collective.ReduceScatter, collective.AllReduce:
			ch = r.levels(r.joinedTrees(out[i], in[i])).Channels[0]
		default: // blocks that only have to get to one place
			ch = r.outOfStep(r.alongPaths(r.deliver(out[i], in[i]), 1)).Channels[0]
		}
		s.Channels = append(s.Channels, r.oneByOne(ch))
	}
	return s, nil
}

// downOneTree has a tree of the root, or, where channels are asked for, as many.
func (r *request) downOneTree(x *breadthFirstWays) *schedule.Schedule {
	ways, s := x.out, &schedule.Schedule{}
	if r.spec.Kind == collective.Reduce {
		ways = x.in
	}
	for _, parents := range ways.trees(max(r.o.Channels, 1)) {
		s.Channels = append(s.Channels, r.alongTree(identity(r.spec.Ranks), parents[r.spec.Root], 0, r.spec.Root))
	}
	return s
}

// joinedTrees are those of a piece of each block, out from their roots or in to them; of an all-reduce, both.
func (r *request) joinedTrees(out, in [][]int32) *schedule.Trees {
	t := &schedule.Trees{Units: 1, Local: r.local(), Join: true, Early: true}
	for root := range out {
		tree := schedule.Tree{Root: int32(root), Weight: 1, Parent: out[root]}
		switch r.spec.Kind {
		case collective.ReduceScatter:
			tree.Parent = in[root]
		case collective.AllReduce:
			tree.Up = in[root]
		}
		t.List = append(t.List, tree)
	}
	return t
}

// oneByOne has all steps of an operation in one phase, so that none begins before the one before has ended.
func (r *request) oneByOne(ch schedule.Channel) schedule.Channel {
	x := schedule.NewExpander(&schedule.Schedule{Spec: r.spec, Channels: []schedule.Channel{ch}})
	var out []schedule.Phase
	for i, ph := range ch.Phases {
		if i == 0 || ph.Op != ch.Phases[i-1].Op {
			ph.Gen, ph.Level, ph.Src, ph.Ops = schedule.GenOps, 0, schedule.Input, make([]schedule.Program, r.spec.Ranks)
			out = append(out, ph)
		}
		for v, ops := range out[len(out)-1].Ops {
			out[len(out)-1].Ops[v] = x.AppendProgram(ops, 0, i, v)
		}
	}
	ch.Slices, ch.Phases, ch.Trees = 1, out, nil
	return ch
}

// fewPieces are those that blocks are tried in.
var fewPieces = []int{1, 2, 4, 16}

// breadthFirstDepths: whole, and in as many pieces as balance most links that differ; refinement finds others between.
func breadthFirstDepths(r *request) []int {
	switch r.spec.Kind {
	case collective.Broadcast, collective.Reduce:
		return pipelined
	case collective.Barrier, collective.SendRecv:
		return []int{1}
	case collective.AllToAll, collective.Scatter, collective.Gather:
		if r.spec.Ranks > maxFlowRanks { // whose simulation takes seconds
			return []int{1, 4}
		}
		return []int{1, 2, 4}
	}
	return upTo(fewPieces, maxBlockPieces(r.spec.Ranks))
}
