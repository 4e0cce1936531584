package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildBalancedRails takes each block of an all_to_allv across nodes in equal parts on
// all rails, so that however uneven the counts are inside two nodes, all NICs of both
// carry the same of what goes between them: two more hops inside the node for up to as
// many times the rate as a node has NICs. See schedule.GenRails.
func buildBalancedRails(r *request) (*schedule.Schedule, error) {
	_, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	return r.onRails(local, int(local)), nil
}

// onRails is the all_to_allv over rails with so many chunks a block.
func (r *request) onRails(local int32, per int) *schedule.Schedule {
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks * per}
	stages := 2
	if per > 1 {
		stages = 3
	}
	for level := 1; level <= stages; level++ {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenRails, Op: collective.AllToAllV, Level: level, Local: int(local)})
	}
	return of(ch)
}
