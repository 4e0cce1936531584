package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
)

// buildHierarchicalRing runs a ring at each tier: reduce-scatter from the innermost
// tier outwards, all-gather back inwards. Every rank takes its own part of the data
// across, so all NICs work at once.
func buildHierarchicalRing(r *request) (*schedule.Schedule, error) {
	return r.hierarchical(schedule.GenRing, schedule.GenRing)
}

// buildHierarchicalDirect is direct inside the tiers and a ring across the outermost.
func buildHierarchicalDirect(r *request) (*schedule.Schedule, error) {
	return r.hierarchical(schedule.GenDirect, schedule.GenRing)
}

func (r *request) hierarchical(inner, outer string) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce, collective.AllGather, collective.ReduceScatter); err != nil {
		return nil, err
	}
	dims, err := r.grid()
	if err != nil {
		return nil, err
	}
	gen := func(axis int) string {
		if axis == 0 {
			return outer
		}
		return inner
	}
	if err := r.gridRoutable(dims); err != nil {
		return nil, err
	}
	ch := schedule.Channel{Share: 1, Slices: r.slices(), Chunks: r.spec.Ranks}
	if r.spec.Kind != collective.AllGather {
		for a := len(dims) - 1; a >= 0; a-- {
			ph := schedule.Phase{Gen: gen(a), Op: collective.ReduceScatter, Groups: onAxis(dims, a, nil), Src: schedule.Scratch, Acc: schedule.Scratch, Dst: schedule.Scratch}
			if a == len(dims)-1 {
				ph.Src = schedule.Input
			}
			if a == 0 {
				ph.Dst = schedule.Output
			}
			ch.Phases = append(ch.Phases, ph)
		}
	}
	if r.spec.Kind != collective.ReduceScatter {
		for a := range dims {
			ph := schedule.Phase{Gen: gen(a), Op: collective.AllGather, Groups: onAxis(dims, a, nil), Src: schedule.Output, Acc: schedule.Output, Dst: schedule.Output}
			if a == 0 && r.spec.Kind == collective.AllGather {
				ph.Src = schedule.Input
			}
			ch.Phases = append(ch.Phases, ph)
		}
	}
	return &schedule.Schedule{Channels: []schedule.Channel{ch}}, nil
}

// buildHierarchicalTree reduces and spreads each rank's part over a binomial tree
// across nodes: fewer steps than a ring where there are many nodes.
func buildHierarchicalTree(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllReduce); err != nil {
		return nil, err
	}
	dims, err := r.grid()
	if err != nil {
		return nil, err
	}
	local := dims[len(dims)-1]
	two := []int32{int32(r.spec.Ranks) / local, local}
	if err := r.gridRoutable(two); err != nil {
		return nil, err
	}
	across := onAxis(two, 0, []int{0})
	parents := inOrderTree(int(two[0]))
	inside := onAxis(two, 1, []int{0})
	return &schedule.Schedule{Channels: []schedule.Channel{{Share: 1, Slices: r.slices(), Chunks: int(local), Phases: []schedule.Phase{
		{Gen: schedule.GenDirect, Op: collective.ReduceScatter, Groups: inside, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Scratch},
		{Gen: schedule.GenTree, Op: collective.Reduce, Groups: across, Src: schedule.Scratch, Acc: schedule.Scratch, Dst: schedule.Output, Parents: parents},
		{Gen: schedule.GenTree, Op: collective.Broadcast, Groups: across, Src: schedule.Output, Acc: schedule.Output, Dst: schedule.Output, Parents: parents},
		{Gen: schedule.GenDirect, Op: collective.AllGather, Groups: inside, Src: schedule.Output, Acc: schedule.Output, Dst: schedule.Output},
	}}}}, nil
}

// grid is the topology's regular layout with at least two tiers.
func (r *request) grid() ([]int32, error) {
	dims, ok := r.t.Grid()
	if !ok {
		return nil, notApplicable("nodes or groups differ in size")
	}
	var out []int32
	for _, d := range dims {
		if d > 1 {
			out = append(out, d)
		}
	}
	if len(out) < 2 {
		return nil, notApplicable("there is one tier only")
	}
	return out, nil
}

// onAxis are the groups along an axis, the inner axes being scattered already.
func onAxis(dims []int32, axis int, unsplit []int) schedule.Groups {
	g := &schedule.Grid{Dims: dims, Axis: axis, Unsplit: unsplit}
	for a := len(dims) - 1; a > axis; a-- {
		g.Fixed = append(g.Fixed, a)
	}
	return schedule.Groups{Grid: g}
}

// gridRoutable checks that ranks reach one another along each axis.
func (r *request) gridRoutable(dims []int32) error {
	stride := 1
	for a := len(dims) - 1; a >= 0; a-- {
		size := int(dims[a])
		for i := range size {
			for _, j := range []int{(i + 1) % size, (i + size/2) % size} {
				if _, err := r.router.Route(i*stride, j*stride); i != j && err != nil {
					return notApplicable("%v", err)
				}
			}
		}
		stride *= size
	}
	return nil
}
