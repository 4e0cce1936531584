package planner

import (
	"encoding/binary"
	"slices"
	"strconv"

	"railyard/model/schedule"
	"railyard/model/symmetry"
)

// claim says which nodes are equivalent (see schedule.Kinds): those of a kind, or, over tiers of groups, those which permutations of
// the places that children have in their groups take to one another, tier by tier, in all groups at once.
func (g *railGroups) claim(tiers *railTiers, root int) *schedule.Kinds {
	kinds := make([][2]int, len(g.rank))
	for node, kind := range g.kind {
		if kinds[node][0] = kind; node == root {
			kinds[node][1] = 1
		}
	}
	classes := symmetry.Number(kinds)
	out := &schedule.Kinds{Nodes: classes.Of}
	bands := g.rails
	if g.kinds[0].roots == nil {
		bands = 1
	}
	for _, node := range classes.First {
		k := schedule.NodeKind{Chunks: make(schedule.RankList, bands)}
		for rail, r := range g.rank[node] {
			if r >= 0 {
				k.Ranks++
			}
			k.Chunks[rail%bands] += g.ofNode(rail, railRun{0, g.units}, int(node)).Count
		}
		out.Of = append(out.Of, k)
	}
	if tiers.stages() > 1 {
		tiers.axes(out)
	}
	return out
}

// axes lays nodes out in a grid with an axis for each tier. Who takes no part has a place of its own along the outermost one.
func (x *railTiers) axes(out *schedule.Kinds) {
	var dims []int32
	for depth, groups := range x.children {
		size := int32(0)
		for _, list := range groups {
			size = max(size, int32(len(list)))
		}
		if depth == 0 && slices.Contains(x.digit[0], -1) {
			size++
		}
		dims = append(dims, size)
	}
	radix := symmetry.Radix(dims)
	out.Place = make(schedule.RankList, len(out.Nodes))
	for n := range out.Place {
		if x.digit[0][n] < 0 {
			out.Place[n] = (dims[0] - 1) * radix[0].Stride
			continue
		}
		for depth, d := range radix {
			out.Place[n] += x.digit[depth][n] * d.Stride
		}
	}
	for depth, d := range radix {
		within, dealt := x.dealtOut(depth, d)
		lines := make([][]byte, d.Size) // by coordinate: who stands where
		for n, at := range out.Place {
			c := d.Of(at)
			for _, i := range []int32{at - c*d.Stride, out.Nodes[n], dealt[c]} {
				lines[c] = binary.AppendVarint(lines[c], int64(i))
			}
		}
		names := make([]string, d.Size)
		for c, line := range lines {
			names[c] = string(line)
		}
		out.Axes = append(out.Axes, schedule.KindAxis{Of: symmetry.Number(names).Of, Within: within})
	}
}

// dealtOut says what becomes of children at places that some groups do not have: they are dealt to those that these have, in turn, as long
// as there are as many for each. within are the places that go together so, by size of such groups, the largest first; and by place
// which ones are alike. Where those of one size do not go together with those of another, each stays what it is.
func (x *railTiers) dealtOut(depth int, d symmetry.Digit) (within []schedule.RankList, alike []int32) {
	sizes, most := map[int]bool{}, 0
	for _, list := range x.children[depth] {
		sizes[len(list)] = true
		most = max(most, len(list))
	}
	names := make([][]byte, d.Size)
	inner := identity(int(d.Size))
	for n := most - 1; n > 0; n-- {
		if !sizes[n] {
			continue
		}
		of, above, nested := make(schedule.RankList, d.Size), map[int32]int32{}, true
		for c := range of {
			if of[c] = int32(c % n); c >= most { // who takes no part
				of[c] = int32(n)
			}
			in, seen := above[inner[c]]
			nested = nested && (!seen || in == of[c])
			above[inner[c]] = of[c]
			for size := range most + 1 {
				if names[c] = strconv.AppendBool(names[c], c >= n); sizes[size] {
					names[c] = strconv.AppendBool(names[c], (sibling{c, size}).leftOver(n))
				}
			}
		}
		if nested {
			within, inner = append(within, of), of
			continue
		}
		for c := range of {
			if c+n < most || c >= n {
				names[c] = binary.AppendVarint(names[c], int64(of[c]))
			}
		}
	}
	keys := make([]string, d.Size)
	for c, name := range names {
		keys[c] = string(name)
	}
	return within, symmetry.Number(keys).Of
}
