package schedule

import (
	"fmt"
	"slices"

	"railyard/model/collective"
)

// validateTrees checks a phase of packed trees.
func (s *Schedule) validateTrees(ch *Channel, ph *Phase) error {
	t := ch.Trees
	switch {
	case t == nil:
		return fmt.Errorf("generator trees: the channel has no trees")
	case ph.Op != collective.AllGather && ph.Op != collective.ReduceScatter && (ph.Op != collective.AllReduce || ph.Level > 0):
		return fmt.Errorf("generator trees does not make %v", ph.Op)
	case t.Units == 0 && s.Spec.Blocks() > 1:
		return fmt.Errorf("trees: unequal roots (units 0) do not make %v", s.Spec.Kind)
	case t.Units < 0 || t.Units > 0 && int64(t.Units)*int64(s.Spec.Ranks) != int64(ch.Chunks):
		return fmt.Errorf("trees: %d units for each of %d ranks are not the channel's %d chunks", t.Units, s.Spec.Ranks, ch.Chunks)
	case t.Pieces < 0 || t.Pieces > 1 && ph.Level > 0:
		return fmt.Errorf("trees: %d pieces: at least 1, and only where a phase takes all levels", t.Pieces)
	case ph.Order != nil && ph.Level > 0:
		return fmt.Errorf("trees: only a phase that takes all levels has an order")
	case t.Join && ph.Level == 0:
		return fmt.Errorf("trees: messages are joined (join) level by level only")
	case t.Early && !t.Join:
		return fmt.Errorf("trees: levels count from the root (early) anyway where messages are not joined (join)")
	case t.Local < 1 || s.Spec.Ranks%int(t.Local) != 0:
		return fmt.Errorf("trees: %d ranks are no whole number of nodes of %d", s.Spec.Ranks, t.Local)
	}
	units := make([]int64, s.Spec.Ranks)
	for i := range t.List {
		x := &t.List[i]
		if x.Root < 0 || int(x.Root) >= s.Spec.Ranks || x.Weight < 1 || int(x.Weight) > ch.Chunks || int(x.Weight)%t.pieces() != 0 {
			return fmt.Errorf("tree %d: root %d or weight %d is out of range, or no multiple of the pieces", i, x.Root, x.Weight)
		}
		for _, up := range []bool{false, true} {
			parents := x.Parents(up)
			if err := validateParents(parents, s.Spec.Ranks); err != nil {
				return fmt.Errorf("tree %d: %w", i, err)
			}
			if parents[x.Root] != -1 {
				return fmt.Errorf("tree %d: its root %d has a parent", i, x.Root)
			}
		}
		if err := x.validateLevels(t.Join, ph.Level == 0); err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		units[x.Root] += int64(x.Weight)
	}
	var total int64
	for r, n := range units {
		total += n
		if t.Units > 0 && n != int64(t.Units) {
			return fmt.Errorf("trees: those of rank %d carry %d of its %d units", r, n, t.Units)
		}
	}
	if total != int64(ch.Chunks) {
		return fmt.Errorf("trees: they carry %d of the channel's %d chunks", total, ch.Chunks)
	}
	if height := t.Levels(ph.Op == collective.ReduceScatter); ph.Level < 0 || ph.Level > height {
		return fmt.Errorf("level %d: must be from 1 to the trees' height %d, or 0 for all", ph.Level, height)
	}
	if ph.Level > 0 {
		return nil
	}
	return t.validateOrder(ph, s.Spec.Ranks)
}

// validateLevels checks levels that are given.
func (t *Tree) validateLevels(join, ordered bool) error {
	switch {
	case t.Levels == nil:
		return nil
	case ordered:
		return fmt.Errorf("levels: only of trees that phases take level by level, not of those whose messages have an order")
	case join:
		return fmt.Errorf("levels: trees whose messages are joined (join) have levels of their own")
	case len(t.Levels) != len(t.Parent) || t.Up != nil:
		return fmt.Errorf("levels: there must be one for each of %d ranks, and the same parents both ways", len(t.Parent))
	}
	for v, u := range t.Parent {
		if above := int32(-1); u >= 0 {
			above = t.Levels[u]
			if t.Levels[v] <= above || t.Levels[v] > maxAfter {
				return fmt.Errorf("levels: that of rank %d is %d: must be above its parent's, %d, to %d", v, t.Levels[v], above, maxAfter)
			}
		} else if t.Levels[v] != 0 {
			return fmt.Errorf("levels: that of the root is %d: must be 0", t.Levels[v])
		}
	}
	return nil
}

// validateOrder checks that every rank has all of its ends in its order, once.
func (t *Trees) validateOrder(ph *Phase, ranks int) error {
	if len(ph.Order) != ranks {
		return fmt.Errorf("trees: the order is one of %d ranks instead of %d", len(ph.Order), ranks)
	}
	for r, ends := range t.Ends(ph.Op, ranks) {
		o := &ph.Order[r]
		if !isPermutation(o.Ends, len(ends)) {
			return fmt.Errorf("trees: the order of rank %d is not a permutation of its ends 0 … %d", r, len(ends)-1)
		}
		if o.After != nil && (len(o.After) != len(ends) || slices.ContainsFunc(o.After, func(n int32) bool {
			return n < 0 ||
				n > maxAfter
		})) {
			return fmt.Errorf("trees: the order of rank %d: after must have %d numbers from 0 to %d", r, len(ends), maxAfter)
		}
	}
	return nil
}
