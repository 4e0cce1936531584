package cuda

import (
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

func TestSharedGPUs(t *testing.T) {
	for _, c := range []struct{ share, room int }{{1, 264}, {2, 66}, {4, 33}, {3, 44}} {
		if blocks := MaxBlocks(264, c.share); blocks != c.room {
			t.Errorf("%d ranks on a GPU: room for %d blocks, want %d", c.share, blocks, c.room)
		}
	}
}

// TestShared: whatever is fastest for ranks with GPUs of their own fits where two, three or four share each, and is left as it is where
// none do. An H200's multiprocessors hold one block of each kernel at least.
func TestShared(t *testing.T) {
	const multiprocessors = 132
	h200, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.Broadcast, collective.AllToAll} {
		for size := int64(1 << 10); size <= 4<<30; size *= 4 {
			c, ok := Choose(h200, h200.Fastest().GPU, kind, collective.Float32, 4, size)
			if !ok {
				t.Fatalf("%v, %d bytes: no choice", kind, size)
			}
			s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: 4}, c.Algorithm, planner.Options{Slices: c.Slices})
			if err != nil {
				t.Fatal(err)
			}
			alone := c.Method.Fitted(s, size, multiprocessors)
			if got := alone.Shared(s, multiprocessors, 1); got != alone {
				t.Errorf("%v, %d bytes: %+v for ranks alone, want %+v", kind, size, got, alone)
			}
			for share := 2; share <= 4; share++ {
				how := alone.Shared(s, multiprocessors, share)
				o, blocks := block.Options{Count: size / 4, Size: 4, Instances: how.Blocks, Mechanism: how.Mechanism}, 0
				if how.Mechanism == block.Copies {
					var p *block.Copying
					if p, err = block.CompileCopies(s, o); err == nil {
						blocks = p.Blocks
					}
				} else {
					var p *block.Program
					if p, err = block.Compile(s, o); err == nil {
						blocks = p.Blocks()
					}
				}
				if err != nil || blocks < 1 || blocks > MaxBlocks(multiprocessors, share) {
					t.Errorf("%v, %d bytes, %d ranks on a GPU: %d blocks by %+v, %v", kind, size, share, blocks, how, err)
				}
			}
		}
	}
}
