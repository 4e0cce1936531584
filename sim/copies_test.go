package sim

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// TestCopiedChannels: channels that share programs are copied, and are what they are when each is compiled by itself.
func TestCopiedChannels(t *testing.T) {
	dgx, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	cases := []*topology.Topology{dgx}
	for seed := range long.Or[int64](3, 6) {
		cases = append(cases, gen.Topology(seed))
	}
	copied := 0
	for _, topo := range cases {
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast, collective.AllToAll} {
			for n := 1; n <= 4; n += 3 {
				list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "", planner.Options{Slices: n, Channels: 4})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range list {
					copied += copiedAreCompiled(t, topo, s)
				}
			}
		}
	}
	if copied < 100 {
		t.Errorf("only %d channels were copied", copied)
	}
}

// copiedAreCompiled compares a plan with that of the same schedule in which no channel shares its phases, and says how many were copied.
func copiedAreCompiled(t *testing.T, topo *topology.Topology, s *schedule.Schedule) (copied int) {
	t.Helper()
	apart := *s
	apart.Channels = slices.Clone(s.Channels)
	for i := range apart.Channels {
		apart.Channels[i].Phases = slices.Clone(s.Channels[i].Phases)
	}
	for _, alike := range []alike{nothingAlike, alikeLinks} {
		for _, p := range []*cost.Profile{cost.Line, gen.Curved()} {
			var plans [2]*Plan
			for i, x := range []*schedule.Schedule{s, &apart} {
				plan, err := compile(topo, []Job{{Schedule: x}}, p, CompileOptions{}, alike)
				if err != nil {
					t.Fatal(err)
				}
				plans[i] = plan
			}
			a, b := plans[0], plans[1]
			for name, same := range map[string]bool{"lanes": reflect.DeepEqual(a.lanes, b.lanes), "connections": reflect.DeepEqual(a.conns, b.conns),
				"theirs": slices.Equal(a.laneConns, b.laneConns), "operations": slices.Equal(a.ops, b.ops), "messages": slices.Equal(a.seqs, b.seqs),
				"sizes": slices.Equal(a.sizes, b.sizes), "work": a.compiled == b.compiled, "routes": len(a.routes) == len(b.routes)} {
				if !same {
					t.Errorf("%s, %s, %v: %s differ", topo.Name(), planner.Name(s), s.Spec.Kind, name)
				}
			}
			ta, err := a.Time(5 * units.MiB)
			tb, failed := b.Time(5 * units.MiB)
			if ta != tb || fmt.Sprint(err) != fmt.Sprint(failed) {
				t.Errorf("%s, %s: %v, %v, compiled apart %v, %v", topo.Name(), planner.Name(s), ta, err, tb, failed)
			}
		}
	}
	c, err := newCompiler(topo, []Job{{Schedule: s}}, cost.Line, CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Channels {
		if c.copied(i) >= 0 {
			copied++
		}
	}
	return copied
}
