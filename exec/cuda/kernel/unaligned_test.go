package kernel

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
)

// TestUnaligned: blocks whose elements do not divide by 16 bytes lie anywhere; some are longer than what is taken
// line by line, some shorter, and under ThreadSanitizer nothing is read that is not theirs to read.
func TestUnaligned(t *testing.T) {
	dir := t.TempDir()
	bySize := map[int]*series{
		4: {bin: simulator(t, filepath.Join(dir, "raced"), "-O0", "-fsanitize=thread", "-DT_FLOAT32", "-DUNALIGNED")},
		2: {bin: simulator(t, filepath.Join(dir, "simulate"), "-O0", "-DT_BFLOAT16", "-DUNALIGNED")}}
	for _, c := range []struct {
		kind       collective.Kind
		algo       string
		mechanisms []block.Mechanism
		count      int64 // elements of a block
	}{
		{collective.AllGather, "direct", []block.Mechanism{block.Push, block.Pull, block.Lines}, 2309},
		{collective.AllToAll, "direct", []block.Mechanism{block.Push, block.Pull, block.Lines}, 2311},
		{collective.ReduceScatter, "direct", []block.Mechanism{block.Pull, block.Words, block.Lines}, 1303},
		{collective.ReduceScatter, "ring", []block.Mechanism{block.Push, block.WordsPush}, 601},
		{collective.AllGather, "direct", []block.Mechanism{block.Push}, 31},
	} {
		for k, m := range c.mechanisms {
			for size, all := range bySize {
				if size == 4 && !taken(k) {
					continue
				}
				x := compiled(t, plan(t, 3, c.kind, c.algo, 1), block.Options{Count: c.count * 3, Size: size, Instances: 2, Mechanism: m})
				x.epochs = 2
				if !block.Unaligned(slices.Concat(x.p.Lanes...)...) {
					t.Fatalf("%v %s %v %d bytes: all data are aligned: not a case", c.kind, c.algo, m, size)
				}
				all.add(fmt.Sprintf("%v %s %v %d bytes", c.kind, c.algo, m, size), x)
			}
		}
	}
	for _, size := range []int{2, 4} {
		bySize[size].verify(t)
	}
}
