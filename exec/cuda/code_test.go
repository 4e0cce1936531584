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
