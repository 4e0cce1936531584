package kernel

import (
	"fmt"
	"strings"
	"testing"

	"railyard/model/block"
	"railyard/model/collective"
)

// TestTeams: a quarter of the threads put words while the others take what comes, from as many
// rounds on and not before; whole and off the end of 16 bytes, in place, in slices and blocks.
// Where what is taken goes to where it was put from, all threads do both, one after the other.
func TestTeams(t *testing.T) {
	all := series{bin: racing(t)}
	if want := fmt.Sprintf("constexpr u32 plenty = %d;", block.PlentyOfWords); !strings.Contains(Source("words.cuh"), want) {
		t.Fatalf("words.cuh does not say %q", want)
	}
	for i, c := range []struct {
		kind    collective.Kind
		gpus    int
		slices  int
		blocks  int
		inPlace bool
		split   bool // from block.PlentyOfWords rounds on
	}{
		{collective.ReduceScatter, 2, 1, 1, false, true}, {collective.ReduceScatter, 2, 3, 2, true, true},
		{collective.ReduceScatter, 3, 1, 2, true, true}, {collective.ReduceScatter, 3, 2, 1, false, true},
		{collective.AllReduce, 2, 1, 2, false, true}, {collective.AllReduce, 3, 2, 1, false, true},
		{collective.AllReduce, 2, 1, 1, true, false},
	} {
		for k, rounds := range []int64{block.PlentyOfWords - 1, block.PlentyOfWords, 2*block.PlentyOfWords + 1} {
			for _, odd := range []int64{0, 1} {
				if !taken(i + k + 2*int(odd)) {
					continue
				}
				name := fmt.Sprintf("%v on %d, %d slices, %d blocks, in place %v, %d rounds and %d", c.kind, c.gpus, c.slices, c.blocks,
					c.inPlace, rounds, odd)
				s := plan(t, c.gpus, c.kind, "direct", c.slices)
				o := block.Options{Size: 4, Instances: c.blocks, Mechanism: block.Words, InPlace: c.inPlace}
				x := run{s: s, o: o, epochs: 3, firstEpoch: 1, jitter: uint32(i%2) * 20000}
				// a block's share of a slice, in elements: so many rounds over all peers
				each := (rounds*int64(x.threads())*16/int64(c.gpus-1) + 15) / 16 * 4
				x.o.Count = each*int64(c.slices*c.blocks*s.Spec.Blocks()) + odd*int64(s.Spec.Blocks())
				x.p = compiled(t, s, x.o).p
				if got, want := x.splits(), c.split && rounds >= block.PlentyOfWords; got != want {
					t.Fatalf("%s: some threads put while others take: %v, want %v: not a case", name, got, want)
				}
				all.add(name, x)
			}
		}
	}
	all.verify(t)
}

// splits reports whether a take of words in the first block's first slice is shared out as words.cuh's team does.
func (x run) splits() bool {
	for _, lanes := range x.p.Lanes {
		for _, l := range lanes {
			for _, op := range l.Body {
				if op.Kind == block.WordReduce && op.Flags&block.Halves != 0 &&
					min(op.Limit, l.Unit)*int64(len(op.PacketSources)) >= block.PlentyOfWords*16*int64(x.threads()) {
					return true
				}
			}
		}
	}
	return false
}
