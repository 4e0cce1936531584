package sim

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/trace"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// TestFoldedTraces: representatives' messages, as often as they say that they stand for others, are those of all ranks.
func TestFoldedTraces(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		nodes     int
		fault     string
		kind      collective.Kind
	}{
		{"hierarchical_two_shot", 4, "", collective.AllReduce},
		{"tiered_rails", 40, "", collective.AllGather},
		{"rerouted_rails", 8, "nic:node2/nic3", collective.ReduceScatter},
	} {
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: c.nodes})
		if err == nil && c.fault != "" {
			topo, err = topo.Degrade(gen.Faults(c.fault))
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, c.algorithm, planner.Options{Slices: 2, Channels: 1})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(topo, s, cost.Line)
		if err != nil {
			t.Fatal(err)
		}
		flat, err := p.flat()
		if err != nil {
			t.Fatal(err)
		}
		folded, all := traced(t, p), traced(t, flat)
		if len(folded) == 0 || len(folded) > len(all) {
			t.Errorf("%+v: %d kinds of events folded, %d flat", c, len(folded), len(all))
		}
		for x, n := range all {
			if folded[x] != n {
				t.Errorf("%+v: %+v %d times, folded %d times", c, x, n, folded[x])
				break
			}
		}
	}
}

// traced counts the messages of a run by all that those of equivalent ranks have in common; they may receive them in different orders.
func traced(t *testing.T, p *Plan) map[trace.Event]int32 {
	e, err := p.play(p.each(64*units.MiB), Options{Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	out := map[trace.Event]int32{}
	for _, x := range e.trace.out.Events {
		times := x.Times
		x.Rank, x.Peer, x.Times = 0, 0, 0
		if x.Op == schedule.Send.String() {
			out[x] += times
		}
	}
	return out
}
