package main

import (
	"fmt"

	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/study/kernels"
)

// reportedLoss is the share of a time from which on what is lost to data off 16 bytes is said: predictions of such runs are as much
// off in the mean where nothing says what they lose (docs/evidence/execution-one-host.md, odd counts).
const reportedLoss = 0.07

// misaligned says what a plan loses since its places are not aligned to 16 bytes; nothing where that is within what predictions are off.
func misaligned(took, slower units.Time) []string {
	if float64(slower) <= reportedLoss*float64(took) {
		return nil
	}
	return []string{fmt.Sprintf("misaligned: ranks' parts do not begin at multiples of 16 bytes, which costs %v of %v (%.0f %%): "+
		"make each rank's part a multiple of 16 bytes, padded if need be", slower, took, 100*float64(slower)/float64(took))}
}

// misalignedOnGPUs says it of a plan on GPUs of one node whose accesses were measured; its time is that of the planner, which knows
// no places.
func misalignedOnGPUs(t *topology.Topology, s *schedule.Schedule, size units.Bytes, counts *countMatrix,
	costs *cost.Profile) (out []string) {
	if costs.Access == nil || t.NumNodes() > 1 || t.NumRanks() > block.MaxRanks || t.Devices()[t.Ranks()[0]].Kind != topology.GPU {
		return nil
	}
	took, slower, err := kernels.Misaligned(t, s, kernels.Data{Size: size, Element: elementOf(size, counts)}, costs)
	if err != nil {
		return []string{fmt.Sprintf("what data off 16 bytes cost on GPUs is not known: %v", err)}
	}
	for _, said := range misaligned(took, slower) {
		out = append(out, said+" (what GPUs lose; the planner's time leaves it out)")
	}
	return out
}

// elementOf is how many bytes the elements of a size have that nobody named: as many as ranks' counts divide by, at most four.
func elementOf(size units.Bytes, m *countMatrix) int {
	parts := int64(size)
	if m != nil {
		for _, row := range m.counts {
			for _, n := range row {
				parts |= n * int64(m.element)
			}
		}
	}
	for e := 4; e > 1; e /= 2 {
		if parts%int64(e) == 0 {
			return e
		}
	}
	return 1
}
