// Package collective says what each collective operation means: which rank starts
// with what, which must end with what, how nccl-tests turns its time into a bus
// bandwidth, and how fast it can be at best.
package collective

import "slices"

// Kind is a collective operation.
type Kind uint8

// The collectives.
const (
	AllReduce Kind = iota
	AllGather
	ReduceScatter
	Broadcast
	Reduce
	AllToAll
	AllToAllV
	Gather
	Scatter
	SendRecv // every rank sends to the next one (rank+1 mod n), as nccl-tests does
	Barrier
)

// Spec is one collective over n ranks.
type Spec struct {
	Kind  Kind `json:"kind"`
	Ranks int  `json:"ranks"`
	Root  int  `json:"root,omitempty"` // Broadcast, Reduce, Gather, Scatter
	// Counts is AllToAllV's matrix: Counts[src][dst] is the relative size of what src
	// sends to dst. The bytes of a run are the largest row's, as nccl-tests counts.
	Counts [][]int64 `json:"counts,omitempty"`
}

// Blocks is the number of equal blocks that the whole buffer is made of: one per
// rank where data is addressed by rank, else 1. AllToAll's input blocks are numbered
// by destination and its output blocks by source.
func (s Spec) Blocks() int {
	switch s.Kind {
	case AllGather, ReduceScatter, AllToAll, AllToAllV, Gather, Scatter:
		return s.Ranks
	}
	return 1
}

// Moved is how many of count elements are moved: as many in each block, none that is left
// over, as in nccl-tests. All_to_allv's blocks are not equal, and each rounded by itself.
func (s Spec) Moved(count int64) int64 {
	if s.Kind == AllToAllV {
		return count
	}
	return count - count%int64(s.Blocks())
}

// Reduces reports whether the operation combines contributions.
func (k Kind) Reduces() bool { return k == AllReduce || k == ReduceScatter || k == Reduce }

// Rooted reports whether the operation has a root rank.
func (k Kind) Rooted() bool { return k == Broadcast || k == Reduce || k == Gather || k == Scatter }

// InPlace reports whether input and output may be one memory: the rank's own block of the whole, or
// all of it.
func (k Kind) InPlace() bool {
	switch k {
	case AllReduce, AllGather, ReduceScatter, Broadcast, Reduce:
		return true
	}
	return false
}

// UniformCounts are those of the all_to_allv that sends the same to everybody.
func UniformCounts(ranks int) [][]int64 {
	return slices.Repeat([][]int64{slices.Repeat([]int64{1}, ranks)}, ranks) // one row for all, which nobody changes
}
