package mscclxml

import (
	"cmp"
	"fmt"
	"io"
	"testing"

	"railyard/internal/long"
	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Imports take about as long as the schedules that they were exported from: what is a phase of
// a schedule has thread blocks of its own. Where they do not, a thread block of the file does two
// things of a slice that in the schedule overlap with those of others.
func TestImportsTakeAsLongAsTheirPlans(t *testing.T) {
	for i, c := range []struct {
		algo   string
		kind   collective.Kind
		nodes  int
		slices int
		most   float64
		box    string // "": dgx-h100
	}{
		{"ring", collective.AllReduce, 1, 1, 1.01, ""},
		{"ring", collective.AllReduce, 2, 8, 1.01, ""},
		{"ring", collective.Broadcast, 2, 8, 1.01, ""},
		{"ring", collective.Broadcast, 2, 32, 1.02, ""},
		{"alternating_ring", collective.Broadcast, 2, 32, 1.05, ""},
		{"double_binary_tree", collective.Broadcast, 1, 1, 1.01, ""},
		{"double_binary_tree", collective.Broadcast, 1, 32, 1.01, ""},
		{"double_binary_tree", collective.AllReduce, 1, 32, 1.01, ""},
		{"double_binary_tree", collective.AllReduce, 2, 32, 1.01, ""},
		{"knomial", collective.AllReduce, 1, 32, 1.01, ""},
		{"two_shot", collective.AllReduce, 1, 32, 1.01, ""},
		{"direct", collective.AllGather, 2, 8, 1.01, ""},
		{"hierarchical_ring", collective.AllGather, 2, 32, 1.07, ""},
		{"hierarchical_tree", collective.Broadcast, 2, 32, 1.05, ""},
		{"hierarchical_tree", collective.AllReduce, 2, 32, 1.01, ""},
		{"hierarchical_direct", collective.AllReduce, 2, 32, 1.01, ""},
		{"hierarchical_two_shot", collective.AllGather, 2, 1, 1.01, ""},
		{"hierarchical_two_shot", collective.AllReduce, 2, 32, 1.01, ""},
		{"packed_trees", collective.AllReduce, 2, 1, 1.05, ""},
		{"packed_trees", collective.AllReduce, 1, 1, 1.30, "dgx1-v100"},
		{"packed_trees", collective.AllReduce, 1, 32, 1.40, "dgx1-v100"},
		{"packed_trees", collective.AllReduce, 1, 1, 1.10, "mi250x-node"},
		{"packed_trees", collective.AllReduce, 1, 32, 1.60, "mi250x-node"},
		{"packed_trees", collective.Reduce, 1, 32, 1.01, "mi250x-node"},
		{"packed_trees", collective.Broadcast, 1, 32, 1.55, "mi250x-node"},
	} {
		if !long.Every(3, i) {
			continue
		}
		box := cmp.Or(c.box, "dgx-h100")
		t.Run(fmt.Sprintf("%s/%s/%v/%d/%d", box, c.algo, c.kind, c.nodes, c.slices), func(t *testing.T) {
			f := format
			f.Import = func(r io.Reader) (*schedule.Schedule, error) { return Import(r, c.slices, nil) }
			o := topology.Options{Nodes: c.nodes}
			ratio := ratioOf(t, f, interoptest.InSlices(t, box, o, c.algo, c.kind, c.slices), box, o)
			t.Logf("%.3f", ratio)
			if ratio > c.most || ratio < 0.9 {
				t.Errorf("the import takes %.3f times as long", ratio)
			}
		})
	}
}

// TestSlicedRoundTrip has everything that the planner makes come back as a pipeline.
func TestSlicedRoundTrip(t *testing.T) {
	f := format
	f.Import = func(r io.Reader) (*schedule.Schedule, error) { return Import(r, 3, nil) }
	interoptest.RoundTrips(t, f)
}
