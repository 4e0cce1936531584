package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/block"
	"railyard/model/collective"
)

// TestInterpreters runs what is written of each rank's forms: operations one after the other where
// lanes are short and alike, else by looking for their forms; with one round of a block's threads
// a slice, with just more, and with slices.
func TestInterpreters(t *testing.T) {
	for i, c := range []struct {
		kind           collective.Kind
		algo           string
		m              block.Mechanism
		gpus, slices   int
		rounds         int64 // of a block's threads, for what a rank has
		straight, once bool
	}{
		{collective.AllReduce, "direct", block.Packets, 3, 1, 1, true, true},
		{collective.AllReduce, "direct", block.Packets, 2, 1, 2, true, false},
		{collective.AllReduce, "two_shot", block.Words, 2, 1, 4, true, false},
		{collective.AllReduce, "two_shot", block.WordsPush, 3, 1, 1, true, true},
		{collective.AllGather, "direct", block.Packets, 3, 1, 1, true, true},
		{collective.Broadcast, "direct", block.Packets, 3, 1, 1, true, true}, // buffers are given back
		{collective.Broadcast, "direct", block.Lines, 3, 1, 1, true, false},
		{collective.SendRecv, "direct", block.Packets, 3, 1, 2, true, false},
		{collective.AllReduce, "simple_ring", block.Words, 3, 2, 1, false, true},
		{collective.AllReduce, "double_binary_tree", block.Packets, 4, 1, 1, false, true},
	} {
		if !long.Given() && i%8 != 1 { // one in order, one by forms
			continue
		}
		t.Run(fmt.Sprintf("%v %s %v on %d, %d slices, %d rounds", c.kind, c.algo, c.m, c.gpus, c.slices, c.rounds), func(t *testing.T) {
			t.Parallel()
			x := run{s: plan(t, c.gpus, c.kind, c.algo, c.slices), o: block.Options{Size: 4, Instances: 2, Mechanism: c.m}, epochs: 3,
				firstEpoch: 1}
			access := int64(2) // elements of a thread in a round
			if c.m.InWords() {
				access = 4
			}
			x.o.Count = (c.rounds*int64(x.threads()) - 1) * access * int64(x.o.Instances*c.slices*len(x.s.Channels)*x.s.Spec.Blocks())
			var err error
			if x.p, err = block.Compile(x.s, x.o); err != nil {
				t.Fatal(err)
			}
			bin := x.interpreters(t, func(source string) {
				if got := !strings.Contains(source, "struct Forms"); got != c.straight {
					t.Errorf("one operation after the other: %v, want %v", got, c.straight)
				}
				if got := knowsOnce(source); got != c.once {
					t.Errorf("known to be one round: %v, want %v", got, c.once)
				}
			})
			correct(t, bin, x)
		})
	}
}

var flags = regexp.MustCompile(`h\.flags = (\d+)`)

// knowsOnce reports whether some form has no loop.
func knowsOnce(source string) bool {
	for _, m := range flags.FindAllStringSubmatch(source, -1) {
		if n, _ := strconv.Atoi(m[1]); uint8(n)&block.Once != 0 {
			return true
		}
	}
	return false
}

// interpreters compiles those of all ranks.
func (x *run) interpreters(t *testing.T, look func(string)) (bin string) {
	t.Helper()
	dir := t.TempDir()
	all, choose := "#pragma once\n", ""
	for rank, lanes := range x.p.Lanes {
		f := block.FormsOf(int(x.threads()), lanes...)
		x.forms = append(x.forms, f)
		look(f.Source())
		all += fmt.Sprintf("namespace rank%d {\n%s}\n", rank, strings.TrimPrefix(f.Source(), "#pragma once\n"))
		choose += fmt.Sprintf("    if (e.p.rank == %d) rank%d::play_plan(e, plan);\n", rank, rank)
	}
	all += "static void play_plan(Engine &e, Words plan)\n{\n" + choose + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "interpreters.cuh"), []byte(all), 0o644); err != nil {
		t.Fatal(err)
	}
	refs := 0
	for _, f := range x.forms {
		refs = max(refs, f.Refs)
	}
	for _, f := range x.forms {
		f.Refs = refs
	}
	return simulator(t, filepath.Join(dir, "simulate"), "-DT_FLOAT32", "-O0", "-DINTERPRETERS", "-I"+dir, fmt.Sprintf("-DREFS=%d", refs))
}
