package planner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/gen"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/study/score"
	"railyard/topologies"
)

// degraded is a shipped topology with faults.
func degraded(t testing.TB, name string, nodes int, faults ...string) *topology.Topology {
	t.Helper()
	whole, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return degrade(t, whole.WithoutInNetwork(), faults...)
}

func degrade(t testing.TB, whole *topology.Topology, faults ...string) *topology.Topology {
	t.Helper()
	got, err := whole.Degrade(gen.Faults(faults...))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var overReroutedRails = []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.AllToAll,
	collective.Broadcast, collective.Reduce, collective.Gather, collective.Scatter}

// rooted is a collective whose root, if it has one, is a rank anywhere.
func rooted(kind collective.Kind, topo *topology.Topology, rng *rand.Rand) collective.Spec {
	spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
	if kind.Rooted() {
		spec.Root = rng.IntN(spec.Ranks)
	}
	return spec
}

// Whatever is lost or slow, plans are right, no faster than any bound, and take as long
// folded as rank by rank.
func TestReroutedRailsOfRandomFaults(t *testing.T) {
	t.Parallel()
	seen, seeds := 0, long.Or[uint64](8, 40)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(20261122, seed))
		nodes := 2 + rng.IntN(5)
		var faults []string
		for range 1 + rng.IntN(3) {
			part := []string{"nic:node%d/nic%d", "nic:node%d/nic%d=0.5", "nic:node%d/nic%d=0.7", "gpu:node%d/gpu%d"}[rng.IntN(4)]
			faults = append(faults, fmt.Sprintf(part, rng.IntN(nodes), rng.IntN(8)))
		}
		whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		topo, err := whole.Degrade(gen.Faults(faults...))
		if err != nil { // the same part twice
			continue
		}
		for _, kind := range overReroutedRails {
			what := fmt.Sprintf("%d nodes without %v, %v", nodes, faults, kind)
			if kind == collective.Broadcast && seed%2 == 0 || kind == collective.Reduce && seed%2 == 1 {
				continue // the one is the other in reverse
			}
			spec := rooted(kind, topo, rng)
			algorithm := "rerouted_rails"
			if seed%2 == 1 && !slices.Contains([]collective.Kind{collective.AllToAll, collective.Gather, collective.Scatter}, kind) {
				algorithm = "rerouted_in_network"
			}
			s, err := planner.Build(topo, spec, algorithm, planner.Options{Slices: 3})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			seen++
			rightAndFolded(t, what, topo, s)
		}
	}
	if seen < 4*int(seeds) {
		t.Errorf("only %d schedules", seen)
	}
}

// rightAndFolded holds a schedule to the checker, to bounds, and to itself rank by rank; and says how many operations are
// played, folded and so.
func rightAndFolded(t *testing.T, what string, topo *topology.Topology, s *schedule.Schedule) (few, all int64) {
	t.Helper()
	if err := schedule.Check(s, topo); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if _, err := schedule.InPlace(s); err != nil && s.Spec.Kind.InPlace() {
		t.Errorf("%s: %v", what, err)
	}
	line := profile(t, "line")
	folded, err := sim.Compile(topo, s, line)
	if err != nil {
		t.Fatal(err)
	}
	flat, err := sim.CompileFlat(topo, s, line)
	if err != nil {
		t.Fatal(err)
	}
	got, err := folded.Time(64 * units.MiB)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := flat.Time(64 * units.MiB); err != nil || got != want {
		t.Errorf("%s: %v, rank by rank %v (%v)", what, got, want, err)
	}
	if b := collective.LowerBound(topo, s.Spec, 64*units.MiB).Time; b > got {
		t.Errorf("%s: %v, bound %v", what, got, b)
	}
	if b := planner.NewBounds(topo, line).Time(s, 64*units.MiB); b > got {
		t.Errorf("%s: %v, bound of the schedule %v", what, got, b)
	}
	return folded.Work(), flat.Work()
}

// Groups of nodes may be of any sizes, and nodes of them lost or degraded: few nodes are then compiled for all.
func TestTieredRails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		nodes  int
		set    []string
		faults []string
		least  int64 // operations for which one is played
	}{
		{"leaf-spine-roce", 30, nil, nil, 8},
		{"leaf-spine-roce", 32, nil, []string{"node:node9"}, 2},
		{"leaf-spine-roce", 16, nil, []string{"nic:node5/nic2"}, 2},
		{"superpod-h100", 45, nil, nil, 8},
		{"superpod-h100", 33, []string{"fabrics.0.levels.0.group=8", "fabrics.0.levels.1.group=2"}, nil, 2}, // one node more
		{"superpod-h100", 41, []string{"fabrics.0.levels.0.group=8", "fabrics.0.levels.1.group=2"}, nil, 2},
	} {
		whole, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, Set: c.set, GPUs: 4})
		if err != nil {
			t.Fatal(err)
		}
		topo := degrade(t, whole.WithoutInNetwork(), c.faults...)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			what := fmt.Sprintf("%d nodes of %s without %v, %v", c.nodes, c.name, c.faults, kind)
			s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "tiered_rails", planner.Options{Slices: 2})
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if folded, flat := rightAndFolded(t, what, topo, s); folded*c.least > flat {
				t.Errorf("%s: %d of %d operations are played", what, folded, flat)
			}
		}
	}
}

// Adapters, GPUs and switches that are lost or slow cost hardly more than what they carried.
func TestReroutedRailsReachTheBound(t *testing.T) {
	t.Parallel()
	for n, c := range []struct {
		faults []string
		share  [8]float64 // of the bound, by collective, at least
	}{
		{[]string{"nic:node2/nic3"}, [8]float64{0.98, 0.98, 0.95, 0.99, 0.95, 0.95, 0.98, 0.98}},
		{[]string{"nic:node2/nic3=0.5"}, [8]float64{0.96, 0.96, 0.95, 0.98, 0.95, 0.95, 0.98, 0.98}},
		{[]string{"nic:node0/nic3"}, [8]float64{4: 0.95, 5: 0.95, 6: 0.98, 7: 0.98}}, // the root's
		{[]string{"gpu:node2/gpu3"}, [8]float64{0.98, 0.98, 0.95, 0.99, 0.95, 0.95, 0.97, 0.97}},
		{[]string{"nic:node2/nic3", "nic:node5/nic6"}, [8]float64{0.88, 0.86, 0.95, 0.95, 0.92, 0.92, 0.98, 0.98}},
		{[]string{"nic:node2/nic3", "nic:node5/nic3"}, [8]float64{0.93, 0.88, 0.95, 0.94, 0.93, 0.95, 0.98, 0.98}},
		{[]string{"switch:leaf0"}, [8]float64{0.97, 0.97, 0.95, 0.98, 0.95, 0.95, 0.92, 0.98}},
	} {
		topo := degraded(t, "superpod-h100", 16, c.faults...)
		scorer := score.New(topo, profile(t, "ideal"))
		for i, kind := range overReroutedRails {
			if !long.Given() && ((i+n)%4 != 0 || len(c.faults) > 1) { // by turns
				continue
			}
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			if c.share[i] == 0 {
				continue
			}
			rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, scorer, planner.PlanOptions{Algorithm: "rerouted_rails"})
			if err != nil {
				t.Fatal(err)
			}
			if share := rows[0].OfBound(); share < c.share[i] || share > 1 {
				t.Errorf("%v, %v: %s reaches %.1f %% of the bound", c.faults, kind, planner.Name(rows[0].Schedule), 100*share)
			}
		}
	}
}

// TestReroutedRailsAtScale plans for 128 GPUs, and in the long tier for 512 and 16,384, among all
// algorithms: of each class of nodes one is compiled and checked.
func TestReroutedRailsAtScale(t *testing.T) {
	t.Parallel()
	for _, nodes := range long.Or([]int{16}, []int{64, 2048}) {
		plansNearTheBound(t, degraded(t, "superpod-h100", nodes, "nic:node2/nic3"))
	}
}

func plansNearTheBound(t *testing.T, topo *topology.Topology) {
	t.Helper()
	scorer := score.New(topo, profile(t, "line"))
	for _, kind := range overReroutedRails {
		switch kind {
		case collective.Reduce, collective.ReduceScatter, collective.AllGather: // parts of others, or these in reverse
			if topo.NumNodes() > 64 || !long.Given() {
				continue
			}
		}
		spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
		o := planner.PlanOptions{Build: planner.Options{Budget: long.Or(planner.DefaultBudget/4, planner.DefaultBudget)}}
		rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, scorer, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.Check(rows[0].Schedule, topo); err != nil {
			t.Error(err)
		}
		if share := rows[0].OfBound(); share < 0.93 || share > 1 || len(rows[0].Prediction.Warnings) > 0 {
			t.Errorf("%v: %s reaches %.1f %% of the bound; %v", kind, planner.Name(rows[0].Schedule), 100*share,
				rows[0].Prediction.Warnings)
		}
	}
}

// Over a thousand nodes whose tiers are not all of one size, plans come near the bound with latencies, too: one flat tier is a candidate
// beside those of groups.
func TestUnevenTiersReachTheBound(t *testing.T) {
	long.Only(t)
	all := []collective.Kind{collective.ReduceScatter, collective.AllReduce, collective.AllGather}
	for _, nodes := range []int{992, 1000, 2000} {
		topo, err := topology.Load(topologies.Source, "leaf-spine-roce", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range all {
			row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "line", "")
			if share := row.OfBound(); share < 0.95 || share > 1 {
				t.Errorf("%d nodes, %v by %s: %.2f %% of the bound", nodes, kind, planner.Name(row.Schedule), 100*share)
			}
		}
	}
}

// Where a network of over a thousand nodes has lost a spine, its nodes are alike in few classes, and plans come as near the bound as on the
// whole machine.
func TestNetworksWithoutASpineReachTheBound(t *testing.T) {
	long.Only(t)
	topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 992})
	if err != nil {
		t.Fatal(err)
	}
	topo = degrade(t, topo.WithoutInNetwork(), "switch:spine3")
	for _, kind := range []collective.Kind{collective.ReduceScatter, collective.AllReduce} {
		row := bestOf(t, topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "ideal", "")
		if share := row.OfBound(); share < 0.99 || share > 1 {
			t.Errorf("%v by %s: %.2f %% of the bound", kind, planner.Name(row.Schedule), 100*share)
		}
	}
}
