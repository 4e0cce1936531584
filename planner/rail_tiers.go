package planner

import (
	"encoding/binary"
	"slices"

	"railyard/model/schedule"
)

// Over tiers of groups, data cross step by step: at every tier, what a group does not have yet enters each of the groups
// below it once, at the node that stands there where the owner stands in its own group. Where groups are all of one
// size, these are the axes of a grid. Else a group has fewer nodes than data to take in: they take these in turn, as
// many each; where what is left over, of all groups together, cannot be dealt evenly, it does not enter the group at this tier but each
// of the groups below it at the next one, from where it is. So all that enters a node enters it once, whatever the sizes, and
// nodes are busy alike. Groups of the outermost tier that are of one shape are equivalent.
//
// Sums go the same ways back.
type railTiers struct {
	group    [][]int32   // by depth, from the one group of all nodes to the nodes: by node its group
	children [][][]int32 // by depth and group: those of the next depth
	digit    [][]int32   // by depth and node: which of these is its own; −1: it takes no part
	dealt    [][]bool    // by depth and group: what is left over is dealt to the first of those
}

// railPass is data of nodes that one node passes on to others.
type railPass struct {
	from   int32
	of, to []int32
}

// newRailTiers are those of nodes, of which some take no part (the root's), in groups by tier, outermost first.
func newRailTiers(tiers [][]int32, nodes int, takesPart func(node int) bool) *railTiers {
	x := &railTiers{group: [][]int32{make([]int32, nodes)}}
	x.group = append(append(x.group, tiers...), identity(nodes))
	for d, of := range x.group[1:] {
		above := x.group[d]
		children, index := make([][]int32, slices.Max(above)+1), make([]int32, slices.Max(of)+1)
		digit := slices.Repeat([]int32{-1}, nodes)
		for i := range index {
			index[i] = -1
		}
		for n, g := range of {
			if !takesPart(n) {
				continue
			}
			if index[g] < 0 {
				index[g] = int32(len(children[above[n]]))
				children[above[n]] = append(children[above[n]], g)
			}
			digit[n] = index[g]
		}
		x.children, x.digit = append(x.children, children), append(x.digit, digit)
		x.dealt = append(x.dealt, x.deal(d))
	}
	return x
}

// deal says into which groups of a depth all that is left over is dealt. Nodes that take more of it than others then pass on more; else
// nodes hear from more others, or send to more. By the costs of machines, where such tiers matter, a message costs about what its bytes do.
func (x *railTiers) deal(depth int) []bool {
	groups := x.children[depth]
	own, all, nodes := make([][]int, len(groups)), map[sibling]int{}, 0
	for n, at := range x.digit[depth] {
		if at < 0 {
			continue
		}
		g := x.group[depth][n]
		if own[g] == nil {
			own[g] = make([]int, len(groups[g]))
		}
		own[g][at]++
		all[sibling{int(at), len(groups[g])}]++
		nodes++
	}
	sent := map[sibling]int{} // messages, were nothing dealt
	for of := range all {
		for _, to := range groups {
			if of.leftOver(len(to)) {
				sent[of] += len(to)
			}
		}
	}
	out := make([]bool, len(groups))
	for g, count := range own {
		n, size, heard, messages := len(count), 0, 0, 0
		if n == 0 {
			continue
		}
		load := make([]int, n)
		for of, count := range all {
			if load[of.at%n] += count; of.leftOver(n) {
				heard, messages = heard+count, max(messages, sent[of])
			}
		}
		for at, count := range count {
			load[at] -= count
			size += count
		}
		more := (slices.Max(load)*n - (nodes - size)) * (n - 1) / size
		out[g] = more < max(messages, heard/slices.Min(count))
	}
	return out
}

// sibling is a place among so many children of a group.
type sibling struct{ at, of int }

// leftOver reports whether it is among those that a group of fewer cannot take as many each of.
func (s sibling) leftOver(n int) bool { return n > 0 && s.at >= max(n, s.of-s.of%n) }

// hardlyMore reports whether one number is less than a sixth above another.
func hardlyMore(a, than int) bool { return 6*a < 7*than }

func (x *railTiers) stages() int { return len(x.children) }

// entry is the node at which a node's data enter a group at some depth, to which it does not belong; −1: none.
func (x *railTiers) entry(depth int, group, of int32) int32 {
	for ; depth < x.stages(); depth++ {
		below := x.children[depth][group]
		n, theirs, at := len(below), len(x.children[depth][x.group[depth][of]]), int(x.digit[depth][of])
		if (sibling{at, theirs}).leftOver(n) && !x.dealt[depth][group] {
			return -1
		}
		group = below[at%n]
	}
	return group
}

// passes are, by stage, what first nodes pass on, and what comes to them from others; a node's own data also where they
// go nowhere.
func (x *railTiers) passes(first []bool) (out [][]railPass) {
	holder := [][]int32{identity(len(first))} // by group of this depth and by owner: who passes data on to the groups below it
	for stage := range x.stages() {
		inside, outside := newRailPasses(first), newRailPasses(first)
		holder = x.pass(stage, holder, inside, outside)
		out = append(out, inside.joined())
		if list := outside.joined(); len(list) > 0 {
			out = append(out, list)
		}
	}
	return out
}

// pass collects what is passed on in a stage, inside the groups of those who do and to others, and returns who has it
// then, by group of the next depth.
func (x *railTiers) pass(stage int, holder [][]int32, inside, outside *railPasses) [][]int32 {
	below := make([][]int32, slices.Max(x.group[stage+1])+1)
	if last := stage+1 == x.stages(); !last {
		for g := range below {
			below[g] = make([]int32, len(inside.first))
		}
	}
	for of := range int32(len(inside.first)) {
		if x.digit[stage][of] < 0 {
			continue
		}
		if stage == 0 {
			inside.add(of, of, of)
		}
		for g, list := range x.children[stage] {
			from, p := holder[g][of], inside
			if x.group[stage][from] != int32(g) {
				p = outside
			}
			for _, c := range list {
				to := of
				if x.group[stage+1][of] != c {
					to = x.entry(stage+1, c, of)
				}
				if to < 0 {
					to = from
				} else if to != from {
					p.add(from, of, to)
				}
				if below[c] != nil {
					below[c][of] = to
				}
			}
		}
	}
	return below
}

// railPasses collects those of a stage.
type railPasses struct {
	first []bool
	lists [][]railPass // by who passes on: data of one node each
}

func newRailPasses(first []bool) *railPasses {
	return &railPasses{first: first, lists: make([][]railPass, len(first))}
}

// add notes that a node passes data on; to itself, that it has them.
func (p *railPasses) add(from, of, to int32) {
	if !p.first[from] && !p.first[to] {
		return
	}
	list := &p.lists[from]
	if n := len(*list); n == 0 || (*list)[n-1].of[0] != of {
		*list = append(*list, railPass{from: from, of: []int32{of}})
	}
	if to != from {
		x := &(*list)[len(*list)-1]
		x.to = append(x.to, to)
	}
}

// joined makes one of what goes from a node to the same others.
func (p *railPasses) joined() (out []railPass) {
	for _, list := range p.lists {
		at := map[string]int{}
		for _, x := range list {
			var key []byte
			for _, to := range x.to {
				key = binary.AppendVarint(key, int64(to))
			}
			i, ok := at[string(key)]
			if !ok {
				i = len(out)
				at[string(key)] = i
				out = append(out, railPass{from: x.from, to: x.to})
			}
			out[i].of = append(out[i].of, x.of...)
		}
	}
	return out
}

// passing are the groups in which a stage's data are passed on over the rails: whoever has them, and who gets them.
func (g *railGroups) passing(passes []railPass) (out []schedule.Group) {
	for rail := range g.rails {
		for _, x := range g.runs(rail, g.kinds...) {
			for _, p := range passes {
				ranks := schedule.RankList{g.through(int(p.from), rail, x)}
				for _, to := range p.to {
					ranks = append(ranks, g.through(int(to), rail, x))
				}
				var list []schedule.ChunkSet
				for _, of := range p.of {
					list = append(list, g.ofNode(rail, x, int(of)))
				}
				for _, set := range schedule.Union(list) {
					out = append(out, schedule.Group{Ranks: ranks, Whole: set})
				}
			}
		}
	}
	return out
}
