package main

import (
	"reflect"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/study/score"
	"railyard/topologies"
)

func TestParseLoads(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []topology.Background
		err        string
	}{
		{name: "a list", text: ` [{"link": "a->b", "utilisation": 0.5}, {"link": "a--b", "bytes_per_second": 1e9, "class": "x"}]`,
			want: []topology.Background{{Link: "a->b", Utilisation: 0.5}, {Link: "a--b", Rate: 1e9, Class: "x"}}},
		{name: "nothing", text: "[]", err: "line 1: it names no link"},
		{name: "a simulation", text: `{"schema": "railyard.simulate/v1",
			"links": [{"id": "a->b", "count": 1, "class": "x", "bytes": 7, "utilisation": 0.25},
			{"id": "c->d lane 3", "count": 1, "class": "y", "utilisation": 1e-3}]}`,
			want: []topology.Background{{Link: "a->b", Class: "x", Utilisation: 0.25}, {Link: "c->d", Class: "y", Lane: 3,
				Utilisation: 1e-3}}},
		{name: "empty", text: "", err: "line 1: it names no link"},
		{name: "two lists", text: "[]\n[]", err: "line 2: more than one list"},
		{name: "not JSON", text: "[\n{link: 1}]", err: "line 2: not valid JSON: invalid character"},
		{name: "a wrong type", text: "[{\"link\": \"a->b\",\n \"utilisation\": \"much\"}]",
			err: "line 2: utilisation: string does not belong there"},
		{name: "neither", text: `[{"link": "a->b"}]`, err: "entry 1, link a->b: give either"},
		{name: "another document", text: `{"schema": "railyard.plan/v1"}`, err: `its schema is "railyard.plan/v1"`},
		{name: "folded", text: `{"schema": "railyard.simulate/v1",
			"links": [{"id": "a->b", "count": 2}]}`,
			err: "simulate with --how every-link"},
		{name: "a strange lane", text: `{"schema": "railyard.simulate/v1", "links": [{"id": "a->b lane x", "count": 1}]}`,
			err: `link "a->b lane x"`},
	} {
		got, err := parseLoads([]byte(c.text))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		case err != nil || !reflect.DeepEqual(got, c.want):
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestLoadedPlansAvoidTheLoad: with a rail at 90 %, the plan is no slower than the plan of
// the idle machine would be there, and where rings use the rail, at least twice as fast.
func TestLoadedPlansAvoidTheLoad(t *testing.T) {
	profile := cost.Line
	for i, c := range []struct {
		name  string
		nodes int
		link  string
		kind  collective.Kind
		least float64 // how much faster
	}{
		{"dgx1-v100", 1, "gpu0--gpu3", collective.AllGather, 2},
		{"dgx1-v100", 1, "gpu0--gpu1", collective.AllReduce, 2},
		{"dgx1-v100", 1, "gpu2->gpu6", collective.Broadcast, 1},
		{"dgx-h100", 2, "node1/nic3--leaf3", collective.AllReduce, 2},
		{"dgx-h100", long.Or(2, 4), "node1/nic3->leaf3", collective.AllGather, 2},
		{"superpod-h100", long.Or(2, 4), "node0/nic0--leaf0", collective.ReduceScatter, 2},
		{"dgx-h100", 2, "node1/nic3--leaf3", collective.AllToAll, 1},
	} {
		if !long.Given() && i%2 == 1 {
			continue
		}
		idle, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		busy, err := idle.WithBackground([]topology.Background{{Link: c.link, Utilisation: 0.9}})
		if err != nil {
			t.Fatal(err)
		}
		sizes := []units.Bytes{256 * units.MiB}
		planned := func(topo *topology.Topology) planner.Row {
			rows, err := planner.Plan(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, sizes, score.New(topo, profile),
				planner.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return rows[0]
		}
		got, before := planned(busy), planned(idle)
		there, err := sim.Run(busy, before.Schedule, sizes[0], profile, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if gain := float64(there.Time) / float64(got.Prediction.Time); gain < c.least {
			t.Errorf("%v on %s with %s busy: %v by %s, the idle plan %s takes %v: %.2f times as fast", c.kind, c.name, c.link,
				got.Prediction.Time, planner.Name(got.Schedule), planner.Name(before.Schedule), there.Time, gain)
		}
		if got.Prediction.Time < before.Prediction.Time {
			t.Errorf("%v on %s: faster with %s busy", c.kind, c.name, c.link)
		}
	}
}
