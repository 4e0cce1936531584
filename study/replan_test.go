package study_test

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study"
	"railyard/study/network"
	"railyard/topologies"
)

// TestReplan: the plan of a row is the fastest of all candidates in both protocols, each predicted as what runs in its place.
func TestReplan(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	sizes := []units.Bytes{units.KiB, 256 * units.KiB, 16 * units.MiB}
	a, engines := overNetwork(t, topo, sizes, streams)
	list, err := planner.Candidates(topo, a.Question.Spec(), "", planner.Options{Streams: streams})
	if err != nil {
		t.Fatal(err)
	}
	used := map[schedule.Protocol]bool{}
	for i, size := range sizes {
		if err := a.Replan(i, engines...); err != nil {
			t.Fatal(err)
		}
		used[a.Rows[i].Schedule.Protocol] = true
		for _, s := range list {
			if s.Plain() != nil {
				continue
			}
			for _, engine := range engines {
				other := *s
				other.Protocol = engine
				p, err := a.Explain(&other, size)
				if err != nil {
					t.Fatal(err)
				}
				if p.Time*100 < a.Rows[i].Prediction.Time*99 {
					t.Errorf("%v: %s in %v, where %s takes %v", size, planner.Name(a.Rows[i].Schedule), a.Rows[i].Prediction.Time,
						planner.Name(&other), p.Time)
				}
			}
		}
	}
	if len(used) < 2 {
		t.Errorf("only one engine is chosen: %v", used)
	}
}

// TestReplanInStreams: where a stream carries a fraction of what the adapter does, an exchange of one step is cut into slices on several.
func TestReplanInStreams(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	took := map[int]units.Time{}
	for _, n := range []int{1, streams} {
		a, engines := overNetwork(t, topo, []units.Bytes{64 * units.MiB}, n)
		if err := a.Replan(0, engines...); err != nil {
			t.Fatal(err)
		}
		took[n] = a.Rows[0].Prediction.Time
		if got := a.Rows[0].Schedule.Channels[0].Slices; got != n {
			t.Errorf("%d streams: %s, in %d slices", n, planner.Name(a.Rows[0].Schedule), got)
		}
	}
	if took[streams]*10 > took[1]*6 {
		t.Errorf("%v on %d streams, %v on one", took[streams], streams, took[1])
	}
}

// streams are those of stages in these tests.
const streams = 2

// overNetwork is an all-gather on nodes whose messages either engine carries, at costs of its own, on so many streams.
func overNetwork(t *testing.T, topo *topology.Topology, sizes []units.Bytes, streams int) (*study.Answer, []schedule.Protocol) {
	t.Helper()
	curve := func(medium string, p schedule.Protocol, alpha units.Time, one, node units.Rate) cost.Curve {
		return cost.Curve{Medium: medium, Protocol: string(p), Ahead: true, Node: node,
			Segments: []cost.Segment{{Alpha: alpha, Rate: one, Efficiency: 1}}}
	}
	engines := []schedule.Protocol{schedule.Staged, schedule.Proxied}
	origin := cost.Origin{Kind: cost.Measured, Source: "test", Date: "2026-11-24"}
	profile := &cost.Profile{Name: "test", Origin: origin, Curves: []cost.Curve{
		curve("network", engines[0], 40*units.Microsecond, 5e9, 20e9), curve("nvlink", engines[0], 8*units.Microsecond, 45e9, 0),
		curve("network", engines[1], 16*units.Microsecond, 5e9, 6e9), curve("nvlink", engines[1], 4*units.Microsecond, 45e9, 0)}}
	a, err := study.Ask(study.Asked{Topology: topo, Sizes: sizes, Machine: cost.NewMachine("test").WithOwn(profile),
		Collective: study.Collective{Kind: collective.AllGather}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Run(func(s *schedule.Schedule, size units.Bytes) (*schedule.Schedule, error) {
		return network.Carried(topo, s, size, streams)
	}, streams)
	return a, engines
}
