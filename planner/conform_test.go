package planner_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
)

// conform builds every algorithm for every collective on a topology and requires: the
// schedule is valid, provably computes its collective, uses only routes that exist,
// carries its inputs, and survives JSON. It returns how many schedules it saw.
func conform(t *testing.T, topo *topology.Topology) int {
	t.Helper()
	seen := 0
	for _, kind := range collective.All() {
		n := topo.NumRanks()
		spec := collective.Spec{Kind: kind, Ranks: n}
		if kind.Rooted() {
			spec.Root = n - 1
		}
		if kind == collective.AllToAllV {
			spec.Counts = counts(n)
		}
		before := seen
		for _, a := range planner.Algorithms() {
			s, err := planner.Build(topo, spec, a.Name, planner.Options{})
			if err != nil {
				if !planner.NotApplicable(err) {
					t.Errorf("%s: %s %v: %v", topo.Name(), a.Name, kind, err)
				}
				continue
			}
			seen++
			prove(t, topo, s)
			survives(t, s)
			deep, err := planner.Build(topo, spec, a.Name, planner.Options{Slices: 3})
			if err != nil {
				t.Errorf("%s: %s %v in slices: %v", topo.Name(), a.Name, kind, err)
				continue
			}
			survives(t, deep)
			if len(deep.Channels) != len(s.Channels) { // else the proof of one slice is that of all
				prove(t, topo, deep)
			}
		}
		if seen == before && connected(topo) {
			t.Errorf("%s: no algorithm makes %v", topo.Name(), kind)
		}
	}
	return seen
}

// connected reports whether all ranks reach one another without passing through others:
// only then must every collective have a schedule.
func connected(topo *topology.Topology) bool {
	r := topology.NewRouter(topo)
	for b := range topo.NumRanks() {
		if _, err := r.Route(0, b); err != nil {
			return false
		}
	}
	return true
}

func counts(n int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		for j := range n {
			out[i] = append(out[i], int64((i+2*j)%3))
		}
	}
	out[0][0]++
	return out
}

// prove checks what a schedule computes, on which routes, and what it says of itself.
func prove(t *testing.T, topo *topology.Topology, s *schedule.Schedule) {
	t.Helper()
	if err := schedule.Check(s, topo); err != nil {
		t.Errorf("%s: %s %v: %v", topo.Name(), s.Algorithm, s.Spec.Kind, err)
	}
	if s.TopologyHash != topo.Hash() || s.TopologyName != topo.Name() || s.Tool == "" || s.Inputs["algorithm"] != s.Algorithm {
		t.Errorf("%s: %s %v does not say what it was made from", topo.Name(), s.Algorithm, s.Spec.Kind)
	}
}

// survives requires a JSON round trip without loss.
func survives(t *testing.T, s *schedule.Schedule) {
	t.Helper()
	var buf bytes.Buffer
	if err := schedule.Encode(&buf, s); err != nil {
		t.Fatal(err)
	}
	back, err := schedule.Decode(&buf)
	if err != nil {
		t.Errorf("%s: %s %v: %v", s.TopologyName, s.Algorithm, s.Spec.Kind, err)
	} else if d := cmp.Diff(s, back); d != "" {
		t.Errorf("%s: %s %v: JSON round trip:\n%s", s.TopologyName, s.Algorithm, s.Spec.Kind, d)
	}
}
