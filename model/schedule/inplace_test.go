package schedule

import (
	"strings"
	"testing"

	"railyard/model/collective"
)

// What copies a place onto itself is left out of a broadcast and of nothing else, and what
// cannot run in one memory is refused with its reason.
func TestInPlace(t *testing.T) {
	s := byHand(func([]Program) {})
	out, err := InPlace(s)
	if err != nil {
		t.Fatal(err)
	}
	x := NewExpander(out)
	if root := x.AppendProgram(nil, 0, 0, 0); len(root) != 1 || root[0].Kind != Multicast {
		t.Errorf("the root does %v", root)
	}
	if leaf := x.AppendProgram(nil, 0, 0, 1); len(leaf) != 1 || leaf[0].Kind != Recv {
		t.Errorf("a leaf does %v", leaf)
	}
	if len(s.Channels[0].Phases[0].Ops[0]) != 2 {
		t.Error("the schedule itself was changed")
	}
	for _, c := range []struct {
		s    *Schedule
		want string
	}{
		{flat(GenDirect, collective.AllToAll, 4), "all_to_all has no in-place form"},
		{flat(GenDirect, collective.AllReduce, 4), "this schedule cannot run in place: rank"},
	} {
		if _, err := InPlace(c.s); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestSelfCopies(t *testing.T) {
	at := func(b Buffer, chunk int32) Loc { return Loc{Buf: b, Set: One(chunk)} }
	for _, c := range []struct {
		op   Op
		self bool
	}{
		{Op{Kind: Copy, Src: at(Input, 1), Dst: at(Output, 1)}, true},
		{Op{Kind: Copy, Src: at(Input, 0), Dst: at(Output, 1)}, false},
		{Op{Kind: Copy, Src: at(Scratch, 1), Dst: at(Output, 1)}, false},
		{Op{Kind: Copy, Src: at(Input, 1), Dst: at(Scratch, 1)}, false},
		{Op{Kind: Recv, Src: at(Input, 1), Dst: at(Output, 1)}, false},
	} {
		if got := selfCopy(c.op); got != c.self {
			t.Errorf("%v: %v", c.op, got)
		}
	}
}
