package collective

import "testing"

func TestMovedIsWholeBlocks(t *testing.T) {
	for _, c := range []struct {
		kind        Kind
		ranks       int
		count, want int64
	}{
		{AllReduce, 3, 16, 16}, {Broadcast, 3, 16, 16}, {SendRecv, 2, 15, 15},
		{AllGather, 3, 16, 15}, {ReduceScatter, 3, 17, 15}, {AllToAll, 4, 15, 12}, {Gather, 8, 7, 0}, {Scatter, 8, 8, 8},
		{AllToAllV, 3, 16, 16},
	} {
		if got := (Spec{Kind: c.kind, Ranks: c.ranks}).Moved(c.count); got != c.want {
			t.Errorf("%v over %d ranks: %d of %d elements, want %d", c.kind, c.ranks, got, c.count, c.want)
		}
	}
}
