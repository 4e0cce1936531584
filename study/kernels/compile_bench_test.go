package kernels

import (
	"testing"

	"railyard/internal/gen"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// BenchmarkCompilePushed makes the block programs of packed trees in 32 channels of four slices, 125,000 operations a rank.
func BenchmarkCompilePushed(b *testing.B) {
	whole, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{})
	if err != nil {
		b.Fatal(err)
	}
	t, err := whole.Degrade(gen.Faults("link:gpu3--nvswitch0#1"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := planner.Build(t, collective.Spec{Kind: collective.AllReduce, Ranks: 8}, "packed_trees", planner.Options{Slices: 4, Channels: 32})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := block.Compile(s, block.Options{Count: 1 << 28, Size: 4, Instances: 1, Mechanism: block.Push}); err != nil {
			b.Fatal(err)
		}
	}
}
