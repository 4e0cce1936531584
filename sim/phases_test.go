package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// Whatever phases follow one another, along whatever axes and in whatever order, one rank is played for others
// only where all ranks take as long.
func TestFoldedIsFlatInAnyPhases(t *testing.T) {
	grids := [][]int32{{4, 8}, {2, 2, 8}, {6, 8}, {2, 3, 8}, {3, 2, 8}, {8, 8}, {2, 4, 8}, {4, 2, 8}, {2, 2, 2, 8}}
	machines := map[int]*topology.Topology{}
	played := 0
	for seed := range long.Or[uint64](60, 2000) {
		rng := rand.New(rand.NewPCG(seed, 20))
		s := randomPhases(rng, grids[rng.IntN(len(grids))])
		nodes := s.Spec.Ranks / 8
		if machines[nodes] == nil {
			machines[nodes] = shipped(t, "superpod-h100", nodes)
		}
		if s.Validate() != nil {
			continue
		}
		if _, err := sim.CompileFlat(machines[nodes], s, line(t)); err != nil {
			continue // ends that do not agree, which is for the checker to say
		}
		played++
		s.Algorithm = fmt.Sprintf("seed %d, %+v", seed, s.Channels[0].Phases)
		same(t, machines[nodes], s, 3*units.MiB+17, gen.Curved())
	}
	if played < 30 {
		t.Errorf("%d schedules were played", played)
	}
}

// randomPhases are one to three phases on a grid, which move data about and compute nothing that has a name.
func randomPhases(rng *rand.Rand, dims []int32) *schedule.Schedule {
	ranks := 1
	for _, d := range dims {
		ranks *= int(d)
	}
	ch := schedule.Channel{Share: 1, Slices: 1 + rng.IntN(3), Chunks: ranks}
	for range 1 + rng.IntN(3) {
		ch.Phases = append(ch.Phases, randomPhase(rng, dims))
	}
	return &schedule.Schedule{Spec: collective.Spec{Kind: collective.AllReduce, Ranks: ranks}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{ch}}
}

func randomPhase(rng *rand.Rand, dims []int32) schedule.Phase {
	g := &schedule.Grid{Dims: dims, Axis: rng.IntN(len(dims))}
	for a := range dims {
		if a != g.Axis && rng.IntN(2) == 0 {
			g.Fixed = append(g.Fixed, a)
		}
	}
	if rng.IntN(4) == 0 {
		for _, i := range rng.Perm(int(dims[g.Axis])) {
			g.Order = append(g.Order, int32(i))
		}
	}
	ph := schedule.Phase{Groups: schedule.Groups{Grid: g}, Src: schedule.Scratch, Acc: schedule.Scratch, Dst: schedule.Scratch, Radix: 2}
	for !schedule.Supports(ph.Gen, ph.Op) {
		ph.Gen = []string{schedule.GenRing, schedule.GenDirect, schedule.GenTree, schedule.GenDoubling, schedule.GenBruck}[rng.IntN(5)]
		ph.Op = collective.All()[rng.IntN(len(collective.All()))]
	}
	if rng.IntN(3) == 0 {
		ph.Root = rng.IntN(int(dims[g.Axis]))
	}
	return ph
}
