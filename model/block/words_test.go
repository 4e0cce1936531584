package block

import (
	"testing"

	"railyard/model/collective"
)

// TestResultsArePushed: what is reduced travels in words, to all peers at once, and the
// operation that reduces writes the result to all of them; then they are told.
func TestResultsArePushed(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		s := build(t, collective.AllReduce, "two_shot", 4, 1)
		p, err := Compile(s, Options{Count: 1 << 16, Size: 4, Instances: 4, Mechanism: WordsPush, InPlace: inPlace})
		if err != nil {
			t.Fatal(err)
		}
		for rank, lanes := range p.Lanes {
			ops := lanes[0].Body
			if len(lanes) != 1 || len(ops) != 4 {
				t.Fatalf("in place %v, rank %d: %d lanes, %+v", inPlace, rank, len(lanes), ops)
			}
			put, reduce, signal, wait := ops[0], ops[1], ops[2], ops[3]
			if put.Kind != WordPut || put.Flags != Pairs || len(put.Sources) != 3 || len(put.PacketTargets) != 3 {
				t.Errorf("rank %d puts %+v", rank, put)
			}
			to := map[int]bool{}
			for _, r := range reduce.Destinations {
				to[r.Rank] = true
			}
			if reduce.Kind != WordReduce || len(reduce.PacketSources) != 3 || len(reduce.PacketTargets) != 0 || len(to) != 4 {
				t.Errorf("rank %d reduces %+v", rank, reduce)
			}
			others := uint32(15) &^ (1 << rank)
			if signal.Kind != Signal || wait.Kind != Wait || signal.Flags&Relaxed != 0 || signal.Peers != others || wait.Peers != others {
				t.Errorf("rank %d signals %+v, awaits %+v", rank, signal, wait)
			}
		}
	}
}

// TestRingsKeepWords: who writes to a rank from which it has had no words does not know
// that it has begun.
func TestRingsKeepWords(t *testing.T) {
	p, err := Compile(build(t, collective.AllReduce, "ring", 4, 1), Options{Count: 1 << 16, Size: 4, Instances: 1, Mechanism: WordsPush})
	if err != nil {
		t.Fatal(err)
	}
	for rank, lanes := range p.Lanes {
		for _, op := range lanes[0].Body {
			if op.Kind == Signal || op.Kind == Wait {
				t.Errorf("rank %d: %+v", rank, op)
			}
		}
	}
}
