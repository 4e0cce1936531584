package sim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// same fails unless the folded plan gives what the flat one gives, link by link.
func same(t *testing.T, topo *topology.Topology, s *schedule.Schedule, size units.Bytes, p *cost.Profile) {
	t.Helper()
	folded, err := sim.Run(topo, s, size, p, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	flat, err := sim.CompileFlat(topo, s, p)
	if err != nil {
		t.Fatal(err)
	}
	want, err := flat.Run(size, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, folded, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Errorf("%s, %v by %s ×%d, %v, %s: folded differs (-flat +folded)\n%s", topo.Name(), s.Spec.Kind, s.Algorithm,
			s.Channels[0].Slices, size, p.Name, d)
	}
}

func TestFoldedIsFlatOnRandomTopologies(t *testing.T) {
	eachCase(t, long.Or[int64](5, 25), func(topo *topology.Topology, s *schedule.Schedule, size units.Bytes) {
		same(t, topo, s, size, line(t))
		same(t, topo, s, size, gen.Curved())
	})
}

// The long tier includes the topologies of 160 and 256 GPUs.
func TestFoldedIsFlatOnShippedTopologies(t *testing.T) {
	limit := long.Or(8, 256)
	for i, name := range topologies.Names() {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			if topo.NumRanks() > limit {
				t.Skipf("%d ranks: go test -long", topo.NumRanks())
			}
			for k, kind := range collective.All() {
				if !long.Every(2, i+k) {
					continue
				}
				for _, s := range shippedCandidates(t, topo, kind) {
					same(t, topo, s, 3*units.MiB+17, gen.Curved())
				}
			}
		})
	}
}

// Where there is a root, ranks are alike by what leads to them, whatever they hand on to.
func TestFoldedIsFlatBelowRoots(t *testing.T) {
	for _, nodes := range long.Or([]int{5, 16}, []int{5, 16, 40}) {
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.Broadcast, collective.Reduce} {
			for _, algo := range []string{"hierarchical_tree", "double_binary_tree", "hierarchical_ring", "knomial"} {
				s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks(), Root: 11}, algo,
					planner.Options{Slices: 6})
				if err != nil {
					t.Fatal(err)
				}
				same(t, topo, s, 3*units.MiB+17, gen.Curved())
				same(t, topo, s, units.GiB, line(t))
			}
		}
	}
}

// Routes to and from a root have their way between leaves in common, over three levels of
// switches, those of near nodes have none; a slow link limits them, lost parts make them uneven.
// The flat plan has whole routes.
func TestFoldedIsFlatOverTrunks(t *testing.T) {
	for _, lost := range long.Or([]string{"link:spine3--core5"},
		[]string{"", "link:spine0->leaf0=0.01", "link:spine3--core5", "nic:node150/nic2"}) {
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: 160})
		if err != nil {
			t.Fatal(err)
		}
		if lost != "" {
			if topo, err = topo.Degrade(gen.Faults(lost)); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range []collective.Kind{collective.Gather, collective.Scatter} {
			for _, algo := range []string{"hierarchical_direct", "direct"} {
				s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks(), Root: 11}, algo,
					planner.Options{Slices: 2})
				if err != nil {
					t.Fatal(err)
				}
				same(t, topo, s, units.GiB+17, line(t))
			}
		}
	}
}

// Over two levels of switches, what a rank's team sends to a rank elsewhere and what comes back to the rank itself
// load links of one orbit unequally.
func TestFoldedIsFlatInNetwork(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "nvlink-network-256", topology.Options{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
		s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "in_network", planner.Options{Slices: 3})
		if err != nil {
			t.Fatal(err)
		}
		same(t, topo, s, 3*units.MiB+17, gen.Curved())
		same(t, topo, s, units.GiB, line(t))
		plan, err := sim.Compile(topo, s, line(t))
		if err != nil {
			t.Fatal(err)
		}
		flat, err := sim.CompileFlat(topo, s, line(t))
		if err != nil {
			t.Fatal(err)
		}
		if 4*plan.Work() > flat.Work() {
			t.Errorf("%v: %d operations played of %d", kind, plan.Work(), flat.Work())
		}
	}
}

// Equal counts make an all_to_allv an all_to_all; a single one that differs does not.
func TestFoldedIsFlatByCounts(t *testing.T) {
	for _, name := range []string{"superpod-h100", "dgx-a100"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 6})
		if err != nil {
			t.Fatal(err)
		}
		n := topo.NumRanks()
		for _, last := range []int64{3, 30, 0} {
			counts := make([][]int64, n)
			for i := range counts {
				counts[i] = slices.Repeat([]int64{3}, n)
			}
			counts[n-1][0] = last
			for _, algo := range []string{"direct", "hierarchical_all_to_all"} {
				s, err := planner.Build(topo, collective.Spec{Kind: collective.AllToAllV, Ranks: n, Counts: counts}, algo,
					planner.Options{Slices: 2})
				if err != nil {
					t.Fatal(err)
				}
				same(t, topo, s, 3*units.MiB+17, gen.Curved())
			}
		}
	}
}

// shippedCandidates are all candidates of few messages: flat plans of all are slow.
func shippedCandidates(t *testing.T, topo *topology.Topology, kind collective.Kind) []*schedule.Schedule {
	spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
	if kind == collective.AllToAllV {
		return nil // counts decide; random topologies have uniform ones, too
	}
	list, err := planner.Candidates(topo, spec, "", planner.Options{})
	if err != nil {
		t.Logf("%s %v: %v", topo.Name(), kind, err)
	}
	var out []*schedule.Schedule
	for _, s := range list {
		if s.Channels[0].Depth() <= 4 {
			out = append(out, s)
		}
	}
	return out
}

// A plan with other slices, in another protocol, is what compiling the schedule with them gives.
func TestReslicedIsCompiled(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 2})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}
	profile := gen.Curved()
	for _, protocol := range []schedule.Protocol{schedule.LL, schedule.LL128} {
		profile.Curves = append(profile.Curves, cost.Curve{Medium: "any", Protocol: string(protocol),
			Segments: []cost.Segment{{Alpha: 400 * units.Nanosecond, Efficiency: 0.5}}})
	}
	// the last in channels of unlike slices
	for _, algo := range []string{"hierarchical_ring", "packed_trees", "double_binary_tree", "hierarchical_two_shot"} {
		first, err := planner.Build(topo, spec, algo, planner.Options{Slices: 2})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := sim.Compile(topo, first, profile)
		if err != nil {
			t.Fatal(err)
		}
		for n, protocol := range map[int]schedule.Protocol{4: schedule.Simple, 7: schedule.LL128, 32: schedule.LL} {
			s, err := planner.Build(topo, spec, algo, planner.Options{Slices: n, Protocol: protocol})
			if err != nil {
				t.Fatal(err)
			}
			resliced, ok := plan.Resliced(s)
			if !ok {
				t.Fatalf("%s cannot be resliced", algo)
			}
			got, err := resliced.Run(5*units.MiB, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := sim.Run(topo, s, 5*units.MiB, profile, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s ×%d: (-compiled +resliced)\n%s", algo, n, d)
			}
		}
	}
}

// Loops take the time of what they repeat.
func TestLoopedIsFlat(t *testing.T) {
	var graphs []*topology.Topology
	for _, name := range []string{"mi250x-node", "dgx1-v100", "../planner/testdata/mesh5x5.yaml", "../planner/testdata/star8.yaml"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, topo)
	}
	for seed := range int64(4) {
		graphs = append(graphs, gen.Uneven(seed))
	}
	looped := 0
	for _, topo := range graphs {
		for _, kind := range []collective.Kind{collective.AllGather, collective.AllReduce, collective.Reduce} {
			s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: topo.NumRanks()}, "packed_trees", planner.Options{Slices: 150})
			if planner.NotApplicable(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, loop := schedule.NewExpander(s).AppendOnce(nil, 0, 0, 0); loop.Times < 2 {
				continue
			}
			looped++
			same(t, topo, s, 3*units.MiB+17, gen.Curved())
			same(t, topo, s, units.GiB, line(t))
		}
	}
	if looped < 10 {
		t.Errorf("only %d schedules have loops", looped)
	}
}

// Groups of nodes of any sizes fold, also where so many links are one that their uses together are more than 32 bits count:
// nothing is compiled for each of the 16,000 ranks.
func TestManyNodesFold(t *testing.T) {
	for _, nodes := range []int{1000, 2000} {
		topo, err := topology.Load(topologies.Source, "superpod-h100", topology.Options{Nodes: nodes})
		if err != nil {
			t.Fatal(err)
		}
		spec := collective.Spec{Kind: collective.AllGather, Ranks: topo.NumRanks()}
		s, err := planner.Build(topo, spec, "hierarchical_two_shot", planner.Options{Slices: 4})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.CompileJobs(topo, []sim.Job{{Schedule: s}}, line(t), sim.CompileOptions{Connections: 20 * topo.NumRanks()}); err != nil {
			t.Errorf("%d nodes: %v", nodes, err)
		}
	}
}
