package collective

import "fmt"

// maxCountsRanks bounds the count matrix of AllToAllV (n² numbers).
const maxCountsRanks = 4096

// Validate reports what is wrong with a spec.
func (s Spec) Validate() error {
	switch {
	case s.Ranks < 1:
		return fmt.Errorf("%v needs at least one rank", s.Kind)
	case s.Root < 0 || s.Root >= s.Ranks:
		return fmt.Errorf("root %d: must be a rank from 0 to %d", s.Root, s.Ranks-1)
	case s.Root != 0 && !s.Kind.Rooted():
		return fmt.Errorf("%v has no root", s.Kind)
	case s.Kind != AllToAllV && s.Counts != nil:
		return fmt.Errorf("%v takes no counts", s.Kind)
	case s.Kind == AllToAllV:
		return s.validateCounts()
	}
	return nil
}

func (s Spec) validateCounts() error {
	if s.Ranks > maxCountsRanks {
		return fmt.Errorf("all_to_allv: a count matrix for %d ranks is too large (at most %d)", s.Ranks, maxCountsRanks)
	}
	if len(s.Counts) != s.Ranks {
		return fmt.Errorf("all_to_allv: %d rows of counts for %d ranks", len(s.Counts), s.Ranks)
	}
	for i, row := range s.Counts {
		if len(row) != s.Ranks {
			return fmt.Errorf("all_to_allv: row %d has %d counts for %d ranks", i, len(row), s.Ranks)
		}
		for j, c := range row {
			if c < 0 || c > 1<<40 {
				return fmt.Errorf("all_to_allv: count [%d][%d] = %d must be from 0 to 2^40", i, j, c)
			}
		}
	}
	if s.LargestRow() == 0 {
		return fmt.Errorf("all_to_allv: all counts are zero")
	}
	return nil
}

// Uniform reports whether everybody sends everybody as much: whether counts, where there
// are any, are equal.
func (s Spec) Uniform() bool {
	for _, row := range s.Counts {
		for _, n := range row {
			if n != s.Counts[0][0] {
				return false
			}
		}
	}
	return true
}

// LargestRow is the most that one rank sends, in the units of Counts: nccl-tests takes
// it as the size of an all_to_allv.
func (s Spec) LargestRow() int64 {
	var most int64
	for _, row := range s.Counts {
		var sum int64
		for _, c := range row {
			sum += c
		}
		most = max(most, sum)
	}
	return most
}

// Holds reports whether a rank's input has a block at the start. Where Blocks is 1 the
// block is the whole buffer.
func (s Spec) Holds(rank, block int) bool {
	switch s.Kind {
	case AllReduce, ReduceScatter, Reduce, AllToAll, AllToAllV, SendRecv:
		return true
	case AllGather, Gather:
		return block == rank
	case Broadcast, Scatter:
		return rank == s.Root
	}
	return false // Barrier
}

// Empty reports whether there is nothing to send from a rank to another: only an
// all_to_allv's counts say so.
func (s Spec) Empty(src, dst int) bool { return s.Kind == AllToAllV && s.Counts[src][dst] == 0 }

// Wants reports whether a rank's output must have a block at the end.
func (s Spec) Wants(rank, block int) bool {
	switch s.Kind {
	case AllReduce, AllGather, Broadcast, AllToAll, AllToAllV, SendRecv:
		return true
	case ReduceScatter, Scatter:
		return block == rank
	case Reduce, Gather:
		return rank == s.Root
	}
	return false
}

// Origin says which rank's input block an output block is made of, for collectives
// that move data without combining it.
func (s Spec) Origin(rank, block int) (srcRank, srcBlock int) {
	switch s.Kind {
	case AllGather, Gather:
		return block, block
	case Broadcast:
		return s.Root, block
	case Scatter:
		return s.Root, block
	case AllToAll, AllToAllV:
		return block, rank
	case SendRecv:
		return (rank + s.Ranks - 1) % s.Ranks, block
	}
	panic("collective: " + s.Kind.String() + " combines data")
}
