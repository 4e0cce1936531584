package schedule

import (
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
)

// longTrees are random trees in so many pieces as an all-reduce.
func longTrees(r *rand.Rand, pieces int) *Schedule {
	n := 3 + r.IntN(6)
	t := randomTrees(r, n, 1+r.IntN(4))
	chunks := 0
	for i := range t.List {
		t.List[i].Weight *= int32(pieces) / t.Pieces
		chunks += int(t.List[i].Weight)
	}
	t.Pieces = int32(pieces)
	return &Schedule{Algorithm: "trees", Spec: collective.Spec{Kind: collective.AllReduce, Ranks: n}, Protocol: Simple,
		Channels: []Channel{{Share: 1, Slices: 1, Chunks: chunks, Trees: t,
			Phases: []Phase{{Gen: GenTrees, Op: collective.AllReduce, Src: Input, Acc: Scratch, Dst: Output}}}}}
}

// What long pipelines repeat is all that they do: the loops spelled out are the programs,
// which compute the collective, and take hardly longer than if all pieces were played.
func TestLoopsOfTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const graphs = 100
	repeat, worst := 0, 0.0
	for i := range graphs {
		s := longTrees(r, 2*settled+4*r.IntN(20))
		if i%4 == 0 {
			if err := Check(s, nil); err != nil {
				t.Fatal(err)
			}
		}
		x := NewExpander(s)
		for rank := range s.Spec.Ranks {
			sameOperations(t, x, rank)
		}
		if x.trees[0][0].whole.orders[0].Times == 1 {
			continue
		}
		repeat++
		w := x.trees[0][0].whole
		looped := finish(t, w, s.Spec.Ranks)
		w.play(newTreePlan(w.b, true, true, w.b.pieces()))
		worst = max(worst, float64(looped)/float64(finish(t, w, s.Spec.Ranks)))
	}
	t.Logf("%d of %d graphs repeat; at most %.4f times as long", repeat, graphs, worst)
	if repeat < graphs*3/4 || worst > 1.01 {
		t.Errorf("%d of %d graphs repeat; at most %.4f times as long", repeat, graphs, worst)
	}
}

// sameOperations compares a program with its loop spelled out.
func sameOperations(t *testing.T, x *Expander, rank int) {
	t.Helper()
	all := x.AppendProgram(nil, 0, 0, rank)
	once, loop := x.AppendOnce(nil, 0, 0, rank)
	i := 0
	follow := func(ops []Op) {
		for _, o := range ops {
			if i >= len(all) || o.Kind != all[i].Kind || o.Peer != all[i].Peer || o.Src.Set.Len() != all[i].Src.Set.Len() ||
				o.Dst.Set.Len() != all[i].Dst.Set.Len() {
				t.Fatalf("rank %d, operation %d is another", rank, i)
			}
			i++
		}
	}
	follow(once[:loop.First])
	for range loop.Times {
		follow(once[loop.First:loop.End])
	}
	if follow(once[loop.End:]); i != len(all) {
		t.Fatalf("rank %d: %d of %d operations", rank, i, len(all))
	}
}

// finish is when the last rank has done its program: a connection carries one message after
// the other, each as long as a plan takes it to be.
func finish(t *testing.T, w *treeProgram, ranks int) (last int64) {
	t.Helper()
	steps, at, now := make([][]treeStep, ranks), make([]int, ranks), make([]int64, ranks)
	free, arrivals := make([]int64, len(w.plan.conns)), make([][]int64, len(w.plan.conns))
	for r := range steps {
		o := &w.orders[r]
		steps[r] = append(steps[r], o.steps[:o.First]...)
		for range o.Times {
			steps[r] = append(steps[r], o.steps[o.First:o.End]...)
		}
		steps[r] = append(steps[r], o.steps[o.End:]...)
	}
	for moved := true; moved; {
		moved = false
		for r := range steps {
			for ; at[r] < len(steps[r]); at[r]++ {
				s := steps[r][at[r]]
				c := w.plan.hops[s.hop()].conn
				if !s.receives() {
					free[c] = max(free[c], now[r]) + w.plan.takes(s.hop())
					arrivals[c] = append(arrivals[c], free[c])
				} else if len(arrivals[c]) == 0 {
					break
				} else {
					now[r], arrivals[c] = max(now[r], arrivals[c][0]), arrivals[c][1:]
				}
				moved, last = true, max(last, now[r])
			}
		}
	}
	for r := range steps {
		if at[r] < len(steps[r]) {
			t.Fatalf("rank %d waits for ever", r)
		}
	}
	return last
}
