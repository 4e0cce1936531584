package schedule

import (
	"strings"
	"testing"

	"railyard/model/collective"
)

// Phases that do not wait for one another must not use what others write; whatever comes in between only has to be other memory.
func TestApartPhasesShareNoMemory(t *testing.T) {
	chunk := func(c int32) ChunkSet { return Range(c, 1) }
	send := func(c int32) Op { return Op{Kind: Send, Peer: 1, Src: Loc{Input, chunk(c)}} }
	recv := func(c int32) Op { return Op{Kind: Recv, Peer: 0, Dst: Loc{Output, chunk(c)}} }
	own := func(c int32) Op {
		return Op{Kind: Copy, Peer: -1, Src: Loc{Input, chunk(c)}, Dst: Loc{Output, chunk(c)}}
	}
	phase := func(apart bool, ops ...Program) Phase {
		return Phase{Gen: GenOps, Op: collective.Broadcast, Src: Input, Acc: Scratch, Dst: Output, Ops: ops, Apart: apart}
	}
	broadcast := func(phases ...Phase) *Schedule {
		return &Schedule{Algorithm: "by hand", Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 3}, Protocol: Simple,
			Channels: []Channel{{Share: 1, Slices: 2, Chunks: 2, Phases: phases}}}
	}
	pass := func(c int32) Op { return Op{Kind: Send, Peer: 2, Src: Loc{Output, chunk(c)}} }
	from1 := func(c int32) Op { return Op{Kind: Recv, Peer: 1, Dst: Loc{Output, chunk(c)}} }
	for _, c := range []struct {
		name   string
		phases []Phase
		wrong  string
	}{
		{"a strand for each chunk", []Phase{
			phase(false, Program{send(0), own(0), own(1)}, Program{recv(0)}, Program{}), phase(false, Program{}, Program{pass(0)}, Program{from1(0)}),
			phase(true, Program{send(1)}, Program{recv(1)}, Program{}), phase(false, Program{}, Program{pass(1)}, Program{from1(1)})}, ""},
		{"what has been received is passed on apart", []Phase{
			phase(false, Program{send(0), send(1), own(0), own(1)}, Program{recv(0), recv(1)}, Program{}),
			phase(true, Program{}, Program{pass(0), pass(1)}, Program{from1(0), from1(1)})}, "rank 1"},
		{"the first phase is apart", []Phase{
			phase(true, Program{send(0), send(1), own(0), own(1)}, Program{recv(0), recv(1)}, Program{}),
			phase(false, Program{}, Program{pass(0), pass(1)}, Program{from1(0), from1(1)})}, "phase 0: apart"},
	} {
		err := Check(broadcast(c.phases...), nil)
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
}
