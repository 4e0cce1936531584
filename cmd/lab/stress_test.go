package main

import (
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/study/tuning"
	"railyard/topologies"
)

// TestStressCases: the draws repeat, and enough of them compile, of every collective and in every mechanism.
func TestStressCases(t *testing.T) {
	every := []string{"pull", "push", "packets", "lines", "words", "words_push", "copies"}
	t.Run("two GPUs", func(t *testing.T) {
		testStressCases(t, "hgx-h200-4", topology.Options{GPUs: 2}, 1, every)
	})
	t.Run("two nodes of four ranks on two GPUs", func(t *testing.T) {
		testStressCases(t, "dgx-a100", topology.Options{Nodes: 2, GPUs: 4}, 4, every[:6])
	})
}

func testStressCases(t *testing.T, name string, machine topology.Options, share int, mechanisms []string) {
	topo, err := topology.Load(topologies.Source, name, machine)
	if err != nil {
		t.Fatal(err)
	}
	f := &stressFlags{Share: share, Seed: 3}
	seen, kinds := map[string]int{}, map[collective.Kind]int{}
	for n := range 1200 { // whole numbers are refused in words, so that one draw in fifty is of words
		c := f.make(topo, n)
		if c == nil {
			continue
		}
		if again := f.make(topo, n); again.String() != c.String() {
			t.Fatalf("%v, then %v", c, again)
		}
		o := block.Options{Count: c.cfg.Count, Size: c.cfg.DType.Size(), Op: c.cfg.Op, InPlace: c.cfg.InPlace, Instances: c.how.Blocks,
			Mechanism: c.how.Mechanism}
		if c.how.Mechanism == block.Copies {
			_, err = block.CompileCopies(c.s, o)
		} else {
			_, err = block.Compile(c.s, o)
		}
		if err == nil {
			seen[tuning.Variant{How: c.how}.Mechanism()]++
			kinds[c.s.Spec.Kind]++
			if c.how.Blocks*stressLanes(c.s)*2*share > 96 && share > 1 {
				t.Errorf("%v: %d blocks for each of %d lanes", c, c.how.Blocks, stressLanes(c.s))
			}
		}
	}
	for _, m := range mechanisms {
		if seen[m] < 10 {
			t.Errorf("%d cases in %s", seen[m], m)
		}
	}
	for _, k := range stressKinds {
		if kinds[k] < 10 {
			t.Errorf("%d cases of %s", kinds[k], k)
		}
	}
}
