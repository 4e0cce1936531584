package schedule

import (
	"cmp"
	"slices"
)

// When the messages of a treePlan are due: the pieces a period one after the other, a
// period being what the busiest connection takes for a piece; and of a piece each hop so
// long before its end as it takes until nothing waits for that hop any more. Hops find
// their connections busy, so that takes half as long again as the hops alone.

// dueParts of a period is how exactly that is known.
const dueParts = 128

// setDue says of every hop when its first piece is due, and sorts those of each
// connection by it.
func (p *treePlan) setDue() {
	togo := make([]int64, len(p.hops))
	for i := range p.b.List {
		p.togo(i, togo)
	}
	var period int64
	for c := range p.conns {
		var busy int64
		for _, h := range p.conns[c].hops {
			busy += p.takes(h)
		}
		period = max(period, busy)
	}
	longest := slices.Max(togo)
	p.lead, p.period = period/2, period
	for c := range p.conns {
		k := &p.conns[c]
		slices.SortFunc(k.hops, func(a, b int32) int { return cmp.Or(cmp.Compare(togo[b], togo[a]), cmp.Compare(a, b)) })
		for slot, h := range k.hops {
			p.hops[h].slot, p.hops[h].due = int32(slot), uint32((longest-togo[h])*3/2*dueParts/period)
			p.latest = max(p.latest, uint64(p.hops[h].due))
		}
		n := len(k.hops) * int(p.pieces)
		k.order, k.after, k.starts = make([]int32, 0, n), make([]int32, 0, n), make([]int64, 0, n)
	}
}

// togo sets how long it takes from the start of each hop of a tree to the end of the last
// one that waits for it.
func (p *treePlan) togo(tree int, togo []int64) {
	outward := p.b.outward(tree)
	below := make([]int64, p.b.ranks) // from where a rank has the result
	if p.down {
		for _, v := range slices.Backward(outward) {
			for _, c := range p.b.below(tree, v) {
				h := p.hop(tree, c, 1)
				togo[h] = p.takes(h) + below[c]
				below[v] = max(below[v], togo[h])
			}
		}
	}
	if !p.up {
		return
	}
	above := make([]int64, p.b.ranks) // from where a rank has its sum
	above[outward[0]] = below[outward[0]]
	for _, v := range outward[1:] {
		h := p.hop(tree, v, 0)
		togo[h] = p.takes(h) + above[p.b.List[tree].Parent[v]]
		above[v] = togo[h]
	}
}

// outward are the ranks of a tree, each before those below it.
func (b *treePhases) outward(tree int) []int32 {
	out := []int32{b.List[tree].Root}
	for i := 0; i < len(out); i++ {
		out = append(out, b.below(tree, out[i])...)
	}
	return out
}

// takes is how long a hop is busy with a piece.
func (p *treePlan) takes(h int32) int64 {
	chunks := int64(p.b.List[p.hopAt(h).tree].Weight) / int64(p.b.pieces())
	return chunks * tick / p.conns[p.hops[h].conn].rate
}
