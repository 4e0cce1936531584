package block

import (
	"math/rand/v2"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestPrograms plays programs of random collectives by all algorithms that apply.
func TestPrograms(t *testing.T) {
	machines := []struct {
		name string
		o    topology.Options
	}{
		{"hgx-h200-4", topology.Options{GPUs: 2}}, {"hgx-h200-4", topology.Options{GPUs: 3}}, {"hgx-h200-4", topology.Options{}},
		{"dgx-a100", topology.Options{Nodes: 2, GPUs: 2}}, {"dgx-a100", topology.Options{Nodes: 2, GPUs: 3}},
		{"dgx-a100", topology.Options{Nodes: 4, GPUs: 2}}, // from here on 8 GPUs
		{"dgx-a100", topology.Options{Nodes: 2, GPUs: 4}}, {"dgx-a100", topology.Options{Nodes: 1}}, {"dgx1-v100", topology.Options{}},
	}
	machines = machines[:long.Or(6, len(machines))]
	const seed = 20261122
	played := map[Mechanism]int{}
	for m, machine := range machines {
		topo, err := topology.Load(topologies.Source, machine.name, machine.o)
		if err != nil {
			t.Fatal(err)
		}
		for a, algo := range planner.Algorithms() {
			for kind := collective.AllReduce; kind <= collective.Barrier; kind++ {
				random := rand.New(rand.NewPCG(seed, uint64(m)<<32|uint64(a)<<16|uint64(kind)))
				playDraws(t, topo, kind, algo.Name, random, played)
			}
		}
	}
	for m := Pull; m <= WordsPush; m++ {
		if played[m] < 100 {
			t.Errorf("%d programs in %v", played[m], m)
		}
	}
}

// playDraws plays an algorithm's schedule in all mechanisms.
func playDraws(t *testing.T, topo *topology.Topology, kind collective.Kind, algo string, random *rand.Rand, played map[Mechanism]int) {
	spec := randomSpec(kind, topo.NumRanks(), random)
	s, err := planner.Build(topo, spec, algo, planner.Options{Slices: 1 + random.IntN(3)})
	if err != nil || s.Plain() != nil {
		return
	}
	if err := schedule.Check(s, topo); err != nil {
		t.Errorf("%s of %v: %v", algo, kind, err)
		return
	}
	for m := Pull; m <= WordsPush; m++ {
		blocks := int64(spec.Blocks())
		o := Options{Count: (1 + random.Int64N(40*int64(spec.Ranks))) * blocks, Size: 1 + 3*random.IntN(2), InPlace: random.IntN(3) == 0,
			Instances: 1 + random.IntN(2), Mechanism: m}
		if spec.Ranks == MaxRanks && random.IntN(2) == 0 {
			continue // they take long
		}
		p, err := Compile(s, o)
		if err != nil {
			continue // what the kernels refuse
		}
		played[m]++
		for range 2 {
			if err := newPlayOff(s, o, oneStage(p), random).run(); err != nil {
				t.Errorf("%s of %v on %s, %d ranks, %d slices, %v, %+v: %v", algo, kind, topo.Name(), spec.Ranks, s.Channels[0].Slices,
					spec.Counts, o, err)
				break
			}
		}
	}
}

// TestPacketsInPlace: messages are copied when they are sent, so that in packets all may run in place,
// and what is pulled only where nobody overwrites what others still read.
func TestPacketsInPlace(t *testing.T) {
	s := build(t, collective.AllReduce, "direct", 4, 1)
	for m := Pull; m <= WordsPush; m++ {
		if _, err := Compile(s, Options{Count: 64, Size: 4, Instances: 1, Mechanism: m, InPlace: true}); (err == nil) != m.Flagged() {
			t.Errorf("%v: %v", m, err)
		}
	}
}

func randomSpec(kind collective.Kind, ranks int, random *rand.Rand) collective.Spec {
	spec := collective.Spec{Kind: kind, Ranks: ranks}
	if kind.Rooted() {
		spec.Root = random.IntN(ranks)
	}
	if kind == collective.AllToAllV {
		for range ranks {
			row := make([]int64, ranks)
			for i := range row {
				row[i] = random.Int64N(4)
			}
			spec.Counts = append(spec.Counts, row)
		}
		spec.Counts[0][ranks-1] = 3 // somebody sends something
	}
	return spec
}
