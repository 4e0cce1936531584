package main

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

func TestReadCounts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       [][]int64
		size       units.Bytes // in float32
		err        string
	}{
		{name: "one rank", text: "5\n", want: [][]int64{{5}}, size: 20},
		{name: "zero rows", text: "0,0\n1,2\n", want: [][]int64{{0, 0}, {1, 2}}, size: 12},
		{name: "zero column", text: "0,3\n0,0\n", want: [][]int64{{0, 3}, {0, 0}}, size: 12},
		{name: "sizes, comments, blanks", text: "# from, to\n 1K, 0\n\n2, 1M\n# end", want: [][]int64{{1024, 0}, {2, 1 << 20}},
			size: 4 * (2 + 1<<20)},
		{name: "the largest", text: "1099511627776", want: [][]int64{{1 << 40}}, size: 1 << 42},
		{name: "nothing", text: "# nothing\n", err: "c.csv: there is no count in it"},
		{name: "all zero", text: "0,0\n0,0\n", err: "c.csv: all counts are zero: there is nothing to send"},
		{name: "a word", text: "1,2\n3,x\n", err: `c.csv:2:3: "x" is not a count`},
		{name: "a header", text: "a,b\n1,2\n3,4\n", err: `c.csv:1:1: "a" is not a count`},
		{name: "an empty field", text: "1,2\n3,\n", err: `c.csv:2:3: "" is not a count`},
		{name: "negative", text: "1,-2\n3,4\n", err: `c.csv:1:3: "-2" is not a count`},
		{name: "not a number", text: "NaN\n", err: "is not a count"},
		{name: "ambiguous", text: "1MB\n", err: "is not a count"},
		{name: "too large", text: "1,2\n\n3,2048G\n", err: "c.csv:3: rank 1 sends 2199023255552 to rank 1: more than 2^40"},
		{name: "a short row", text: "1,2,3\n\n4,5\n", err: "c.csv:3: 2 counts, but 3 in line 1"},
		{name: "a row too many", text: "1,2\n3,4\n5,6\n", err: "c.csv:3: a row too many: the 2 before have 2 counts each"},
		{name: "rows missing", text: "1,2,3\n4,5,6\n", err: "c.csv:2: 2 rows of 3 counts"},
		{name: "a quote", text: "1,2\n3,\"4\n", err: "c.csv:"},
	} {
		m := &countMatrix{file: "c.csv", element: 4}
		err := m.read(strings.NewReader(c.text))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		case err != nil || !reflect.DeepEqual(m.counts, c.want) || m.size() != c.size:
			t.Errorf("%s: %v, %v, size %v", c.name, m.counts, err, m.size())
		}
	}
}

// randomCounts are skewed, sparse or degenerate.
func randomCounts(rng *rand.Rand, n int) [][]int64 {
	out := make([][]int64, n)
	some := rng.IntN(10)
	for i := range out {
		out[i] = make([]int64, n)
		for j := range out[i] {
			if rng.IntN(10) >= some {
				out[i][j] = 1 << rng.IntN(20)
			}
		}
		if rng.IntN(4) == 0 {
			clear(out[i])
		}
	}
	out[rng.IntN(n)][rng.IntN(n)]++
	return out
}

// TestPlansOfAnyCounts: whatever ranks send one another, the planned schedule is right,
// and neither bound is above its time.
func TestPlansOfAnyCounts(t *testing.T) {
	profile := cost.Line
	for i, c := range []struct {
		name        string
		nodes, gpus int
	}{{"dgx1-v100", 1, 8}, {"dgx-h100", 1, 5}, {"dgx-h100", 2, 3}, {"pcie5-server", 1, 4}, {"superpod-h100", 4, 2}} {
		topo, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: c.nodes, GPUs: c.gpus})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		for range long.Or(3, 25) {
			spec := collective.Spec{Kind: collective.AllToAllV, Ranks: topo.NumRanks(), Counts: randomCounts(rng, topo.NumRanks())}
			sizes := []units.Bytes{units.Bytes(1 + rng.IntN(100)), units.Bytes(spec.LargestRow()), units.Bytes(spec.LargestRow()) * 64}
			slices.Sort(sizes)
			rows, err := planner.Plan(topo, spec, sizes, score.New(topo, profile), planner.PlanOptions{})
			if err != nil {
				t.Fatalf("%v: %v", spec.Counts, err)
			}
			latency := collective.LatencyBound(topo, spec, (*topology.Class).Full).Time
			for _, r := range rows {
				if r.Bound.Time > r.Prediction.Time || latency > r.Prediction.Time {
					t.Errorf("%s, %v of %v: %v by %s, bounds %v (%s) and %v", c.name, r.Size, spec.Counts, r.Prediction.Time,
						planner.Name(r.Schedule), r.Bound.Time, r.Bound.Cut, latency)
				}
			}
			if err := schedule.Check(rows[0].Schedule, topo); err != nil {
				t.Errorf("%v: %v", spec.Counts, err)
			}
		}
	}
}

// TestUniformCountsAreAllToAll: with equal counts, the bounds are those of all_to_all.
func TestUniformCountsAreAllToAll(t *testing.T) {
	for _, name := range []string{"dgx1-v100", "dgx-h100", "leaf-spine-roce"} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := topo.NumRanks()
		v := collective.Spec{Kind: collective.AllToAllV, Ranks: n, Counts: collective.UniformCounts(n)}
		plain := collective.Spec{Kind: collective.AllToAll, Ranks: n}
		for _, size := range []units.Bytes{units.MiB, units.GiB} {
			a, b := collective.LowerBound(topo, v, size), collective.LowerBound(topo, plain, size)
			if fmt.Sprintf("%.9g", float64(a.Time)) != fmt.Sprintf("%.9g", float64(b.Time)) || a.Cut != b.Cut {
				t.Errorf("%s, %v: %v (%s), all_to_all %v (%s)", name, size, a.Time, a.Cut, b.Time, b.Cut)
			}
		}
		if a, b := collective.LatencyBound(topo, v, (*topology.Class).Full).Time, collective.LatencyBound(topo, plain,
			(*topology.Class).Full).Time; a < b {
			t.Errorf("%s: %v, all_to_all %v", name, a, b)
		}
	}
}
