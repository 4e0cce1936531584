package score

import (
	"errors"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// TestWorkDoesNotGrowWithRanks plans and checks collectives on 2,048 and 4,096 GPUs in three
// tiers. What is compiled stands for one node: of as many slices it plays more operations
// only as far as a rank has more peers, not as there are more ranks.
func TestWorkDoesNotGrowWithRanks(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllToAll} {
		nodes := long.Or(64, 256)
		small, large := work(t, kind, nodes), work(t, kind, 2*nodes)
		most := 1.3
		if kind == collective.AllToAll { // everybody is a peer
			most = 2.1
		}
		for name, n := range large {
			if before, ok := small[name]; !ok || float64(n) > most*float64(before) {
				t.Errorf("%v, %s: %d operations for %d nodes, %d for twice as many", kind, name, before, nodes, n)
			}
		}
		if len(large) < 2 {
			t.Errorf("%v: only %v were compiled", kind, large)
		}
	}
}

// TestDegradedNodesCostAsFew builds a plan over tiers of nodes, of which the last group is larger. Where a node has lost an adapter or a GPU,
// or an adapter is slow, few ranks stand for all others as before, wherever that node is: those of it, at its place, and in its group.
func TestDegradedNodesCostAsFew(t *testing.T) {
	work := func(nodes int, faults ...string) int64 {
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) > 0 {
			if topo, err = topo.Degrade(gen.Faults(faults...)); err != nil {
				t.Fatal(err)
			}
		}
		x, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, "tiered_rails", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) > 1 {
			if err := schedule.Check(x, topo); err != nil {
				t.Error(err)
			}
		}
		p, err := New(topo, cost.Line).within(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		if nodes == 40 {
			flat, err := sim.CompileFlat(topo, x, cost.Line)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := timeOf(t, p), timeOf(t, flat); a != b {
				t.Errorf("%d nodes without %v: %v folded, %v flat", nodes, faults, a, b)
			}
		}
		return p.Work()
	}
	healthy := work(64)
	if n := work(98); n > 10*healthy {
		t.Errorf("%d operations of 98 nodes, %d of 64", n, healthy)
	}
	// a last group of 8 nodes, whose messages are cut otherwise before the degraded node's place than behind it
	for _, nodes := range []int{40, 104} {
		if n, healthy := work(nodes, "nic:node3/nic2"), work(nodes); n > 20*healthy {
			t.Errorf("%d operations of %d nodes with a NIC lost, %d where nothing has failed", n, nodes, healthy)
		}
	}
	for i, faults := range [][]string{{"nic:node3/nic2"}, {"nic:node40/nic0=0.5"}, {"gpu:node97/gpu7"}, {"nic:node0/nic1", "gpu:node50/gpu4"}} {
		if !long.Every(3, i) {
			continue
		}
		if n := work(98, faults...); n > 20*int64(len(faults))*healthy {
			t.Errorf("%v: %d operations, %d where nothing has failed", faults, n, healthy)
		}
	}
}

// timeOf is what a plan takes for 1 GiB.
func timeOf(t *testing.T, p *sim.Plan) units.Time {
	t.Helper()
	out, err := p.Time(units.GiB)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// work is how many operations a slice of each schedule that the planner compiles plays.
func work(t *testing.T, kind collective.Kind, nodes int) map[string]int64 {
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	profile := cost.Line
	s := New(topo, profile)
	rows, err := planner.Plan(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, []units.Bytes{1 << 30}, s, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(rows[0].Schedule, topo); err != nil {
		t.Error(err)
	}
	out := map[string]int64{}
	for x, c := range s.search.plans {
		slices := 0
		for i := range x.Channels {
			slices += x.Channels[i].Slices
		}
		out[x.Algorithm] = max(out[x.Algorithm], c.plan.Work()/int64(slices))
	}
	return out
}

// TestTooLarge leaves out what would take too long, and says so; but not all there is.
func TestTooLarge(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	profile := cost.Line
	spec := collective.Spec{Kind: collective.Broadcast, Ranks: topo.NumRanks()}
	s := New(topo, profile)
	s.Limit = 20_000
	rows, err := planner.Plan(topo, spec, []units.Bytes{1 << 30}, s, planner.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows[0].Prediction.Warnings) == 0 {
		t.Error("deep pipelines were left out without a word")
	}
	s.Limit = 10
	rows, err = planner.Plan(topo, spec, []units.Bytes{1 << 30}, s, planner.PlanOptions{})
	if err != nil || rows[0].OfBound() < 0.2 || len(rows[0].Prediction.Warnings) == 0 {
		t.Errorf("where nothing may be simulated, the most promising is, with a warning of the others: %v, %+v", err, rows)
	}
}

// TestForeseenIsAsGoodAsSimulated: pipelines that are not simulated, because the times of
// shorter ones foretell that they are slower, or because they promise little, would have
// been faster by that little at most.
func TestForeseenIsAsGoodAsSimulated(t *testing.T) {
	for _, c := range []struct {
		topology, profile string
		kind              collective.Kind
		size              units.Bytes
	}{
		{"dgx1-v100", "line", collective.AllReduce, units.GiB}, {"dgx1-v100", "line", collective.AllReduce, 64 * units.MiB},
		{"dgx1-v100", "ideal", collective.Broadcast, units.GiB}, {"dgx1-p100", "line", collective.Broadcast, units.GiB},
		{"dgx1-p100", "line", collective.AllGather, 256 * units.MiB}, {"mi250x-node", "line", collective.Broadcast, 256 * units.MiB},
	} {
		topo, err := topology.Load(topologies.Source, c.topology, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := New(topo, map[string]*cost.Profile{"ideal": cost.Ideal, "line": cost.Line}[c.profile])
		o := planner.PlanOptions{Algorithm: "packed_trees"}
		rows, err := planner.Plan(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, []units.Bytes{c.size}, s, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range rows[0].Why {
			if !x.Pruned {
				continue
			}
			real, err := s.Time(x.Schedule, c.size, units.MaxTime)
			if err != nil {
				t.Fatal(err)
			}
			promised := 0.005 * float64(s.Work(x.Schedule)) / 1e6
			if gain := 1 - float64(real)/float64(rows[0].Prediction.Time); gain > promised {
				t.Errorf("%+v: %s is chosen, %s would be %.2f %% faster", c, planner.Name(rows[0].Schedule), planner.Name(x.Schedule),
					100*gain)
			}
		}
	}
}

// TestShapesAreForeseen: what another shape of a schedule takes to compile and play follows from what that took.
func TestShapesAreForeseen(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 4})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	for _, algorithm := range []string{"hierarchical_two_shot", "packed_trees"} {
		build := func(slices, channels int) *schedule.Schedule {
			x, err := planner.Build(topo, spec, algorithm, planner.Options{Slices: slices, Channels: channels})
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		one := build(8, 2)
		for _, other := range []*schedule.Schedule{build(16, 2), build(4, 2), build(8, 4), build(4, 8)} {
			s := New(topo, cost.Line)
			if n := s.Foreseen(other, one); n != s.Work(other) {
				t.Errorf("%s: %d operations foreseen though nothing is known of any other", planner.Name(other), n)
			}
			timeOfSchedule(t, s, one)
			foreseen := float64(s.Foreseen(other, one))
			timeOfSchedule(t, s, other)
			work := float64(s.Work(other) + s.search.plans[other].plan.Compiled())
			if foreseen < work/1.2 || foreseen > 1.2*work {
				t.Errorf("%s after %s: %.0f operations, %.0f foreseen", planner.Name(other), planner.Name(one), work, foreseen)
			}
			if s.Foreseen(other, one) != s.Work(other) {
				t.Errorf("%s: something else is foreseen than it plays", planner.Name(other))
			}
		}
	}
}

func timeOfSchedule(t *testing.T, s *Scorer, x *schedule.Schedule) {
	t.Helper()
	if _, err := s.Time(x, units.GiB, units.MaxTime); err != nil {
		t.Fatal(err)
	}
}

// TestGivenUp: what took too long is not tried in more slices either, other algorithms are.
func TestGivenUp(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 8})
	if err != nil {
		t.Fatal(err)
	}
	profile := cost.Line
	spec := collective.Spec{Kind: collective.AllToAllV, Ranks: topo.NumRanks()}
	for i := range spec.Ranks {
		row := make([]int64, spec.Ranks)
		for j := range row {
			row[j] = int64(1 + (7*i*i+13*j)%97)
		}
		spec.Counts = append(spec.Counts, row)
	}
	s := New(topo, profile)
	build := func(algorithm string, slices int) *schedule.Schedule {
		x, err := planner.Build(topo, spec, algorithm, planner.Options{Slices: slices})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	one, four, other := build("balanced_rails", 1), build("balanced_rails", 4), build("hierarchical_all_to_all", 4)
	if s.Limit = 7_000; s.givenUp(four) {
		t.Error("four slices are given up before anything was tried")
	}
	if _, err := s.Time(one, units.GiB, units.MaxTime); !errors.Is(err, planner.ErrTooLarge) || len(s.search.tooLong) == 0 {
		t.Fatalf("one slice: %v, not for its rates", err)
	}
	if _, err := s.Estimate(four, units.GiB); !errors.Is(err, planner.ErrTooLarge) || s.search.plans[four].plan != nil {
		t.Errorf("four slices after one took too long: %v", err)
	}
	if s.Work(four) < s.Limit {
		t.Errorf("four slices are said to play %d operations after one took more than %d", s.Work(four), s.Limit)
	}
	if s.givenUp(other) {
		t.Error("another algorithm is given up with it")
	}
	s.Limit = 100 // fewer than its connections
	for range 2 { // once more at another size
		if _, err := s.Estimate(other, units.GiB); !errors.Is(err, planner.ErrTooLarge) {
			t.Errorf("on few connections: %v", err)
		}
	}
	if slices, given := s.search.tooLong[other]; !given || slices != 0 {
		t.Errorf("what is too long to compile is so in any protocol; given up from %d slices on", slices)
	}
}

// TestLongerCounts: what is added to a schedule's time counts wherever its time is said, and is found out once.
func TestLongerCounts(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := planner.Build(topo, collective.Spec{Kind: collective.AllGather, Ranks: 8}, "direct", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const size, more = 1 << 20, 3 * units.Microsecond
	s, asked := New(topo, cost.Ideal), 0
	plain, err := s.Time(x, size, units.MaxTime)
	if err != nil {
		t.Fatal(err)
	}
	s.Add(func(*schedule.Schedule, units.Bytes, units.Time) (units.Time, []string) {
		asked++
		return more, []string{"said"}
	})
	for range 2 {
		took, err := s.Time(x, size, units.MaxTime)
		said, failed := s.Explain(x, size)
		if err != nil || failed != nil || took != plain+more || said.Time != took || said.Warnings[len(said.Warnings)-1] != "said" || asked != 1 {
			t.Errorf("%v, explained as %v %v, of %v and %v (%v, %v), asked %d times", took, said.Time, said.Warnings, plain, more, err, failed,
				asked)
		}
	}
}
