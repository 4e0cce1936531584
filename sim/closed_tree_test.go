package sim

import (
	"math"

	"railyard/model/collective"
)

// tree: a rank serves all its children at once, so that c children share its port.
// Kielmann et al., "MagPIe", 1999, for the structure; the shared port is this
// simulator's model of a rank with one link.
func (f *phaseForm) tree() (float64, bool) {
	children, order := f.children()
	switch f.op {
	case collective.Broadcast:
		return f.treeBroadcast(children, order), true
	case collective.Reduce:
		return f.treeReduce(children, order)
	}
	return 0, false
}

// children lists each position's children in program order, and the positions from
// the root down.
func (f *phaseForm) children() (children [][]int, order []int) {
	children = make([][]int, f.n)
	root := 0
	for v := range f.n {
		if p := f.parent(v); p >= 0 {
			children[p] = append(children[p], v)
		} else {
			root = v
		}
	}
	order = append(order, root)
	for i := 0; i < len(order); i++ {
		order = append(order, children[order[i]]...)
	}
	return children, order
}

// parent is the parent's position: given, or in a k-nomial tree the number (counted
// from the root) with its lowest non-zero digit in base k cleared.
func (f *phaseForm) parent(pos int) int {
	if f.ph.Parents != nil {
		return int(f.ph.Parents[pos])
	}
	v := (pos - f.ph.Root + f.n) % f.n
	if v == 0 {
		return -1
	}
	digit := 1
	for v/digit%f.ph.Radix == 0 {
		digit *= f.ph.Radix
	}
	return (v - v/digit%f.ph.Radix*digit + f.ph.Root) % f.n
}

// toChildren is the time of c messages that leave or reach a rank together.
func (f *phaseForm) toChildren(c int) float64 {
	if f.port {
		return f.message(float64(c) * f.whole)
	}
	return f.message(f.whole)
}

func (f *phaseForm) treeBroadcast(children [][]int, order []int) float64 {
	at := make([]float64, f.n)
	last := 0.0
	for _, v := range order {
		last = max(last, at[v])
		for _, c := range children[v] {
			at[c] = at[v] + f.toChildren(len(children[v]))
		}
	}
	return last
}

// treeReduce holds where the children of a rank are ready together or have links of
// their own, or all arrive before the next one begins to move: else they share the
// port for a part of the time only.
func (f *phaseForm) treeReduce(children [][]int, order []int) (float64, bool) {
	ready := make([]float64, f.n)
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		t := 0.0
		for _, c := range children[v] {
			if f.port && math.Abs(ready[c]-ready[children[v][0]]) > 1e-6 {
				return 0, false
			}
			t = max(t, ready[c]+f.toChildren(len(children[v]))) + f.whole*f.gamma
		}
		ready[v] = t
	}
	return ready[order[0]], true
}
