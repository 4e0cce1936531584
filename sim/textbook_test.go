package sim_test

import (
	"fmt"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// The cases of every introduction to congestion: n equal flows on one link get a n-th
// each, and take n times as long as one. Times are those of the bytes alone, rounded up
// to a picosecond as units does.
func TestEqualFlowsGetEqualShares(t *testing.T) {
	const size = 126_000_000
	cases := []struct {
		name, topo string
		nodes      int
		pairs      [][2]int
		rate       units.Rate // of the link that they share
		share      int64
	}{
		{"one flow has the PCIe bus to itself", "pcie3-server", 1, [][2]int{{0, 2}}, 15_750_000_000, 1},
		{"four flows over one PCIe switch's uplink", "pcie3-server", 1, [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}}, 15_750_000_000, 4},
		{"four flows between two sockets", "pcie3-server", 1, [][2]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 19_200_000_000, 4},
		{"both directions are free of one another", "pcie3-server", 1, [][2]int{{0, 4}, {4, 0}}, 15_750_000_000, 1},
		{"two GPUs share a NIC", "pcie3-server", 2, [][2]int{{0, 8}, {1, 9}}, 12_500_000_000, 2},
		{"two GPUs with a NIC each share nothing", "pcie3-server", 2, [][2]int{{0, 8}, {2, 10}}, 12_500_000_000, 1},
		{"eight flows into one NIC", "dgx-h100", 9, [][2]int{{8, 0}, {16, 0}, {24, 0}, {32, 0}, {40, 0}, {48, 0}, {56, 0}, {64, 0}},
			50_000_000_000, 8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			topo := shipped(t, c.topo, c.nodes)
			r, err := sim.Run(topo, flows(topo.NumRanks(), c.pairs...), size, named(t, "ideal"), sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := units.Bytes(c.share * size).Over(c.rate); r.Time != want {
				t.Errorf("%v, want %d × %v = %v", r.Time, c.share, units.Bytes(size).Over(c.rate), want)
			}
		})
	}
}

// Short flows leave early and the others speed up: sizes 1, 2 and 3 on one link end
// after 3, 5 and 6 parts. Each is a job of its own.
func TestRatesRiseWhenFlowsLeave(t *testing.T) {
	topo := shipped(t, "dgx-h100", 4)
	var jobs []sim.Job
	var sizes []units.Bytes
	for i := range 3 {
		jobs = append(jobs, sim.Job{Schedule: flows(2, [2]int{0, 1}), Ranks: []int{8 * (i + 1), 0}})
		sizes = append(sizes, units.Bytes(50_000_000*(i+1)))
	}
	r, err := compiled(t, topo, named(t, "ideal"), sim.CompileOptions{}, jobs...).RunJobs(sizes, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []units.Time{3, 5, 6} {
		want *= 1000 * units.Microsecond
		if late := r.Ends[i] - want; late < 0 || late > 100 { // rates are rounded down
			t.Errorf("job %d: %v, want %v, %d ps late", i+1, r.Ends[i], want, late)
		}
	}
}

// leafSpine is 16 nodes of 8 ranks on a leaf-spine network: four nodes under each leaf,
// with a share 1/over of their rate in uplinks.
func leafSpine(t *testing.T, over int) *topology.Topology {
	return shipped(t, "leaf-spine-roce", 16, fmt.Sprintf("models.roce-leaf.ports=%d", 32+32/over),
		fmt.Sprintf("fabrics.0.levels.0.oversubscription=%d", over))
}

const ranksOfALeaf = 32

// Traffic in which every flow crosses the spines gets its share of the bandwidth, and
// traffic under one leaf all of it.
func TestOversubscriptionTakesItsShare(t *testing.T) {
	const size = 100_000_000
	for _, over := range []int{1, 2, 4} {
		topo := leafSpine(t, over)
		n := topo.NumRanks()
		for _, c := range []struct {
			name  string
			to    func(rank int) int
			share int
		}{
			{"to another leaf", func(r int) int { return (r + n/2) % n }, over},
			{"ring over the leaves", func(r int) int { return (r + ranksOfALeaf) % n }, over},
			{"under the leaf", func(r int) int { return r - r%ranksOfALeaf + (r+8)%ranksOfALeaf }, 1},
		} {
			pairs := make([][2]int, n)
			for r := range pairs {
				pairs[r] = [2]int{r, c.to(r)}
			}
			r, err := sim.Run(topo, flows(n, pairs...), size, named(t, "ideal"), sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := units.Bytes(size * c.share).Over(50 * units.GBps); r.Time != want {
				t.Errorf("%d:1, %s: %v, want %v", over, c.name, r.Time, want)
			}
		}
	}
}

// In an all-to-all of 128 ranks, each sends 96 of 127 blocks to other leaves, and 24 to
// other nodes under its own; the uplinks have to carry 32 × 96 blocks with 32/over links.
func TestOversubscribedAllToAll(t *testing.T) {
	for _, over := range []int{1, 2, 4} {
		topo := leafSpine(t, over)
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, "direct", planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		const block = 1_000_000
		r, err := sim.Run(topo, s, 128*block, named(t, "ideal"), sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := units.Bytes(max(120, 96*over) * block).Over(50 * units.GBps)
		t.Logf("%d:1: %v, bound %v", over, r.Time, want)
		if ratio := float64(r.Time) / float64(want); ratio < 1 || ratio > 1.02 {
			t.Errorf("%d:1: %v, want about %v", over, r.Time, want)
		}
	}
}

// An adapter that is handed a message each gap needs n − 1 gaps for n small ones; one alone, and large ones, take what they
// took without (LogGP).
func TestAdaptersTakeOneMessageAGap(t *testing.T) {
	const gap, alpha = 2 * units.Microsecond, 5 * units.Microsecond
	topo := leafSpine(t, 1)
	n := topo.NumRanks()
	time := func(gap units.Time, size units.Bytes, to ...int) units.Time {
		pairs := make([][2]int, len(to))
		for i, r := range to {
			pairs[i] = [2]int{0, r}
		}
		r, err := sim.Run(topo, flows(n, pairs...), size, &cost.Profile{Curves: []cost.Curve{{Medium: "any", Protocol: "any", Gap: gap,
			Segments: []cost.Segment{{Alpha: alpha}}}}}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Time
	}
	others := []int{8, 16, 24, 32, 40, 48, 56, 64}
	for _, size := range []units.Bytes{1, units.KiB, 32 * units.KiB} {
		if plain, got := time(0, size, 8), time(gap, size, 8); got < plain-1 || got > plain+1 {
			t.Errorf("%v alone takes %v, without gaps %v", size, got, plain)
		}
		alone, all := time(gap, size, 8), time(gap, size, others...)
		if want := alone + 7*gap; all < want-8 || all > want+8 {
			t.Errorf("8 times %v take %v, one %v, want %v", size, all, alone, want)
		}
	}
	if plain, got := time(0, units.MiB, others...), time(gap, units.MiB, others...); got != plain {
		t.Errorf("8 MiB take %v, without gaps %v", got, plain)
	}
}
