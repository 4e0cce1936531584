package main

import (
	"testing"

	"railyard/model/block"
	"railyard/model/topology"
	"railyard/topologies"
)

// TestStressCases: the draws repeat, and enough of them compile, in every mechanism.
func TestStressCases(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	f := &stressFlags{gpus: 2, seed: 3}
	seen := map[string]int{}
	for n := range 1500 {
		c := f.make(topo, n)
		if c == nil {
			continue
		}
		if again := f.make(topo, n); again.String() != c.String() {
			t.Fatalf("%v, then %v", c, again)
		}
		o := block.Options{Count: c.cfg.Count, Size: c.cfg.DType.Size(), Op: c.cfg.Op, InPlace: c.cfg.InPlace, Instances: c.how.Blocks, Mechanism: c.how.Mechanism}
		if c.how.Copies {
			_, err = block.CompileCopies(c.s, o)
		} else {
			_, err = block.Compile(c.s, o)
		}
		if err == nil {
			seen[variant{how: c.how}.mechanism()]++
		}
	}
	for _, m := range []string{"pull", "push", "packets", "lines", "words", "words_push", "copies"} {
		if seen[m] < 10 {
			t.Errorf("%d cases in %s", seen[m], m)
		}
	}
}
