package mscclpp

import (
	"fmt"
	"math"

	"railyard/model/schedule"
)

// bound sets the sizes that the executor can run the plan for: each chunk a multiple of
// the alignment (it refuses others), offsets in any buffer of 32 bits (it cuts off the
// rest: Operation in execution_common.hpp). A size is the input's, of an all-gather the
// output's (checkMessageSize in execution_plan.cc).
func (f *File) bound() {
	chunks, most := 0, 0
	for i := range f.GPUs {
		g := &f.GPUs[i]
		chunks = max(chunks, g.Input, g.Output)
		most = max(most, g.Input, g.Output, g.Scratch)
	}
	if most == 0 {
		return
	}
	align := int64(f.Alignment)
	f.MinBytes = align * int64(chunks)
	f.MaxBytes = uint64(math.MaxUint32 / int64(most) / align * f.MinBytes)
}

// maxAdapters is how many InfiniBand adapters the executor can name: IB0 to IB7, one for
// each rank of a node (executor.cc).
const maxAdapters = 8

// adapters checks that ranks are where the executor takes them to be: in nodes of equal
// size, one after the other.
func adapters(s *schedule.Schedule, nodes []int) error {
	if len(nodes) == 0 || nodes[0] == nodes[len(nodes)-1] {
		return nil
	}
	per := 0
	for per < len(nodes) && nodes[per] == nodes[0] {
		per++
	}
	if per > maxAdapters {
		return fmt.Errorf("%d ranks a node: MSCCL++ has an adapter for %d of them: plan with --gpus %d, or for one node", per,
			maxAdapters, maxAdapters)
	}
	for r := range s.Spec.Ranks {
		if nodes[r] != nodes[0]+r/per {
			return fmt.Errorf("rank %d is on node %d: MSCCL++ takes ranks to be numbered node by node, %d on each", r, nodes[r], per)
		}
	}
	return nil
}
