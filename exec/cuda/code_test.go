//go:build cgo

package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestWhatKernelsKnow: kernels of both kinds are compiled for a type, a reduction and a number of threads, and have
// delays only where they are asked for; an interpreter has its rank's forms alone.
func TestWhatKernelsKnow(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 3}, "direct", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := block.Compile(s, block.Options{Count: 1 << 10, Size: 4, Instances: 1, Mechanism: block.Lines})
	if err != nil {
		t.Fatal(err)
	}
	for _, specialise := range []bool{false, true} {
		for _, jitter := range []time.Duration{0, time.Microsecond} {
			cfg := Config{Count: 1 << 10, DType: collective.BFloat16, Op: collective.Max, Jitter: jitter}
			c, err := codeOf(p, cfg, Method{Mechanism: block.Lines, Blocks: 1, Threads: MaxThreads, Specialise: specialise})
			if err != nil {
				t.Fatal(err)
			}
			options := c.source(0).options
			for _, option := range []string{"-DT_BFLOAT16", "-DR_MAX", "-DTHREADS=1024"} {
				if !slices.Contains(options, option) {
					t.Errorf("specialised %v: no %s in %q", specialise, option, options)
				}
			}
			if got := slices.Contains(options, "-DJITTER"); got != (jitter > 0) {
				t.Errorf("specialised %v, delays of %v: compiled in %v", specialise, jitter, got)
			}
			if specialise {
				continue
			}
			for kind, rank := range map[block.Kind]int{block.LinePut: 0, block.LineReduce: 1} {
				for r := range 2 {
					if got := strings.Contains(c.source(r).extra["forms.cuh"], fmt.Sprintf("h.kind = %d,", kind)); got != (r == rank) {
						t.Errorf("the interpreter of rank %d has operations of kind %d: %v", r, kind, got)
					}
				}
			}
		}
	}
}

// TestLongPlansAreInterpreted: a plan with many channels has code of its own for none of its operations, however it is asked for.
func TestLongPlansAreInterpreted(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for channels, special := range map[int]bool{1: true, 2: true, 8: false, 16: false} {
		s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 2}, "ring", planner.Options{Channels: channels})
		if err != nil {
			t.Fatal(err)
		}
		p, err := block.Compile(s, block.Options{Count: 1 << 10, Size: 4, Instances: 4, Mechanism: block.Pull})
		if err != nil {
			t.Fatal(err)
		}
		c, err := codeOf(p, Config{Count: 1 << 10}, Method{Mechanism: block.Pull, Blocks: 4, Threads: 512, Specialise: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(c.source(0).options, "-DSPECIALISED"); got != special {
			t.Errorf("%d channels, %d operations: specialised %v", channels, p.Operations(), got)
		}
	}
}

// TestWholeNumbersInWords: whatever runs a schedule refuses them, as one whole number says that nothing has arrived.
func TestWholeNumbersInWords(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.ReduceScatter, Ranks: 4}, "rail_shares", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{reach: make([]*regions, 2), gpus: make([]*gpu, 1),
		others: &others{Processes: Processes{Size: 4}, nodes: [][]int{{0, 1}, {2, 3}}}}
	for _, how := range []Method{{Streams: 2, kernel: BlocksOfStages}, {Proxied: true}} {
		for _, c := range []struct {
			t collective.DType
			m block.Mechanism
			x string
		}{{collective.Int32, block.Words, "floating-point"}, {collective.Int32, block.WordsPush, "floating-point"},
			{collective.Int32, block.Pull, ""}, {collective.Float32, block.Words, ""}} {
			how.Mechanism, how.Threads = c.m, 64
			_, err := n.compile(s, Config{Count: 1604, DType: c.t}, how)
			if (err == nil) != (c.x == "") || err != nil && !strings.Contains(err.Error(), c.x) {
				t.Errorf("%v in %v, by proxy %v: %v", c.t, c.m, how.Proxied, err)
			}
		}
	}
}

// TestShrink: stages take fewer streams, then fewer blocks where these are left open, until nothing is left to give.
func TestShrink(t *testing.T) {
	for _, c := range []struct {
		how   Method
		steps int
	}{{Method{Streams: 4, kernel: 64}, 8}, {Method{Streams: 4, kernel: 64, Blocks: 3}, 2}, {Method{Streams: 1, kernel: 1}, 0}} {
		how, steps := c.how, 0
		for ; how.shrink(); steps++ {
			if how.Streams > 1 && how.kernel != c.how.kernel {
				t.Errorf("%+v: blocks before streams", how)
			}
		}
		if steps != c.steps || how.Streams != 1 {
			t.Errorf("%+v: %d steps to %+v", c.how, steps, how)
		}
	}
}
