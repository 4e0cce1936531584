package cuda

import (
	"slices"

	"railyard/model/schedule"
	"railyard/model/units"
)

// Pieces of messages between nodes that go by proxy: while one is on its way, the next is written or the one before read; more of them
// cost more than they hide. Those of blocks are put one by one, so they are no smaller than what costs a network little to put alone.
const (
	pieceBytes = 256 << 10
	mostPieces = 2
	blockPiece = 64 << 10
	mostBlocks = 4
	mostSlots  = 1 << 30 // bytes of a rank's, which are host memory that GPUs and network reach
)

// BlocksOfStages are the thread blocks of a kernel of stages where a method leaves them open.
const BlocksOfStages = 64

// InPieces is a schedule as it goes by proxy with a buffer of so many bytes: its messages in pieces, where it has none of its own; and
// the bytes of the largest.
func InPieces(s *schedule.Schedule, bytes int64) (out *schedule.Schedule, largest int64) {
	x := *s
	x.Channels = slices.Clone(s.Channels)
	programs := schedule.NewExpander(s)
	for i := range x.Channels {
		chunks := programs.LargestMessage(i)
		message := func() int64 { return chunks * int64(x.ChunkBytes(i, units.Bytes(bytes))) }
		if ch := &x.Channels[i]; ch.Slices == 1 {
			ch.Slices = int(min(max(message()/pieceBytes, 1), mostPieces))
		}
		largest = max(largest, message())
	}
	return &x, largest
}
