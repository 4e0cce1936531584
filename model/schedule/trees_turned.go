package schedule

import "slices"

// TreeTurn says to which phase a turn of all nodes by one brings each phase of a channel, if it leaves what is done as it is: of the trees
// of each root it makes those of the rank to which it brings that, in their order. Strands may change places. nil: it does not.
func (s *Schedule) TreeTurn(channel int) []int32 {
	ch := &s.Channels[channel]
	t := ch.Trees
	at := map[int32]int32{} // by level: to which it comes
	if t == nil || s.Spec.Kind.Rooted() || !s.Spec.Uniform() || !t.turns(s.Spec.Ranks, at) {
		return nil
	}
	out := make([]int32, len(ch.Phases))
	seen := make([]bool, len(out))
	for p := range out {
		q := slices.IndexFunc(ch.Phases, func(o Phase) bool { return ch.Phases[p].turnsInto(&o, at) })
		if q < 0 || seen[q] {
			return nil
		}
		out[p], seen[q] = int32(q), true
	}
	for p, q := range out {
		first := func(p int) bool { return p == 0 || ch.Phases[p].Apart }
		if first(p) != first(int(q)) || !first(p) && out[p-1] != q-1 {
			return nil
		}
	}
	return out
}

// Turns reports whether a turn of all nodes by one leaves trees as they are.
func (t *Trees) Turns(ranks int) bool { return t.turns(ranks, map[int32]int32{}) }

// turns reports whether it does, and finds where it brings levels.
func (t *Trees) turns(ranks int, at map[int32]int32) bool {
	if t.Units == 0 || t.Join || t.Local < 1 || ranks%int(t.Local) != 0 {
		return false
	}
	of := make([][]*Tree, ranks) // by root
	for i := range t.List {
		of[t.List[i].Root] = append(of[t.List[i].Root], &t.List[i])
	}
	for root, trees := range of {
		images := of[(root+int(t.Local))%ranks]
		if len(images) != len(trees) {
			return false
		}
		for i, x := range trees {
			if (x.Levels == nil) != (t.List[0].Levels == nil) || x.Weight != images[i].Weight || !x.turnsInto(images[i], t.Local, at) {
				return false
			}
		}
	}
	return true
}

// turnsInto reports whether a turn makes of a tree another one, in levels to which it brings those of all trees, all as far.
func (t *Tree) turnsInto(o *Tree, by int32, at map[int32]int32) bool {
	if (t.Up == nil) != (o.Up == nil) || (t.Levels == nil) != (o.Levels == nil) {
		return false
	}
	n, last := int32(len(t.Parent)), t.Root
	for v := range n {
		u := (v + by) % n
		if !turned(t.Parent[v], o.Parent[u], by, n) || t.Up != nil && !turned(t.Up[v], o.Up[u], by, n) {
			return false
		}
		if t.Levels == nil || v == t.Root {
			continue
		}
		level, image := t.Levels[v], o.Levels[u]
		if known, ok := at[level]; ok && known != image || last != t.Root && image-level != at[t.Levels[last]]-t.Levels[last] {
			return false
		}
		at[level], last = image, v
	}
	return true
}

// turned reports whether a turn brings one parent to another; a root has none.
func turned(parent, to, by, n int32) bool {
	return parent < 0 && to < 0 || parent >= 0 && to == (parent+by)%n
}

// turnsInto reports whether a turn makes of a phase of trees another one, where it brings levels to others.
func (ph *Phase) turnsInto(o *Phase, at map[int32]int32) bool {
	level, moves := at[int32(ph.Level)]
	if !moves {
		level = int32(ph.Level)
	}
	return ph.Gen == GenTrees && o.Gen == GenTrees && ph.Level > 0 && int32(o.Level) == level && ph.Op == o.Op && ph.Src == o.Src &&
		ph.Acc == o.Acc && ph.Dst == o.Dst
}
