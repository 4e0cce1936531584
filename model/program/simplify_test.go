package program

import (
	"math/rand/v2"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// beside plays a program as several thread blocks a channel do it, each its part of every operation, and has some data delivered.
type beside struct {
	l      *Linear
	random *rand.Rand
	queues map[[3]int][]part
}

// part is a message of a thread block, and how many chunks it has.
type part struct {
	m        *Message
	block, n int
}

// blocks is how a channel's thread blocks share chunks.
func (b *beside) blocks(channel, chunks int) (out []part) {
	const most = 4
	for k := 0; chunks > 0; k++ {
		n := chunks
		if k < most-1 {
			n = 1 + b.random.IntN(chunks)
		}
		out = append(out, part{block: most*channel + k, n: n})
		chunks -= n
	}
	return out
}

func (b *beside) play(r int, st *Step) bool {
	in := [3]int{st.Channel, st.Peer, r}
	parts := b.queues[in]
	if st.Peer >= 0 && st.Kind != schedule.Send {
		if len(parts) == 0 {
			return false
		}
	} else {
		parts = b.blocks(st.Channel, st.Count)
	}
	for at := 0; at < st.Count; parts = parts[1:] {
		b.one(r, st, parts[0], at)
		at += parts[0].n
	}
	if st.Peer >= 0 && st.Kind != schedule.Send {
		b.queues[in] = parts
	}
	return true
}

func (b *beside) one(r int, st *Step, x part, at int) {
	thread := Thread{r, x.block}
	switch st.Kind {
	case schedule.Send:
		out := [3]int{st.Channel, r, st.Peer}
		x.m = b.l.Send(thread, st.Peer, st.Src.plus(at), x.n)
		b.queues[out] = append(b.queues[out], x)
	case schedule.Copy:
		b.l.Copy(thread, st.Src.plus(at), st.Dst.plus(at), x.n)
	case schedule.Reduce:
		var srcs []Place
		for _, p := range st.Srcs {
			srcs = append(srcs, p.plus(at))
		}
		b.l.Reduce(thread, srcs, st.Dst.plus(at), x.n)
	case schedule.RecvReduce:
		b.l.RecvReduce(x.m, x.block, st.Src.plus(at), st.Dst.plus(at))
	default:
		if b.random.IntN(2) == 0 {
			b.l.Recv(x.m, x.block, st.Dst.plus(at))
		} else {
			b.l.Deliver(x.m, x.block, st.Dst.plus(at))
		}
	}
}

// However thread blocks share what a schedule does, it computes the same, and in no more operations than they are.
func TestWhatThreadBlocksDoBesideOneAnotherIsComputed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		kind := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll}[random.IntN(4)]
		p, err := Build(ringOf(kind, 2+random.IntN(4), int64(1+random.IntN(3)), int64(1+random.IntN(5))), 1+random.IntN(20))
		if err != nil {
			t.Fatal(err)
		}
		b := &beside{NewLinear(p.Spec, p.Unit, false, p.Scratch), random, map[[3]int][]part{}}
		pc := make([]int, p.Spec.Ranks)
		for progress := true; progress; {
			progress = false
			for r, steps := range p.Ranks {
				for pc[r] < len(steps) && random.IntN(3) > 0 && b.play(r, &steps[pc[r]]) {
					pc[r]++
				}
				progress = progress || pc[r] < len(steps)
			}
		}
		if err := schedule.Check(b.l.Schedule(), nil); err != nil {
			t.Fatalf("%v over %d: %v", kind, p.Spec.Ranks, err)
		}
	}
}

// twoRanks is an all-reduce in place of two ranks, each of which sums up its half by so many thread blocks, and sends the sums.
func twoRanks(blocks int) *schedule.Schedule {
	l := NewLinear(collective.Spec{Kind: collective.AllReduce, Ranks: 2}, 2*blocks, true, []int{0, 0})
	for r := range 2 {
		for k := range blocks {
			at := Place{schedule.Input, r*blocks + k}
			l.RecvReduce(l.Send(Thread{1 - r, k}, r, at, 1), k, at, at)
			l.Deliver(l.Send(Thread{r, k}, 1-r, at, 1), k, at)
		}
	}
	return l.Schedule()
}

// programs are a schedule's operations, by rank.
func programs(s *schedule.Schedule) (out [][]schedule.Op) {
	x := schedule.NewExpander(s)
	for r := range s.Spec.Ranks {
		var ops []schedule.Op
		for c := range s.Channels {
			ops = x.AppendProgram(ops, c, 0, r)
		}
		out = append(out, ops)
	}
	return out
}

func TestThreadBlocksSideBySideAreOne(t *testing.T) {
	for _, blocks := range []int{1, 3, 8} {
		s := twoRanks(blocks)
		if err := schedule.Check(s, nil); err != nil {
			t.Fatal(err)
		}
		for r, ops := range programs(s) {
			var kinds []schedule.OpKind
			for _, op := range ops {
				kinds = append(kinds, op.Kind)
			}
			if len(kinds) != 4 || kinds[0] != schedule.Send || kinds[1] != schedule.RecvReduce {
				t.Errorf("%d blocks: rank %d: %v", blocks, r, kinds)
			}
		}
	}
}

// What one thread block sends one after the other is not joined: it may be a pipeline.
func TestPipelinesOfAThreadBlockStay(t *testing.T) {
	const ranks, pieces = 3, 4
	l := NewLinear(collective.Spec{Kind: collective.Broadcast, Ranks: ranks}, pieces, true, make([]int, ranks))
	for piece := range pieces {
		for r := range ranks - 1 {
			at := Place{schedule.Output, piece}
			l.Recv(l.Send(Thread{r, 0}, r+1, at, 1), 0, at)
		}
	}
	for _, op := range programs(l.Schedule())[1] {
		if n := op.Dst.Set.Len() + op.Src.Set.Len(); n != 1 {
			t.Errorf("%v of %d chunks", op.Kind, n)
		}
	}
}

// Packets are received where they are unpacked to, and what nobody reads is not copied.
func TestWhatIsNotNeededIsLeftOut(t *testing.T) {
	l := NewLinear(collective.Spec{Kind: collective.AllGather, Ranks: 2}, 1, true, []int{2, 2})
	for r := range 2 {
		own, scratch := Place{schedule.Output, r}, Place{schedule.Scratch, 0}
		l.Copy(Thread{r, 0}, own, scratch.plus(1), 1)
		l.Deliver(l.Send(Thread{r, 0}, 1-r, own, 1), 0, scratch)
		l.Unpack(Thread{1 - r, 1}, scratch, own, 1)
	}
	s := l.Schedule()
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	for r, ops := range programs(s) {
		for _, op := range ops {
			if op.Kind == schedule.Recv && op.Dst.Buf == schedule.Scratch || op.Kind == schedule.Copy && op.Dst.Buf == schedule.Scratch && r == 0 {
				t.Errorf("rank %d: %v into scratch", r, op.Kind)
			}
		}
	}
}

// Packets that others overwrite before anybody unpacks them do not take the place of those.
func TestPacketsThatAreOverwritten(t *testing.T) {
	l := NewLinear(collective.Spec{Kind: collective.AllGather, Ranks: 2}, 1, true, []int{1, 1})
	for r := range 2 {
		own, scratch := Place{schedule.Output, r}, Place{schedule.Scratch, 0}
		l.Deliver(l.Send(Thread{r, 0}, 1-r, own, 1), 0, scratch)
		l.Deliver(l.Send(Thread{r, 1}, 1-r, own, 1), 1, scratch)
		l.Unpack(Thread{1 - r, 2}, scratch, own, 1)
	}
	s := l.Schedule()
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	for r, ops := range programs(s) {
		received := 0
		for _, op := range ops {
			if op.Kind == schedule.Recv {
				received++
			}
		}
		if received != 2 {
			t.Errorf("rank %d receives %d of 2 messages", r, received)
		}
	}
}
