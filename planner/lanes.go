package planner

import (
	"cmp"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/planner/pack"
)

// lanes gives the hops of trees levels in which every connection carries as much, a unit. A
// connection that carries twice as much so has twice as many levels, each of which flows beside the others: links that are shared out
// evenly among flows give each what trees have planned for it, whatever others do at the time, since what holds a flow up is a link on
// which no other has more than it. Units are as small as so many levels allow, trees being cut
// into them; nil where none are. The seconds are what a byte of all data takes if nothing but these shares holds it up.
func lanes(t *schedule.Trees, crossings []pack.Crossing, op collective.Kind, most int) (out *schedule.Trees, seconds float64) {
	crossed := map[int32][]pack.Crossing{}
	for _, x := range crossings {
		crossed[x.Link] = append(crossed[x.Link], x)
	}
	for unit := leastUnit(t, most); int(unit) <= chunksOf(t); unit *= 2 {
		l := &laneSearch{unit: unit, left: map[connection]int32{}, flows: map[connection]int32{}}
		for _, x := range t.List {
			for left := x.Weight; left > 0; left -= unit {
				part := x
				part.Weight, part.Levels = min(left, unit), make([]int32, len(x.Parent))
				l.add(part)
			}
		}
		if !l.place(most) {
			continue
		}
		for _, list := range crossed {
			busy := 0.0
			for _, x := range list {
				for _, c := range hopsOver(x, op) {
					busy += float64(l.flows[c]*unit) / x.Rate
				}
			}
			seconds = max(seconds, busy/float64(chunksOf(t)))
		}
		with := *t
		with.List = l.trees
		return &with, seconds
	}
	return nil, 0
}

// leastUnit is what the fullest connection carries in each of so many levels.
func leastUnit(t *schedule.Trees, most int) int32 {
	carried, fullest := map[connection]int32{}, int32(0)
	for _, x := range t.List {
		for v, u := range x.Parent {
			if u >= 0 {
				c := connection{u, int32(v)}
				carried[c] += x.Weight
				fullest = max(fullest, carried[c])
			}
		}
	}
	return (fullest + int32(most) - 1) / int32(most)
}

// hopsOver are whose hops cross a link: from parents to their children, or, of sums, from children to their parents.
func hopsOver(x pack.Crossing, op collective.Kind) (out []connection) {
	if op != collective.ReduceScatter {
		out = append(out, connection{x.From, x.To})
	}
	if op != collective.AllGather {
		out = append(out, connection{x.To, x.From})
	}
	return out
}

// connection is between a parent in trees and its child.
type connection struct{ from, to int32 }

type laneSearch struct {
	unit  int32 // what a connection carries in a level at most
	trees []schedule.Tree
	hops  []laneHop // without a level
	left  map[connection]int32
	flows map[connection]int32 // in how many levels it carries anything
}

// laneHop is the hop to a rank of a tree.
type laneHop struct {
	connection
	tree, below int32 // the most hops that follow it on a path
	waiting     int32 // levels that it and what comes after it take at least
}

func (l *laneSearch) add(x schedule.Tree) {
	below := make([]int32, len(x.Parent))
	for v := range x.Parent {
		for n, u := int32(0), int32(v); u >= 0; n, u = n+1, x.Parent[u] {
			below[u] = max(below[u], n)
		}
	}
	for v, u := range x.Parent {
		if u >= 0 {
			c := connection{u, int32(v)}
			l.left[c] += x.Weight
			l.hops = append(l.hops, laneHop{connection: c, tree: int32(len(l.trees)), below: below[v]})
		}
	}
	l.trees = append(l.trees, x)
}

// place gives all hops levels, those first for which the most has to wait, and says whether so many levels are enough.
func (l *laneSearch) place(most int) bool {
	for level := int32(1); len(l.hops) > 0; level++ {
		if int(level) > most {
			return false
		}
		for i := range l.hops {
			h := &l.hops[i]
			h.waiting = max(h.below, l.left[h.connection]/l.unit)
		}
		slices.SortStableFunc(l.hops, func(a, b laneHop) int { return cmp.Compare(b.waiting, a.waiting) })
		carried := map[connection]int32{}
		l.hops = slices.DeleteFunc(l.hops, func(h laneHop) bool {
			x := &l.trees[h.tree]
			above := x.Levels[h.from]
			if h.from != x.Root && (above == 0 || above == level) || carried[h.connection]+x.Weight > l.unit {
				return false
			}
			carried[h.connection] += x.Weight
			x.Levels[h.to] = level
			return true
		})
		for c, n := range carried {
			l.left[c] -= n
			l.flows[c]++
		}
	}
	return true
}
