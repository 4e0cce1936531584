package program

import (
	"maps"
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// cellAt is a chunk of a rank's memory.
type cellAt struct {
	rank int
	at   Place
}

// wild is a random program of thread blocks that overwrite, pass on and sum up whatever there is, told in an order in which they may run;
// memory is what it leaves.
type wild struct {
	*testing.T
	l       *Linear
	random  *rand.Rand
	ranks   int
	inPlace bool
	memory  map[cellAt]uint64
}

const wildScratch = 4

func newWild(t *testing.T, random *rand.Rand) *wild {
	w := &wild{T: t, random: random, ranks: 2 + random.IntN(2), inPlace: random.IntN(2) == 0, memory: map[cellAt]uint64{}}
	scratch := make([]int, w.ranks)
	for r := range w.ranks {
		scratch[r] = wildScratch
		for k := range w.ranks {
			w.memory[w.cell(r, Place{schedule.Input, k})] = random.Uint64()
		}
	}
	w.l = NewLinear(collective.Spec{Kind: collective.AllToAll, Ranks: w.ranks}, 1, w.inPlace, scratch)
	return w
}

func (w *wild) cell(rank int, p Place) cellAt {
	if w.inPlace && p.Buf == schedule.Input {
		p.Buf = schedule.Output
	}
	return cellAt{rank, p}
}

// act is what a thread block does.
type act struct {
	kind      schedule.OpKind
	from, to  int // ranks
	src       []Place
	dst       Place
	n, block  int
	delivered bool
}

// place is somewhere with room for n chunks.
func (w *wild) place(n int, written bool) Place {
	buf := []schedule.Buffer{schedule.Input, schedule.Output, schedule.Scratch}[w.random.IntN(3)]
	if written && buf == schedule.Input {
		buf = schedule.Output
	}
	return Place{buf, w.random.IntN(w.room(buf) - n + 1)}
}

func (w *wild) room(buf schedule.Buffer) int {
	if buf == schedule.Scratch {
		return wildScratch
	}
	return w.ranks
}

func (w *wild) act() act {
	a := act{kind: []schedule.OpKind{schedule.Copy, schedule.Reduce, schedule.Recv, schedule.RecvReduce}[w.random.IntN(4)],
		from: w.random.IntN(w.ranks), n: 1 + w.random.IntN(2), block: w.random.IntN(3), delivered: w.random.IntN(2) == 0}
	a.to = a.from
	a.src = []Place{w.place(a.n, false)}
	a.dst = w.place(a.n, true)
	if a.kind == schedule.Recv || a.kind == schedule.RecvReduce {
		a.to = (a.from + 1 + w.random.IntN(w.ranks-1)) % w.ranks
	}
	if a.kind == schedule.Reduce || a.kind == schedule.RecvReduce {
		a.src = append(a.src, w.place(a.n, false))
	}
	return a
}

// beside is the same by the next thread block for the chunks behind it.
func (a act) beside() act {
	out := a
	out.src, out.dst, out.block = nil, a.dst.plus(a.n), a.block+1
	for _, p := range a.src {
		out.src = append(out.src, p.plus(a.n))
	}
	return out
}

// do tells what is done, if there is what it reads.
func (w *wild) do(a act) {
	var sums []uint64
	for i := range a.n {
		var sum uint64
		for k, p := range a.src {
			rank := a.from
			if k > 0 {
				rank = a.to
			}
			value, ok := w.memory[w.cell(rank, p.plus(i))]
			if !ok {
				return
			}
			sum += value
		}
		sums = append(sums, sum)
	}
	if a.dst.At+a.n > w.room(a.dst.Buf) || a.overlaps() {
		return
	}
	for i, sum := range sums {
		w.memory[w.cell(a.to, a.dst.plus(i))] = sum
	}
	w.tell(a)
}

// overlaps reports whether chunks shift within the same memory, which no operation may do.
func (a act) overlaps() bool {
	for k, p := range a.src {
		same := p.Buf == a.dst.Buf || p.Buf != schedule.Scratch && a.dst.Buf != schedule.Scratch
		if (k > 0 || a.from == a.to) && same && p.At != a.dst.At && p.At < a.dst.At+a.n && a.dst.At < p.At+a.n {
			return true
		}
	}
	return false
}

func (w *wild) tell(a act) {
	thread := Thread{a.from, a.block}
	switch a.kind {
	case schedule.Copy:
		if a.src[0].Buf == schedule.Scratch && a.delivered {
			w.l.Unpack(thread, a.src[0], a.dst, a.n)
			return
		}
		w.l.Copy(thread, a.src[0], a.dst, a.n)
	case schedule.Reduce:
		w.l.Reduce(thread, a.src, a.dst, a.n)
	case schedule.RecvReduce:
		w.l.RecvReduce(w.l.Send(thread, a.to, a.src[0], a.n), a.block, a.src[1], a.dst)
	default:
		if m := w.l.Send(thread, a.to, a.src[0], a.n); a.delivered {
			w.l.Deliver(m, a.block, a.dst)
		} else {
			w.l.Recv(m, a.block, a.dst)
		}
	}
}

// run does a schedule's operations on values; a message's data are read as late as they may be.
func (w *wild) run(s *schedule.Schedule, start map[cellAt]uint64) map[cellAt]uint64 {
	memory, sent, programs := map[cellAt]uint64{}, map[[2]int][][]cellAt{}, programs(s)
	for c, v := range start {
		c.at.Buf = schedule.Input
		memory[c] = v
	}
	for moved := true; moved; {
		moved = false
		for r := range programs {
			for len(programs[r]) > 0 && step(memory, sent, r, programs[r][0]) {
				programs[r], moved = programs[r][1:], true
			}
		}
	}
	for r := range programs {
		if len(programs[r]) > 0 {
			w.Fatalf("rank %d waits for ever", r)
		}
	}
	return memory
}

// step does a rank's operation; false where it waits for a message.
func step(memory map[cellAt]uint64, sent map[[2]int][][]cellAt, rank int, op schedule.Op) bool {
	cells := func(l schedule.Loc) (out []cellAt) {
		l.Set.Each(func(chunk int32) { out = append(out, cellAt{rank, Place{l.Buf, int(chunk)}}) })
		return out
	}
	var from [][]cellAt
	switch op.Kind {
	case schedule.Send:
		to := [2]int{rank, int(op.Peer)}
		sent[to] = append(sent[to], cells(op.Src))
		return true
	case schedule.Recv, schedule.RecvReduce:
		in := [2]int{int(op.Peer), rank}
		if len(sent[in]) == 0 {
			return false
		}
		from, sent[in] = append(from, sent[in][0]), sent[in][1:]
	}
	if op.Kind == schedule.Copy || op.Kind == schedule.RecvReduce {
		from = append(from, cells(op.Src))
	}
	for _, l := range op.Srcs {
		from = append(from, cells(l))
	}
	sum(memory, from, cells(op.Dst))
	return true
}

func sum(memory map[cellAt]uint64, from [][]cellAt, to []cellAt) {
	sums := make([]uint64, len(to))
	for _, list := range from {
		for i, c := range list {
			sums[i] += memory[c]
		}
	}
	for i, c := range to {
		memory[c] = sums[i]
	}
}

// Whatever thread blocks do, the schedule that is made of it leaves the same in the output.
func TestRandomProgramsLeaveTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for k := range 4000 {
		w := newWild(t, random)
		start := maps.Clone(w.memory)
		for range 2 + random.IntN(10) {
			a := w.act()
			w.do(a)
			for random.IntN(3) > 0 {
				if random.IntN(3) == 0 {
					w.do(w.act())
				}
				a = a.beside()
				w.do(a)
			}
		}
		if len(w.l.ops) == 0 {
			continue
		}
		got := w.run(w.l.Schedule(), start)
		for c, want := range w.memory {
			if c.at.Buf == schedule.Output && got[c] != want {
				t.Fatalf("program %d, in place %v: rank %d leaves another value in %v", k, w.inPlace, c.rank, c.at)
			}
		}
	}
}
