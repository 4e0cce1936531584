package schedule

import "slices"

// Tree algorithms: data goes down from the root, or sums go up to it; with slices both
// are pipelined. Trees are given by Parents (double binary trees, packed trees), are the
// chain that is left of a ring, or are k-nomial of Radix k: Thakur, Rabenseifner, Gropp, "Optimization of collective
// communication operations in MPICH", 2005 (k = 2: binomial, ⌈log₂ n⌉ steps).

func treeBroadcast(e *emitter) {
	from := at(e.ph.Src, e.whole())
	parent := e.parent()
	if parent >= 0 {
		from = at(e.ph.Dst, e.whole())
		e.recv(parent, from)
	}
	for _, c := range slices.Backward(e.children()) { // the largest subtree first
		e.send(c, from)
	}
	if parent < 0 {
		e.copy(from, at(e.ph.Dst, e.whole()))
	}
}

func treeReduce(e *emitter) {
	parent := e.parent()
	cur, to := at(e.ph.Src, e.whole()), at(e.ph.Acc, e.whole())
	if parent < 0 {
		to = at(e.ph.Dst, e.whole())
	}
	for _, c := range e.children() { // the smallest subtree, which is ready first, first
		e.recvReduce(c, cur, to)
		cur = to
	}
	if parent >= 0 {
		e.send(parent, cur)
	}
}

// parent is the position above, −1 at the root.
func (e *emitter) parent() int {
	v := e.off(-e.ph.Root)
	switch {
	case e.ph.Gen == GenTree && e.ph.Parents != nil:
		return int(e.ph.Parents[e.pos])
	case v == 0:
		return -1
	case e.ph.Gen == GenRing:
		return e.off(-e.down())
	}
	mask := e.knomialLevel(v)
	return (v - v%(mask*e.ph.Radix) + e.ph.Root) % e.size
}

// down is how far the next position down a chain is: data go round a ring forwards, to the root and from it.
func (e *emitter) down() int {
	if e.ph.Op.Reduces() {
		return -1
	}
	return 1
}

// knomialLevel is the power of the radix at which v (≠ 0) hangs below its parent.
func (e *emitter) knomialLevel(v int) int {
	mask := 1
	for v%(mask*e.ph.Radix) == 0 {
		mask *= e.ph.Radix
	}
	return mask
}

// children are the positions below, in order of growing subtrees.
func (e *emitter) children() []int {
	var out []int
	switch {
	case e.ph.Gen == GenTree && e.ph.Parents != nil:
		for p, parent := range e.ph.Parents {
			if int(parent) == e.pos {
				out = append(out, p)
			}
		}
		return out
	case e.ph.Gen == GenRing:
		if next := e.off(e.down()); next != e.ph.Root {
			out = append(out, next)
		}
		return out
	}
	v := e.off(-e.ph.Root)
	for mask := 1; mask < e.size; mask *= e.ph.Radix {
		if v%(mask*e.ph.Radix) != 0 {
			break
		}
		for j := 1; j < e.ph.Radix && v+j*mask < e.size; j++ {
			out = append(out, (v+j*mask+e.ph.Root)%e.size)
		}
	}
	return out
}
