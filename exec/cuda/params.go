//go:build cgo

package cuda

const buffers = 6

// widest is more than any kernel of constants has peers (block.Program.Peers): no operation has as many references.
const widest = 32

// parameter is one launch's, as kernel/src/plan.cuh has it: Params, and what Special has behind it, of which kernels read
// as much as they have peers.
type parameter struct {
	Control, Plan, Abort, Report          uint64
	Deadline, PacketHalf                  uint64
	Rank, Ranks, Lanes, Instances         uint32
	LaneBytes, Turn, JitterSeed, JitterNS uint32
	Advance, SlotLines                    uint32
	Base                                  [widest * buffers]uint64
}
