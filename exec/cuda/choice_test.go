package cuda

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestChoicesCompile: whatever the table says for a size can be planned, proved and
// compiled, and fits on an H200 at once.
func TestChoicesCompile(t *testing.T) {
	const multiprocessors = 132
	h200, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := Choose(h200, "NVIDIA A100-SXM4-80GB", collective.AllReduce, collective.Float32, 2, 1024); ok {
		t.Error("other GPUs take what was fastest on these")
	}
	for _, gpus := range []int{2, 3, 4} {
		topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: gpus})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
			collective.AllToAll} {
			for size := int64(1 << 10); size <= 4<<30; size *= 2 {
				c, ok := Choose(h200, h200.Fastest().GPU, kind, collective.Float32, gpus, size)
				if !ok {
					t.Fatalf("%v on %d GPUs, %d bytes: no choice", kind, gpus, size)
				}
				s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: gpus}, c.Algorithm, planner.Options{Slices: c.Slices})
				if err != nil {
					t.Fatal(err)
				}
				if err := schedule.Check(s, topo); err != nil {
					t.Fatal(err)
				}
				if whole, _ := Choose(h200, h200.Fastest().GPU, kind, collective.Int32, gpus, size); whole.Method.Mechanism == block.Words {
					t.Errorf("%v on %d GPUs, %d bytes: whole numbers in words", kind, gpus, size)
				}
				how := c.Method.Fitted(s, size, multiprocessors)
				o := block.Options{Count: size / 4, Size: 4, Instances: how.Blocks, Mechanism: how.Mechanism}
				if how.Mechanism == block.Copies {
					_, err = block.CompileCopies(s, o)
				} else {
					var p *block.Program
					if p, err = block.Compile(s, o); err == nil && p.Blocks() > multiprocessors {
						t.Errorf("%v on %d GPUs, %d bytes: %d blocks", kind, gpus, size, p.Blocks())
					}
				}
				if err != nil {
					t.Errorf("%v on %d GPUs, %d bytes: %v", kind, gpus, size, err)
				}
			}
		}
	}
}

// TestPassesOn: who receives a part of the root's input and sends it on does so in one pass.
func TestPassesOn(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind collective.Kind
		algo string
		want bool
	}{
		{collective.Broadcast, "scatter_exchange", true},
		{collective.Broadcast, "direct", false},
		{collective.AllReduce, "two_shot", false},
		{collective.AllGather, "direct", false},
	} {
		s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: 4}, c.algo, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := block.PassesOn(s); got != c.want {
			t.Errorf("%v %s: %v", c.kind, c.algo, got)
		}
	}
}

// TestStreams: streams are those that remain of as many as links have, halved until kernels fit, of which a schedule has work for some.
func TestStreams(t *testing.T) {
	for _, c := range []struct{ slices, share, want int }{
		{1, 1, 1}, {3, 1, 3}, {8, 1, 4}, {3, 2, 2}, {8, 2, 2}, {3, 4, 1}, {8, 100, 1},
	} {
		s := &schedule.Schedule{Channels: []schedule.Channel{{Share: 1, Slices: c.slices, Chunks: 1}}}
		if got := Streams(s, 132, c.share); got != c.want {
			t.Errorf("%d slices, %d ranks a GPU: %d streams, want %d", c.slices, c.share, got, c.want)
		}
	}
}
