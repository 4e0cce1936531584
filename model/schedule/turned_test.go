package schedule

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTurned: what a rank's place says of its program is what the program of another one there does, with the ranks that are as far
// behind; of all generators, and of phases with groups in any order.
func TestTurned(t *testing.T) {
	cases := allCases()
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 6))
		c := alikeCases()[rng.IntN(len(alikeCases()))]
		s, ch := *c.s, c.s.Channels[rng.IntN(len(c.s.Channels))]
		ch.Phases = slices.Clone(ch.Phases)
		if mutatePhases(rng, &s, &ch); s.Validate() == nil {
			cases = append(cases, testCase{c.name + ", mutated", &s})
		}
	}
	turned := map[string]int{}
	for _, c := range cases {
		x := NewExpander(c.s)
		for ch := range c.s.Channels {
			for p, ph := range c.s.Channels[ch].Phases {
				turned[ph.Gen] += checkTurned(t, c.name, x, ch, p)
			}
		}
	}
	if turned[GenRing] < 1000 || turned[GenDirect] < 1000 {
		t.Errorf("programs turned: %v", turned)
	}
}

// checkTurned turns the first program of each group of a phase, and returns how many others it is held against.
func checkTurned(t *testing.T, name string, x *Expander, channel, phase int) (turned int) {
	first := map[TurnedGroup]int{}
	for r := range x.s.Spec.Ranks {
		at, ok := x.Turned(channel, phase, r)
		if !ok {
			continue
		}
		if _, known := first[at.Group]; !known {
			first[at.Group] = r
			continue
		}
		from, _ := x.Turned(channel, phase, first[at.Group])
		want := x.AppendProgram(nil, channel, phase, r)
		got := x.AppendProgram(nil, channel, phase, first[at.Group])
		turned++
		if len(got) != len(want) {
			t.Fatalf("%s, channel %d, phase %d: rank %d has %d operations, rank %d %d", name, channel, phase, r, len(want),
				first[at.Group], len(got))
		}
		for i, a := range got {
			b := want[i]
			if a.Peer >= 0 {
				a.Peer = at.Rank(from.Behind(a.Peer))
			}
			if a.Kind != b.Kind || a.Peer != b.Peer || a.Src.Buf != b.Src.Buf || a.Src.Set.Len() != b.Src.Set.Len() ||
				a.Dst.Set.Len() != b.Dst.Set.Len() || len(a.Srcs) != len(b.Srcs) || len(a.Peers) > 0 {
				t.Fatalf("%s, channel %d, phase %d, rank %d, operation %d: %+v by the program of rank %d, %+v by its own", name, channel,
					phase, r, i, a, first[at.Group], b)
			}
		}
	}
	return turned
}
