package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// deliver moves each block on its own from its source along the tree of that source, or
// of its destination (scatter, where the root has to balance what it sends): all-to-all,
// scatter, gather, send-receive and barrier (a message to everybody). On the way a block
// waits in the scratch buffer, in a copy for each source.
func deliver(r *request, out, in *breadthFirst) [][]schedule.Op {
	programs := make([]program, out.n)
	var moves [][]move // by step
	for src := range out.n {
		for dst := range out.n {
			if !carries(r.spec, src, dst) {
				continue
			}
			from, to := r.ends(src, dst)
			if src == dst {
				if r.spec.Kind != collective.Barrier {
					programs[src].copy(from, to)
				}
				continue
			}
			path := out.path(src, dst)
			if r.spec.Kind == collective.Scatter {
				path = in.path(dst, src)
				slices.Reverse(path)
			}
			for step := 1; step < len(path); step++ {
				m := move{path[step-1], path[step], r.waiting(src, dst), r.waiting(src, dst)}
				if step == 1 {
					m.src = from
				}
				if step == len(path)-1 {
					m.dst = to
				}
				for len(moves) < step {
					moves = append(moves, nil)
				}
				moves[step-1] = append(moves[step-1], m)
			}
		}
	}
	for _, step := range moves {
		for _, m := range step {
			programs[m.from].send(m.to, m.src)
		}
		for _, m := range step {
			programs[m.to].recv(m.from, m.dst)
		}
	}
	ops := make([][]schedule.Op, out.n)
	for i := range programs {
		ops[i] = programs[i].ops
	}
	return ops
}

// move is one hop of a block.
type move struct {
	from, to int32
	src, dst schedule.Loc
}

// carries reports whether a collective has a block from src to dst.
func carries(s collective.Spec, src, dst int) bool {
	switch s.Kind {
	case collective.Gather:
		return dst == s.Root
	case collective.Scatter:
		return src == s.Root
	case collective.SendRecv:
		return dst == (src+1)%s.Ranks
	}
	return true // all_to_all, barrier
}

// ends are the places of a block at its source and at its destination.
func (r *request) ends(src, dst int) (from, to schedule.Loc) {
	if r.spec.Kind == collective.Barrier {
		return schedule.Loc{}, schedule.Loc{}
	}
	in, out := blocks(r.spec.Kind, src, dst)
	return chunkAt(schedule.Input, in), chunkAt(schedule.Output, out)
}

// blocks are the numbers of the block that goes from src to dst, in the input of the one and
// in the output of the other.
func blocks(k collective.Kind, src, dst int) (in, out int) {
	switch k {
	case collective.AllToAll, collective.AllToAllV:
		return dst, src
	case collective.Scatter:
		return dst, dst
	case collective.Gather:
		return src, src
	}
	return 0, 0 // send_recv
}

// waiting is where a block stays between hops.
func (r *request) waiting(src, dst int) schedule.Loc {
	switch r.spec.Kind {
	case collective.Barrier:
		return schedule.Loc{}
	case collective.SendRecv:
		return chunkAt(schedule.Scratch, src)
	}
	return chunkAt(schedule.Scratch, src*r.spec.Ranks+dst)
}

// path is the way in the tree of root from it to a rank, both included.
func (b *breadthFirst) path(root, rank int) []int32 {
	var out []int32
	for v := int32(rank); v >= 0; v = b.parent[root][v] {
		out = append(out, v)
	}
	slices.Reverse(out)
	return out
}
