package order

import (
	"cmp"
	"slices"

	"railyard/model/schedule"
)

// step is one end of a hop in time.
type step struct {
	end   int32 // its number (see schedule.Trees.Ends)
	sends int   // 1; 0: it receives, which comes first
	after int64 // whole periods
	at    int64 // in a period
	comes int64 // the message, from the start of that period
	hop   int32
}

// orders are what all ranks do in a period.
func (p *plan) orders() []schedule.TreeOrder {
	out := make([]schedule.TreeOrder, p.ranks)
	var steps []step
	for r, ends := range p.Ends(p.op, p.ranks) {
		steps = steps[:0]
		for i, e := range ends {
			steps = append(steps, p.step(int32(r), int32(i), e))
		}
		slices.SortFunc(steps, func(a, b step) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sends, b.sends), cmp.Compare(a.comes, b.comes), cmp.Compare(a.hop, b.hop))
		})
		for _, s := range steps {
			out[r].Ends, out[r].After = append(out[r].Ends, s.end), append(out[r].After, int32(s.after))
		}
	}
	fromFirst(out)
	return out
}

// fromFirst counts periods from the first in which anybody does anything.
func fromFirst(orders []schedule.TreeOrder) {
	least := int32(1 << 30)
	for _, o := range orders {
		for _, n := range o.After {
			least = min(least, n)
		}
	}
	for r, o := range orders {
		for i := range o.After {
			o.After[i] -= least
		}
		if !slices.ContainsFunc(o.After, func(n int32) bool { return n > 0 }) {
			orders[r].After = nil
		}
	}
}

// step is when an end of a rank's comes.
func (p *plan) step(rank, number int32, e schedule.TreeEnd) step {
	v, down := rank, 1
	if p.List[e.Tree].Parents(e.Up)[rank] != e.Peer {
		v = e.Peer
	}
	if e.Up {
		down = 0
	}
	h := p.hop(int(e.Tree), v, down)
	x := &p.hops[h]
	t, sends := x.sent, 1
	if e.Receives {
		t, sends = x.taken, 0
	}
	n := t / p.period
	return step{number, sends, n, t - n*p.period, x.comes - n*p.period, h}
}
