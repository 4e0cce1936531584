package planner

import (
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// nomial builds k-nomial trees: ⌈log_k n⌉ levels of up to k−1 children each; binomial ones take ⌈log₂ n⌉ steps. R. Thakur,
// R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", 2005. With slices, broadcast and
// reduce are pipelined along them.
func nomial(radix int) builder {
	return func(r *request) (*schedule.Schedule, error) {
		order := identity(r.spec.Ranks)
		switch r.spec.Kind {
		case collective.Gather, collective.Scatter, collective.Barrier:
			ch := r.flat(schedule.GenTree, order, r.chunksFor(len(order)))
			ch.Phases[0].Radix = radix
			return of(ch), nil
		}
		return of(r.alongTree(order, nil, radix, r.spec.Root)), nil
	}
}

// alongTree is reduce, broadcast or both over one tree.
func (r *request) alongTree(order, parents []int32, radix, root int) schedule.Channel {
	up := schedule.Phase{Gen: schedule.GenTree, Op: collective.Reduce, Groups: all(order), Root: root, Parents: parents, Radix: radix}
	down := up
	down.Op = collective.Broadcast
	switch r.spec.Kind {
	case collective.Reduce:
		return r.pipeline(1, up)
	case collective.Broadcast:
		return r.pipeline(1, down)
	}
	return r.pipeline(1, up, down)
}

// buildDoubleBinaryTree uses two in-order binary trees, the second shifted by one
// position, so that the inner nodes of one are leaves of the other: each rank sends
// and receives each byte about once. P. Sanders, J. Speck, J. L. Träff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing
// 2009. Here the second tree is always shifted, never mirrored. A collective with a
// root puts it above both trees.
func buildDoubleBinaryTree(r *request) (*schedule.Schedule, error) {
	n := r.spec.Ranks
	if n < 2 {
		return nil, notApplicable("%d ranks are too few", n)
	}
	s := &schedule.Schedule{}
	root := -1
	if r.spec.Kind.Rooted() {
		root = r.spec.Root
	}
	for shift := range 2 {
		order, parents := shiftedTree(n, root, shift)
		s.Channels = append(s.Channels, r.alongTree(order, parents, 0, slices.Index(parents, -1)))
	}
	return s, nil
}

// shiftedTree is an in-order binary tree over n members rotated by shift. A root, −1 where
// there is none, sits above the tree of the others.
func shiftedTree(n, root, shift int) (order, parents []int32) {
	others := n
	if root >= 0 {
		others = n - 1
	}
	inOrder := inOrderTree(others)
	for i := range others {
		order = append(order, int32((i+shift)%others))
	}
	if others == n {
		return order, inOrder
	}
	for i, v := range order { // skip the root's number
		if int(v) >= root {
			order[i] = v + 1
		}
	}
	order = append(order, int32(root))
	top := slices.Index(inOrder, -1)
	inOrder[top] = int32(others)
	return order, append(inOrder, -1)
}

// inOrderTree is the parents of the binary search tree over positions 1 … n (stored
// from 0): position p hangs at the level of its lowest set bit.
func inOrderTree(n int) []int32 {
	parents := make([]int32, n)
	for p := 1; p <= n; p++ {
		parents[p-1] = int32(inOrderParent(p, n) - 1)
	}
	return parents
}

// inOrderParent is the parent of p among 1 … n, 0 for the root: the nearest number
// above p's lowest set bit that exists.
func inOrderParent(p, n int) int {
	for bit := 2 * (p & -p); bit <= n; bit *= 2 {
		if up := p&^(bit-1) | bit; up <= n {
			return up
		}
	}
	return 0
}
