package schedule

import (
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
)

// validateTrees checks a channel's packed trees, once for all phases of them, and that these take levels that there are.
func (s *Schedule) validateTrees(ch *Channel) error {
	t := ch.Trees
	switch {
	case t.Units == 0 && s.Spec.Blocks() > 1:
		return fmt.Errorf("trees: unequal roots (units 0) do not make %v", s.Spec.Kind)
	case t.Units < 0 || t.Units > 0 && int64(t.Units)*int64(s.Spec.Ranks) != int64(ch.Chunks):
		return fmt.Errorf("trees: %d units for each of %d ranks are not the channel's %d chunks", t.Units, s.Spec.Ranks, ch.Chunks)
	case t.Pieces < 0:
		return fmt.Errorf("trees: %d pieces: at least 1", t.Pieces)
	case t.Early && !t.Join:
		return errors.New("trees: levels count from the root (early) anyway where messages are not joined (join)")
	case t.Local < 1 || s.Spec.Ranks%int(t.Local) != 0:
		return fmt.Errorf("trees: %d ranks are no whole number of nodes of %d", s.Spec.Ranks, t.Local)
	}
	ordered := slices.ContainsFunc(ch.Phases, func(ph Phase) bool { return ph.Gen == GenTrees && ph.Level == 0 })
	units := make([]int64, s.Spec.Ranks)
	for i := range t.List {
		x := &t.List[i]
		if x.Root < 0 || int(x.Root) >= s.Spec.Ranks || x.Weight < 1 || int(x.Weight) > ch.Chunks || int(x.Weight)%t.pieces() != 0 {
			return fmt.Errorf("tree %d: root %d or weight %d is out of range, or no multiple of the pieces", i, x.Root, x.Weight)
		}
		err := x.validateParents(s.Spec.Ranks)
		if err == nil { // levels are looked up by parents
			err = x.validateLevels(t.Join, ordered)
		}
		if err != nil {
			return fmt.Errorf("tree %d: %w", i, err)
		}
		units[x.Root] += int64(x.Weight)
	}
	if err := t.validateUnits(units, ch.Chunks); err != nil {
		return err
	}
	down, up := t.Levels(false), t.Levels(true)
	for p, ph := range ch.Phases {
		height := down
		if ph.Op == collective.ReduceScatter {
			height = up
		}
		if ph.Gen == GenTrees && (ph.Level < 0 || ph.Level > height) {
			return fmt.Errorf("phase %d: level %d: must be from 1 to the trees' height %d, or 0 for all", p, ph.Level, height)
		}
	}
	return nil
}

// validateUnits checks what the trees of each root carry.
func (t *Trees) validateUnits(units []int64, chunks int) error {
	var total int64
	for r, n := range units {
		total += n
		if t.Units > 0 && n != int64(t.Units) {
			return fmt.Errorf("trees: those of rank %d carry %d of its %d units", r, n, t.Units)
		}
	}
	if total != int64(chunks) {
		return fmt.Errorf("trees: they carry %d of the channel's %d chunks", total, chunks)
	}
	return nil
}

// validateParents checks that a tree is one, down and up, from its root.
func (t *Tree) validateParents(ranks int) error {
	for _, up := range []bool{false, true} {
		if up && t.Up == nil {
			break // as down
		}
		parents := t.Parents(up)
		if err := validateParents(parents, ranks); err != nil {
			return err
		}
		if parents[t.Root] != -1 {
			return fmt.Errorf("its root %d has a parent", t.Root)
		}
	}
	return nil
}

// validateTreePhase checks a phase of packed trees.
func (s *Schedule) validateTreePhase(ch *Channel, ph *Phase) error {
	t := ch.Trees
	switch {
	case t == nil:
		return errors.New("generator trees: the channel has no trees")
	case ph.Op != collective.AllGather && ph.Op != collective.ReduceScatter && (ph.Op != collective.AllReduce || ph.Level > 0):
		return fmt.Errorf("generator trees does not make %v", ph.Op)
	case t.Pieces > 1 && ph.Level > 0:
		return fmt.Errorf("trees: %d pieces: only where a phase takes all levels", t.Pieces)
	case ph.Order != nil && ph.Level > 0:
		return errors.New("trees: only a phase that takes all levels has an order")
	case t.Join && ph.Level == 0:
		return errors.New("trees: messages are joined (join) level by level only")
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
