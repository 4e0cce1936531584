package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildHierarchicalAllToAll first brings, inside each node, everything that goes to
// GPU l of any node to the node's own GPU l, then sends it across on rail l: m−1
// messages inside and N−1 across instead of N·m−1, N times as large each, and no
// message changes rails. Known from NCCL as PXN; here the aggregation goes both ways
// over the node's links. Sanders, Träff 2002.
//
// Between the phases, scratch chunk j·m+l of GPU l' in node i holds the block from
// (i, l) to (j, l').
func buildHierarchicalAllToAll(r *request) (*schedule.Schedule, error) {
	nodes, local, err := r.byNode()
	if err != nil {
		return nil, err
	}
	if r.spec.Kind == collective.AllToAllV {
		return r.onRails(local, 1), nil
	}
	inside := schedule.Groups{Grid: &schedule.Grid{Dims: []int32{nodes, local}, Axis: 1}}
	across := schedule.Groups{Grid: &schedule.Grid{Dims: []int32{nodes, local}, Axis: 0}}
	return of(r.pipeline(r.spec.Ranks, schedule.Phase{Gen: schedule.GenDirect, Op: collective.AllToAll, Groups: inside},
		schedule.Phase{Gen: schedule.GenDirect, Op: collective.AllToAll, Groups: across})), nil
}

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
