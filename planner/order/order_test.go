package order

import (
	"math/rand/v2"
	"testing"

	_ "railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// randomTrees are spanning trees over n ranks with random weights and rates.
func randomTrees(r *rand.Rand, n, count int) (*schedule.Trees, []Rate) {
	t := &schedule.Trees{Local: int32(n)}
	for range count {
		order := r.Perm(n)
		parent := make(schedule.RankList, n)
		parent[order[0]] = -1
		for i, v := range order[1:] {
			parent[v] = int32(order[r.IntN(i+1)])
		}
		t.List = append(t.List, schedule.Tree{Root: int32(order[0]), Weight: 1 + r.Int32N(5), Parent: parent})
	}
	var rates []Rate
	for u := range int32(n) {
		for v := range int32(n) {
			if u != v && r.IntN(2) == 0 {
				rates = append(rates, Rate{u, v, 1 + r.Int64N(4)})
			}
		}
	}
	return t, rates
}

// inPieces is a schedule of trees in so many pieces.
func inPieces(trees *schedule.Trees, rates []Rate, ranks, pieces int, op collective.Kind) *schedule.Schedule {
	cut := &schedule.Trees{Local: trees.Local, Pieces: int32(pieces)}
	chunks := 0
	for _, x := range trees.List {
		x.Weight *= int32(pieces)
		chunks += int(x.Weight)
		cut.List = append(cut.List, x)
	}
	phase := schedule.Phase{Gen: schedule.GenTrees, Op: op, Src: schedule.Input, Acc: schedule.Scratch, Dst: schedule.Output,
		Order: Trees(trees, ranks, op, rates, pieces > 1)}
	return &schedule.Schedule{Algorithm: "trees", Spec: collective.Spec{Kind: op, Ranks: ranks}, Protocol: schedule.Simple,
		Channels: []schedule.Channel{{Share: 1, Slices: 1, Chunks: chunks, Trees: cut, Phases: []schedule.Phase{phase}}}}
}

// Whatever the trees, weights and rates: orders in one piece and in many make an all-reduce,
// and what repeats, spelled out, is the program.
func TestOrdersAreRight(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 21))
	for range 60 {
		n := 2 + r.IntN(7)
		trees, rates := randomTrees(r, n, 1+r.IntN(4))
		for _, pieces := range []int{1, 2, 5, 40} {
			s := inPieces(trees, rates, n, pieces, collective.AllReduce)
			if err := schedule.Check(s, nil); err != nil {
				t.Fatalf("%d pieces: %v", pieces, err)
			}
			x := schedule.NewExpander(s)
			for rank := range n {
				sameOperations(t, x, rank)
			}
		}
	}
}

// sameOperations compares a program with its loop spelled out.
func sameOperations(t *testing.T, x *schedule.Expander, rank int) {
	t.Helper()
	all := x.AppendProgram(nil, 0, 0, rank)
	once, loop := x.AppendOnce(nil, 0, 0, rank)
	i := 0
	follow := func(ops []schedule.Op) {
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

// A period more is a piece more: played with connections that carry one message after the
// other, each as long as its rate says, long pipelines take what the busiest connection does.
func TestPipelinesFillTheBusiestConnection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for i := range 40 {
		n := 3 + r.IntN(6)
		trees, rates := randomTrees(r, n, 1+r.IntN(4))
		p := newPlan(trees, n, collective.AllReduce, rates)
		const short, more = 60, 40
		took := func(pieces int) int64 {
			return finish(t, inPieces(trees, rates, n, pieces, collective.AllReduce), p)
		}
		if got := took(short+more) - took(short); got > more*p.period {
			t.Errorf("graph %d: %d pieces more take %.3f periods", i, more, float64(got)/float64(p.period))
		}
	}
}

// finish is when the last rank has done its program.
func finish(t *testing.T, s *schedule.Schedule, p *plan) (last int64) {
	t.Helper()
	n := s.Spec.Ranks
	x := schedule.NewExpander(s)
	ops, at, now := make([][]schedule.Op, n), make([]int, n), make([]int64, n)
	free, arrivals := map[[2]int32]int64{}, map[[2]int32][]int64{}
	for r := range ops {
		ops[r] = x.AppendProgram(nil, 0, 0, r)
	}
	for moved := true; moved; {
		moved = false
		for r := range ops {
			for ; at[r] < len(ops[r]); at[r]++ {
				o := ops[r][at[r]]
				to, from := [2]int32{int32(r), o.Peer}, [2]int32{o.Peer, int32(r)}
				if o.Kind == schedule.Send {
					free[to] = max(free[to], now[r]) + int64(o.Src.Set.Len())*tick/p.conns[p.conn(to[0], to[1])].rate
					arrivals[to] = append(arrivals[to], free[to])
				} else if len(arrivals[from]) == 0 {
					break
				} else {
					now[r], arrivals[from] = max(now[r], arrivals[from][0]), arrivals[from][1:]
				}
				moved, last = true, max(last, now[r])
			}
		}
	}
	for r := range ops {
		if at[r] < len(ops[r]) {
			t.Fatalf("rank %d waits for ever", r)
		}
	}
	return last
}

// From the start of a hop to the end of all that waits for it, by what waits for what.
func TestTimeToGoOfHops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 100 {
		n := 2 + r.IntN(7)
		trees, rates := randomTrees(r, n, 3)
		for _, op := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			p := newPlan(trees, n, op, rates)
			for _, h := range p.list {
				if want := slowToGo(p, h); p.hops[h].togo != want {
					t.Fatalf("%v, hop %d: %d, want %d", op, h, p.hops[h].togo, want)
				}
			}
		}
	}
}

// slowToGo follows every hop that waits for one.
func slowToGo(p *plan, h int32) int64 {
	var most int64
	p.waiting(h, func(next *hop) {
		for i := range p.hops {
			if &p.hops[i] == next {
				most = max(most, slowToGo(p, int32(i)))
			}
		}
	})
	return p.hops[h].takes + most
}
