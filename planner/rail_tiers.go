package planner

import (
	"bytes"
	"encoding/binary"
	"slices"

	"railyard/model/schedule"
	"railyard/model/symmetry"
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
	depth  int // of the groups within which it does
	from   int32
	of, to []int32
}

// newRailTiers are those of nodes, of which some take no part (the root's), in groups by tier, outermost first.
func newRailTiers(tiers [][]int32, nodes int, takesPart func(node int) bool) *railTiers {
	x := &railTiers{group: [][]int32{make([]int32, nodes)}}
	x.group = append(append(x.group, tiers...), identity(nodes))
	for d, of := range x.group[1:] {
		above := x.group[d]
		children, index := make([][]int32, slices.Max(above)+1), slices.Repeat([]int32{-1}, int(slices.Max(of))+1)
		digit := slices.Repeat([]int32{-1}, nodes)
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
		inside, outside := newRailPasses(stage, first), newRailPasses(stage, first)
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
	depth int
	first []bool
	lists [][]railPass // by who passes on: data of one node each
}

func newRailPasses(depth int, first []bool) *railPasses {
	return &railPasses{depth: depth, first: first, lists: make([][]railPass, len(first))}
}

// add notes that a node passes data on; to itself, that it has them.
func (p *railPasses) add(from, of, to int32) {
	if !p.first[from] && !p.first[to] {
		return
	}
	list := &p.lists[from]
	if n := len(*list); n == 0 || (*list)[n-1].of[0] != of {
		*list = append(*list, railPass{depth: p.depth, from: from, of: []int32{of}})
	}
	if to != from {
		x := &(*list)[len(*list)-1]
		x.to = append(x.to, to)
	}
}

// joined makes one of what goes from a node to the same others.
func (p *railPasses) joined() (out []railPass) {
	for _, list := range p.lists {
		first := len(out)
		var at symmetry.Numbering[string]
		for _, x := range list {
			var key []byte
			for _, to := range x.to {
				key = binary.AppendVarint(key, int64(to))
			}
			i := first + at.Of(string(key))
			if i == len(out) {
				out = append(out, railPass{depth: p.depth, from: x.from, to: x.to})
			}
			out[i].of = append(out[i].of, x.of...)
		}
	}
	return out
}

// passing are the groups in which a stage's data are passed on over the rails: whoever has them, and who gets them.
func (g *railGroups) passing(passes []railPass) (out []schedule.Group) {
	kinds := make([][]*railKind, len(passes))
	for i, p := range passes {
		kinds[i] = g.kindsOf(append(p.to[:len(p.to):len(p.to)], p.from))
	}
	for rail := range g.rails {
		for i, p := range passes {
			for _, of := range g.inSteps(p) {
				for _, x := range g.runs(rail, kinds[i]...) {
					ranks := schedule.RankList{g.through(int(p.from), rail, x)}
					for _, to := range p.to {
						ranks = append(ranks, g.through(int(to), rail, x))
					}
					var list []schedule.ChunkSet
					for _, node := range of {
						list = append(list, g.ofNode(rail, x, int(node)))
					}
					for _, set := range schedule.Union(list) {
						out = append(out, schedule.Group{Ranks: ranks, Whole: set})
					}
				}
			}
		}
	}
	return out
}

// kindsOf are the kinds of some nodes, each once.
func (b *reroutes) kindsOf(nodes []int32) (out []*railKind) {
	for _, n := range nodes {
		if k := b.kinds[b.kind[n]]; !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// inSteps are the nodes of which a node passes data on, in lists of those that are numbered in steps (see align).
func (g *railGroups) inSteps(p railPass) (out [][]int32) {
	var at symmetry.Numbering[int32]
	for _, of := range p.of {
		i := at.Of(g.steps[p.depth][of])
		if i == len(out) {
			out = append(out, nil)
		}
		out[i] = append(out[i], of)
	}
	return out
}

// align numbers nodes by what groups they are in, of each tier, outermost first: those have one number that have as many chunks node
// by node, as far as both have nodes. From one to the next of such groups, chunks of nodes that stand at one place are in equal steps,
// whichever place that is. To groups of others they are so at some places only: were these joined there, nodes at equivalent places would
// do different things. What is passed on within groups of some depth goes by these and those below.
func (g *railGroups) align(tiers [][]int32) {
	keys := make([][]byte, len(g.rank))
	g.steps = make([][]int32, len(tiers))
	for depth := len(tiers) - 1; depth >= 0; depth-- {
		of := tiers[max(depth-1, 0)]
		class := g.aligned(of)
		names := make([]string, len(keys))
		for node, group := range of {
			keys[node] = binary.AppendVarint(keys[node], class[group])
			names[node] = string(keys[node])
		}
		g.steps[depth] = symmetry.Number(names).Of
	}
}

// aligned numbers groups of nodes by how many chunks these have, as far as both have nodes.
func (g *railGroups) aligned(of []int32) (class []int64) {
	counts := make([][]byte, of[len(of)-1]+1) // by group
	for node, group := range of {
		for _, units := range g.part {
			for _, parts := range units {
				counts[group] = binary.AppendVarint(counts[group], int64(parts[node].Count))
			}
		}
	}
	var longest [][]byte
	for _, key := range counts {
		i := slices.IndexFunc(longest, func(x []byte) bool { return bytes.HasPrefix(x, key) || bytes.HasPrefix(key, x) })
		if i < 0 {
			i, longest = len(longest), append(longest, key)
		}
		if class = append(class, int64(i)); len(key) > len(longest[i]) {
			longest[i] = key
		}
	}
	return class
}
