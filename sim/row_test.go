package sim_test

import (
	"testing"

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

// rowCosts are of operations in a row.
func rowCosts(launch, alpha, received, inside units.Time) *cost.Profile {
	return &cost.Profile{Curves: []cost.Curve{
		{Medium: "network", Protocol: "simple", Ahead: true, Row: true, Launch: launch, Receive: received,
			Segments: []cost.Segment{{Alpha: alpha, Efficiency: 1}}},
		{Medium: "nvlink", Protocol: "simple", Segments: []cost.Segment{{Alpha: inside, Efficiency: 1}}}}}
}

// TestRow: of operations in a row each takes what its ranks wait for: nobody for the root of a broadcast, which runs ahead; one message
// after the other where the second answers the first, or where programs combine one before they take the next; and bytes where they
// take longest.
func TestRow(t *testing.T) {
	const launch, alpha, received, inside = 3 * units.Microsecond, 20 * units.Microsecond, 2 * units.Microsecond, 5 * units.Microsecond
	for _, c := range []struct {
		nodes, gpus int
		kind        collective.Kind
		algo        string
		size        units.Bytes
		want        units.Time
	}{
		{2, 1, collective.Broadcast, "ring", 4, launch + received},
		{2, 1, collective.Broadcast, "ring", 50_000_000, units.Millisecond}, // at 50 GB/s
		{2, 1, collective.AllGather, "ring", 4, launch + alpha},
		{2, 1, collective.AllReduce, "double_binary_tree", 4, launch + 2*alpha},
		{2, 1, collective.AllReduce, "ring", 4, launch + 2*alpha},
		{4, 1, collective.Gather, "direct", 4, launch + received}, // side by side
		{4, 1, collective.Reduce, "quadrinomial", 4, launch + 3*received},
		{4, 1, collective.Broadcast, "ring", 4, launch + 2*received}, // ranks in between receive and send on
		// A ring with two slow hops of four: rank 1 has waited for one of them when it begins the next operation, rank 0 for both.
		{2, 2, collective.AllGather, "ring", 4, launch + 3*(alpha+inside)/2},
	} {
		topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: c.nodes, GPUs: c.gpus})
		if err != nil {
			t.Fatal(err)
		}
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, c.algo,
			planner.Options{Channels: 1, Protocol: schedule.Simple})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(topo, s, c.size, rowCosts(launch, alpha, received, inside), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if off := float64(r.Time)/float64(c.want) - 1; off > 0.02 || off < -0.02 {
			t.Errorf("%v by %s on %d × %d: %v, want %v", c.kind, c.algo, c.nodes, c.gpus, r.Time, c.want)
		}
	}
}

// TestSustained: where a line lets bursts go faster, operations in a row are as far apart as their bytes take of what it sustains, where they
// would be nearer to one another, and where each waits for messages as far as these take; played once, they go no faster than it.
func TestSustained(t *testing.T) {
	const launch, alpha, sustained = 3 * units.Microsecond, 20 * units.Microsecond, 1e9
	p := rowCosts(launch, alpha, 0, 0)
	p.Curves[0].Sustained = sustained
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind collective.Kind
		size units.Bytes
		row  units.Time
		once units.Time
	}{
		{collective.Broadcast, 100_000, 100 * units.Microsecond, alpha + 100*units.Microsecond},
		{collective.AllGather, 20_000, launch + alpha, alpha + 10*units.Microsecond}, // 10 µs of bytes each way, hidden in α
		{collective.AllGather, 200_000, 100 * units.Microsecond, alpha + 100*units.Microsecond},
	} {
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: 2}, "ring", planner.Options{Channels: 1, Protocol: schedule.Simple})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range []bool{true, false} {
			want := c.row
			if p.Curves[0].Row = row; !row {
				want = c.once
			}
			plan, err := sim.Compile(topo, s, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.Time(c.size)
			if err != nil {
				t.Fatal(err)
			}
			if off := float64(got)/float64(want) - 1; off > 0.03 || off < -0.03 {
				t.Errorf("%v of %v, in a row %v: %v, want %v", c.kind, c.size, row, got, want)
			}
			split, err := plan.Split(c.size, got)
			if err != nil || split.Contention > got/50 { // messages of one rank each way meet no others
				t.Errorf("%v of %v, in a row %v: %+v, %v", c.kind, c.size, row, split, err)
			}
			if least := plan.LowerEstimate(c.size); least > got {
				t.Errorf("%v of %v, in a row %v: estimated at %v, takes %v", c.kind, c.size, row, least, got)
			}
		}
	}
}

// TestRowFolded: plans in which some lanes stand for others take as long in a row as those where none does.
func TestRowFolded(t *testing.T) {
	p := rowCosts(3*units.Microsecond, 20*units.Microsecond, 2*units.Microsecond, 5*units.Microsecond)
	for _, nodes := range long.Or([]int{2}, []int{2, 3}) {
		topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: nodes, GPUs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.Broadcast, collective.Gather, collective.Reduce, collective.AllGather,
			collective.AllToAll, collective.AllReduce} {
			list, err := planner.Candidates(topo, collective.Spec{Kind: kind, Ranks: 2 * nodes}, "", planner.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if s.Channels[0].Slices > 4 || len(s.Channels) > 2 { // which take long
					continue
				}
				folded, err := sim.Compile(topo, s, p)
				if err != nil {
					t.Fatal(err)
				}
				whole, err := sim.CompileFlat(topo, s, p)
				if err != nil {
					t.Fatal(err)
				}
				for _, size := range []units.Bytes{units.KiB, 1 << 20} {
					a, errA := folded.Time(size)
					b, errB := whole.Time(size)
					if errA != nil || errB != nil || a != b {
						t.Errorf("%v by %s of %v on %d nodes: %v folded, %v flat (%v, %v)", kind, planner.Name(s), size, nodes, a, b, errA, errB)
					}
				}
			}
		}
	}
}

// TestRowCounts: what is said of messages is of one operation, however many are played.
func TestRowCounts(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := rowCosts(3*units.Microsecond, 20*units.Microsecond, 2*units.Microsecond, 5*units.Microsecond)
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, "ring",
		planner.Options{Channels: 2, Slices: 4, Protocol: schedule.Simple})
	if err != nil {
		t.Fatal(err)
	}
	const want = 4 * 6 * 4 * 2 // ranks, steps, slices, channels
	r, err := sim.Run(topo, s, units.MiB, p, sim.Options{})
	if err != nil || r.Sends != want {
		t.Errorf("%d messages (%v), want %d", r.Sends, err, want)
	}
}
