package planner

import (
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/planner/pack"
)

// maxPackedRanks bounds what is written out tree by tree.
const maxPackedRanks = 256

// maxLevels is the height up to which each level of the trees is a phase; higher trees
// would make pipelines that are too long to fill.
const maxLevels = 12

// buildPackedTrees sends every rank's data down spanning trees that together fill the
// links that limit (see the package pack), and, the other way round, sums it up along
// them; all_reduce is both.
func buildPackedTrees(r *request) (*schedule.Schedule, error) {
	if err := r.wants(collective.AllGather, collective.ReduceScatter, collective.AllReduce); err != nil {
		return nil, err
	}
	if n := r.spec.Ranks; n < 3 || n > maxPackedRanks {
		return nil, notApplicable("packed trees are for 3 to %d ranks", maxPackedRanks)
	}
	if err := r.findTrees(); err != nil {
		return nil, err
	}
	if r.trees.Height() == 1 {
		return nil, notApplicable("every rank reaches all others at once: direct does the same")
	}
	return r.packedSchedule(r.trees), nil
}

// findTrees packs trees once for all pipeline depths.
func (r *request) findTrees() error {
	if r.trees == nil && r.noTrees == nil {
		r.trees, r.noTrees = r.packTrees()
	}
	return r.noTrees
}

// hops is the number of messages of a slice; 0 where there are no trees.
func (r *request) hops() int {
	if r.spec.Ranks > maxPackedRanks || r.findTrees() != nil {
		return 0
	}
	return len(r.trees.List) * (r.spec.Ranks - 1)
}

// packTrees makes a schedule's trees of the packing.
func (r *request) packTrees() (*schedule.Trees, error) {
	g, err := pack.FromTopology(r.t)
	if err != nil {
		return nil, notApplicable("%v", err)
	}
	p, err := pack.Pack(g, pack.Options{})
	if err != nil {
		return nil, notApplicable("%v", err)
	}
	if p.K*int64(r.spec.Ranks) > 1<<20 {
		return nil, notApplicable("the trees cut the data into %d parts", p.K)
	}
	t := &schedule.Trees{Units: int32(p.K), Local: int32(r.spec.Ranks)}
	if nodes := r.t.NumNodes(); r.spec.Ranks%nodes == 0 {
		t.Local = int32(r.spec.Ranks / nodes)
	}
	for root, list := range p.Trees {
		for _, x := range list {
			if x.Weight > 0 {
				t.List = append(t.List, schedule.Tree{Root: int32(root), Weight: int32(x.Weight), Parent: x.Parent})
			}
		}
	}
	if err := r.reachable(t); err != nil {
		return nil, err
	}
	return t, nil
}

// reachable checks that all hops have a route.
func (r *request) reachable(t *schedule.Trees) error {
	for i := range t.List {
		for v, p := range t.List[i].Parent {
			if p >= 0 {
				if _, err := r.router.Route(int(p), v); err != nil {
					return notApplicable("%v", err)
				}
			}
		}
	}
	return nil
}

func (r *request) packedSchedule(t *schedule.Trees) *schedule.Schedule {
	height := t.Height()
	first, last, channels, slices := 1, height, 1, r.slices()
	if height > maxLevels { // channels overlap instead of levels
		first, last, channels, slices = 0, 0, min(slices, 8), 1
	}
	ch := schedule.Channel{Share: 1, Slices: slices, Chunks: r.spec.Ranks * int(t.Units), Trees: t}
	level := func(op collective.Kind, src schedule.Buffer, d int) {
		ch.Phases = append(ch.Phases, schedule.Phase{Gen: schedule.GenTrees, Op: op, Src: src, Acc: schedule.Scratch, Dst: schedule.Output, Level: d})
	}
	if r.spec.Kind != collective.AllGather {
		for d := last; d >= first; d-- {
			level(collective.ReduceScatter, schedule.Input, d)
		}
	}
	if r.spec.Kind != collective.ReduceScatter {
		from := schedule.Input
		if r.spec.Kind == collective.AllReduce {
			from = schedule.Output
		}
		for d := first; d <= last; d++ {
			level(collective.AllGather, from, d)
		}
	}
	return &schedule.Schedule{Channels: repeat([]schedule.Channel{ch}, channels)}
}
