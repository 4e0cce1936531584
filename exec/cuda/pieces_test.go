package cuda

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// TestInPieces: large messages go in pieces, small ones and those in slices of their own as they are, whatever the shares are counted in.
func TestInPieces(t *testing.T) {
	for _, unit := range []int64{1, 1 << 28} {
		s := &schedule.Schedule{Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 2}, Channels: []schedule.Channel{
			{Share: 3 * unit, Slices: 1, Chunks: 8, Phases: halves(4)}, {Share: unit, Slices: 2, Chunks: 1, Phases: halves(1)}}}
		for _, c := range []struct {
			bytes, largest int64
			slices         int
		}{{1 << 10, 384, 1}, {1 << 20, 384 << 10, 1}, {4 << 20, 768 << 10, mostPieces}, {64 << 30, 12 << 30, mostPieces}} {
			got, largest := InPieces(s, c.bytes)
			if got.Channels[0].Slices != c.slices || got.Channels[1].Slices != 2 || largest != c.largest {
				t.Errorf("shares of %d, %d bytes: %d and %d slices, at most %d bytes; want %d, 2 and %d", unit, c.bytes,
					got.Channels[0].Slices, got.Channels[1].Slices, largest, c.slices, c.largest)
			}
		}
		if s.Channels[0].Slices != 1 {
			t.Error("the schedule itself is changed")
		}
	}
}

// halves are programs in which a rank sends another so many chunks at once.
func halves(chunks int32) []schedule.Phase {
	set := schedule.Range(0, chunks)
	return []schedule.Phase{{Gen: schedule.GenOps, Op: collective.Broadcast, Ops: []schedule.Program{
		{{Kind: schedule.Send, Peer: 1, Src: schedule.Loc{Buf: schedule.Input, Set: set}}},
		{{Kind: schedule.Recv, Peer: 0, Dst: schedule.Loc{Buf: schedule.Output, Set: set}}}}}}
}
