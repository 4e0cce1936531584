package program

import (
	"slices"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/schedule"
)

// ringOf is a ring over n ranks with channels of the given shares; of an all-to-all, which no ring makes, messages between all.
func ringOf(kind collective.Kind, n int, shares ...int64) *schedule.Schedule {
	s := &schedule.Schedule{Algorithm: "ring", Spec: collective.Spec{Kind: kind, Ranks: n}, Protocol: schedule.Simple}
	gen := schedule.GenRing
	if !schedule.Supports(gen, kind) {
		gen = schedule.GenDirect
	}
	var order schedule.RankList
	for i := range n {
		order = append(order, int32(i))
	}
	for _, share := range shares {
		s.Channels = append(s.Channels, schedule.Channel{Share: share, Slices: 1, Chunks: n,
			Phases: []schedule.Phase{{Gen: gen, Op: kind,
				Groups: schedule.Groups{List: []schedule.Group{{Ranks: order}}}, Src: schedule.Input, Acc: schedule.Scratch,
				Dst: schedule.Output}}})
	}
	return s
}

// replay plays a program in a global order and makes a schedule of it again.
func replay(t *testing.T, p *Program) *schedule.Schedule {
	t.Helper()
	l := NewLinear(p.Spec, p.Unit, false, p.Scratch)
	pc := make([]int, p.Spec.Ranks)
	queues := map[[3]int][]*Message{}
	for progress := true; progress; {
		progress = false
		for r, steps := range p.Ranks {
			for pc[r] < len(steps) && play(l, queues, r, &steps[pc[r]]) {
				pc[r]++
				progress = true
			}
		}
	}
	return l.Schedule()
}

func play(l *Linear, queues map[[3]int][]*Message, r int, st *Step) bool {
	in := [3]int{st.Channel, st.Peer, r}
	switch st.Kind {
	case schedule.Send:
		out := [3]int{st.Channel, r, st.Peer}
		queues[out] = append(queues[out], l.Send(Thread{r, st.Channel}, st.Peer, st.Src, st.Count))
	case schedule.Copy:
		l.Copy(Thread{r, st.Channel}, st.Src, st.Dst, st.Count)
	case schedule.Reduce:
		l.Reduce(Thread{r, st.Channel}, st.Srcs, st.Dst, st.Count)
	default:
		if len(queues[in]) == 0 {
			return false
		}
		m := queues[in][0]
		queues[in] = queues[in][1:]
		if st.Kind == schedule.Recv {
			l.Recv(m, st.Channel, st.Dst)
		} else {
			l.RecvReduce(m, st.Channel, st.Src, st.Dst)
		}
	}
	return true
}

func TestProgramsAreTheirSchedules(t *testing.T) {
	for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll} {
		for _, shares := range [][]int64{{1}, {1, 1}, {2, 3, 5}} {
			s := ringOf(kind, 4, shares...)
			if err := schedule.Check(s, nil); err != nil {
				t.Fatal(err)
			}
			p, err := Build(s, 3)
			if err != nil {
				t.Fatal(err)
			}
			if err := schedule.Check(replay(t, p), nil); err != nil {
				t.Errorf("%v %v: %v", kind, shares, err)
			}
		}
	}
}

func TestUnitsAreWholePieces(t *testing.T) {
	p, err := Build(ringOf(collective.AllReduce, 4, 2, 3, 5), 100)
	if err != nil {
		t.Fatal(err)
	}
	if p.Unit != 40 || p.Input[0] != 40 || p.Output[3] != 40 {
		t.Errorf("unit %d, input %d, output %d", p.Unit, p.Input[0], p.Output[3])
	}
	if _, err := Build(ringOf(collective.AllReduce, 4, 104729, 1, 99991), 100); err == nil {
		t.Error("odd shares must be refused")
	}
	if _, err := Build(&schedule.Schedule{Spec: collective.Spec{Kind: collective.Barrier, Ranks: 2}}, 1); err == nil {
		t.Error("barriers have no program")
	}
}

// TestStaging overwrites what is under way.
func TestStaging(t *testing.T) {
	l := NewLinear(collective.Spec{Kind: collective.AllToAll, Ranks: 2}, 1, true, []int{0, 0})
	place := func(i int) Place { return Place{schedule.Output, i} }
	a := l.Send(Thread{0, 0}, 1, place(1), 1)
	b := l.Send(Thread{1, 0}, 0, place(0), 1)
	l.Recv(b, 0, place(1))
	l.Recv(a, 0, place(0))
	if err := schedule.Check(l.Schedule(), nil); err != nil {
		t.Error(err)
	}
}

func TestDeps(t *testing.T) {
	p, err := Build(ringOf(collective.AllGather, 3, 1), 100)
	if err != nil {
		t.Fatal(err)
	}
	// send own, copy own, recv, send it on, recv
	deps := p.Deps(0)
	for i, want := range []int{0, 0, 0, 1, 0} {
		if len(deps[i]) != want {
			t.Errorf("step %d depends on %v", i, deps[i])
		}
	}
}

// TestPlacesOfParts keeps second halves of blocks where first halves belong: in scratch,
// and for a while in the output.
func TestPlacesOfParts(t *testing.T) {
	l := NewLinear(collective.Spec{Kind: collective.AllToAll, Ranks: 2}, 2, false, []int{3, 3})
	in := func(i int) Place { return Place{schedule.Input, i} }
	out := func(i int) Place { return Place{schedule.Output, i} }
	scratch := Place{schedule.Scratch, 0}
	for r := range 2 {
		first := 2 * (1 - r) // of what the other gets
		l.Recv(l.Send(Thread{r, 0}, 1-r, in(first+1), 1), 0, scratch)
		l.Recv(l.Send(Thread{r, 0}, 1-r, in(first), 1), 0, out(2*r+1))
		l.Copy(Thread{1 - r, 0}, out(2*r+1), out(2*r), 1)
		l.Copy(Thread{1 - r, 0}, scratch, out(2*r+1), 1)
		l.Copy(Thread{r, 0}, in(2*r), out(2*r), 2)
	}
	s := l.Schedule()
	if err := schedule.Check(s, nil); err != nil {
		t.Error(err)
	}
	if n := schedule.NewExpander(s).ScratchCopies(); n != 1 {
		t.Errorf("%d copies of the buffer as scratch", n)
	}
}

func TestPartsLeftInWrongPlacesAreRefused(t *testing.T) {
	l := NewLinear(collective.Spec{Kind: collective.AllToAll, Ranks: 1}, 2, false, []int{0})
	l.Copy(Thread{0, 0}, Place{schedule.Input, 0}, Place{schedule.Output, 1}, 1)
	l.Copy(Thread{0, 0}, Place{schedule.Input, 1}, Place{schedule.Output, 0}, 1)
	if err := schedule.Check(l.Schedule(), nil); err == nil || !strings.Contains(err.Error(), "part 1 of a block into place 0") {
		t.Error(err)
	}
}

func TestPack(t *testing.T) {
	for parts, want := range map[int][]int{1: {4, 0, 1, 2, 3}, 3: {7, 1, 2, 3, 6}} {
		number, bound := pack([]int{100, 7, 8, 9, 30, 7}, parts)
		var got []int
		for _, n := range []int{100, 7, 8, 9, 30} {
			got = append(got, number(n))
		}
		if !slices.Equal(got, want) || bound != slices.Max(want)+1 {
			t.Errorf("%d parts: %v, bound %d", parts, got, bound)
		}
	}
}
