package schedule

import (
	"strings"
	"testing"

	"railyard/model/collective"
)

// byHand is a broadcast from rank 0 to ranks 1 and 2 by a multicast.
func byHand(change func(ops []Program)) *Schedule {
	in, out := Loc{Buf: Input, Set: One(0)}, Loc{Buf: Output, Set: One(0)}
	ops := []Program{
		{{Kind: Multicast, Peer: -1, Src: in, Peers: RankList{1, 2}}, {Kind: Copy, Peer: -1, Src: in, Dst: out}},
		{{Kind: Recv, Peer: 0, Dst: out}},
		{{Kind: Recv, Peer: 0, Dst: out}},
	}
	change(ops)
	return &Schedule{Algorithm: "by hand", Spec: collective.Spec{Kind: collective.Broadcast, Ranks: 3}, Protocol: Simple,
		Needs: []Capability{CanMulticast},
		Channels: []Channel{{Share: 1, Slices: 1, Chunks: 1,
			Phases: []Phase{{Gen: GenOps, Op: collective.Broadcast, Dst: Output, Ops: ops}}}}}
}

func TestMulticastRules(t *testing.T) {
	for _, c := range []struct {
		change func(ops []Program)
		why    string // "": it is right
	}{
		{func([]Program) {}, ""},
		{func(ops []Program) {
			ops[2] = []Op{{Kind: Recv, Peer: 0, Dst: Loc{Buf: Scratch, Set: One(0)}},
				{Kind: Copy, Peer: -1, Src: Loc{Buf: Scratch, Set: One(0)}, Dst: ops[2][0].Dst}}
		}, "a multicast goes to one place on all"},
		{func(ops []Program) { ops[0][0].Peers = RankList{1} }, "deadlock: rank 0 never sends"},
		{func(ops []Program) { ops[2] = nil }, "rank 2 never receives it"},
		{func(ops []Program) { ops[0][0].Peers = RankList{1, 1} }, "in another team as well"},
		{func(ops []Program) { ops[0] = append(ops[0], Op{Kind: Send, Peer: 1, Src: ops[0][0].Src}) }, "of the pair is in a team"},
		{func(ops []Program) { ops[0][0].Peers = RankList{1, 0} }, "peer 0: must be another rank"},
		{func(ops []Program) { ops[0] = ops[0][1:] }, "it says that it needs [multicast] of switches, but its phases use []"},
	} {
		err := Check(byHand(c.change), nil)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%v, want %q", err, c.why)
		}
	}
}

// What a peer sends into a reduction lies in one place on all of them.
func TestSwitchReduceRules(t *testing.T) {
	s := explicit(flat(GenSwitch, collective.Reduce, 3))
	if err := Check(s, nil); err != nil {
		t.Fatal(err)
	}
	ops := s.Channels[0].Phases[0].Ops
	for r := range ops {
		if ops[r][0].Kind == Send {
			other := Loc{Buf: Scratch, Set: ops[r][0].Src.Set}
			ops[r] = []Op{{Kind: Copy, Peer: -1, Src: ops[r][0].Src, Dst: other}, {Kind: Send, Peer: ops[r][0].Peer, Src: other}}
			break
		}
	}
	if err := Check(s, nil); err == nil || !strings.Contains(err.Error(), "switches combine one place of all") {
		t.Error(err)
	}
}

func TestPlainSchedulesNeedNoSwitches(t *testing.T) {
	if err := byHand(func([]Program) {}).Plain(); err == nil || !strings.Contains(err.Error(), "--no-in-network") {
		t.Error(err)
	}
}
