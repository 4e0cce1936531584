package schedule

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
)

// alikeCases are schedules whose ranks are equivalent, along one digit or several.
func alikeCases() []testCase {
	out := append(hierarchies(), everyGenerator(8)...)
	for _, dims := range [][]int32{{4, 2}, {2, 4}, {2, 2, 4}, {4, 4, 2}} {
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
			out = append(out, testCase{fmt.Sprintf("grid %v doubling %v", dims, kind), gridSchedule(dims, GenDoubling, kind)})
		}
		out = append(out, testCase{fmt.Sprintf("grid %v all_to_all", dims), railExchange(dims[0], dims[1])})
	}
	return out
}

// railExchange is an all-to-all that aggregates inside nodes.
func railExchange(nodes, local int32) *Schedule {
	on := func(axis int) Groups { return Groups{Grid: &Grid{Dims: []int32{nodes, local}, Axis: axis}} }
	n := int(nodes * local)
	return &Schedule{Algorithm: "rails", Spec: collective.Spec{Kind: collective.AllToAll, Ranks: n}, Protocol: Simple,
		Channels: []Channel{{Share: 1, Slices: 1, Chunks: n, Phases: []Phase{
			{Gen: GenDirect, Op: collective.AllToAll, Groups: on(1), Src: Input, Acc: Scratch, Dst: Scratch},
			{Gen: GenDirect, Op: collective.AllToAll, Groups: on(0), Src: Scratch, Acc: Scratch, Dst: Output}}}}}
}

// verdicts are what the checker says of a channel, running originals alone and all ranks.
// ok is false where there are no moves, or none that it follows.
func verdicts(s *Schedule, m *moves, channel int, inPlace bool) (folded, all error, ok bool) {
	x := NewExpander(s)
	if m == nil {
		return nil, nil, false
	}
	_, folded = runOriginals(x, channel, inPlace, m)
	all = newChecker(x, channel, inPlace, unmoved(x.s)).run()
	return folded, all, !errors.Is(folded, errAsymmetric)
}

// foldedProof is what the checker says by groups, and how many chunks it told apart.
func foldedProof(s *Schedule, channel int, inPlace bool) (chunks int32, err error) {
	k, err := proven(NewExpander(s), channel, inPlace, true)
	return int32(k.chunks), err
}

// twice is a schedule in which a channel does all again with its results.
func twice(s *Schedule, channel int) *Schedule {
	out := *s
	out.Channels = slices.Clone(s.Channels)
	ch := &out.Channels[channel]
	ch.Phases = slices.Concat(ch.Phases, ch.Phases)
	for p := len(ch.Phases) / 2; p < len(ch.Phases); p++ {
		ch.Phases[p].Src = Output
	}
	return &out
}

// TestFoldedProofs: whatever is proven by groups, and of several chunks in a row at once, is what all ranks' programs say;
// barriers, too.
func TestFoldedProofs(t *testing.T) {
	cases, coarse, barriers := alikeCases(), 0, 0
	for n := 2; n <= 12; n++ {
		cases = append(cases, everyGenerator(n)...)
	}
	for _, c := range cases {
		for ch := range c.s.Channels {
			for _, inPlace := range []bool{false, true} {
				chunks, folded := foldedProof(c.s, ch, inPlace)
				if all := newChecker(NewExpander(c.s), ch, inPlace, unmoved(c.s)).run(); (folded == nil) != (all == nil) {
					t.Errorf("%s, channel %d, %+v: %v by the group, %v of all ranks", c.name, ch, inPlace, folded, all)
				}
				if int(chunks) < c.s.Channels[ch].Chunks {
					coarse++
					if _, err := foldedProof(twice(c.s, ch), ch, inPlace); err == nil && c.s.Spec.Kind.Reduces() {
						t.Errorf("%s, channel %d, %+v: sums of sums pass", c.name, ch, inPlace)
					}
				}
				if c.s.Spec.Kind == collective.Barrier && findMoves(NewExpander(c.s), ch, 1) != nil {
					barriers++
				}
			}
		}
	}
	if coarse < 10 || barriers < 10 {
		t.Errorf("%d channels whose chunks are taken together, %d barriers with moves", coarse, barriers)
	}
}

func TestOriginalsStandForAll(t *testing.T) {
	found := map[string]bool{}
	for _, c := range alikeCases() {
		for ch := range c.s.Channels {
			for _, inPlace := range []bool{false, true} {
				folded, all, ok := verdicts(c.s, findMoves(NewExpander(c.s), ch, 1), ch, inPlace)
				if ok && (folded == nil) != (all == nil) {
					t.Errorf("%s, channel %d, %+v: %v of the originals, %v of all ranks", c.name, ch, inPlace, folded, all)
				}
				found[c.name] = found[c.name] || ok
			}
		}
	}
	for _, name := range []string{"ring/all_reduce/8", "direct/all_reduce/8", "direct/all_to_all/8", "doubling/all_gather/8",
		"doubling/all_reduce/8",
		"grid [2 3 4] direct all_reduce", "grid [2 3 4] ring all_gather", "grid [3 5] direct reduce_scatter",
		"grid [2 2 4] doubling all_reduce", "grid [4 2] all_to_all", "grid [2 3 4] switch all_gather"} {
		if !found[name] {
			t.Errorf("%s: its ranks are not found to be alike", name)
		}
	}
}

// TestMovesOfGenerators holds what is known of generators against their programs: moving that of
// any rank gives that of the rank that it is moved to.
func TestMovesOfGenerators(t *testing.T) {
	cases := alikeCases()
	for n := 2; n <= 40; n++ {
		cases = append(cases, everyGenerator(n)...)
	}
	seen := 0
	for _, c := range cases {
		for ch := range c.s.Channels {
			m := findMoves(NewExpander(c.s), ch, 1)
			if m == nil {
				continue
			}
			seen++
			x := NewExpander(c.s)
			for _, by := range m.All() {
				if !x.bearsOut(ch, m.originals(), m.relabelling(0), []relabelling{m.relabelling(by)}) {
					t.Fatalf("%s, channel %d, %+v: moved by %d programs are others", c.name, ch, m, by)
				}
			}
		}
	}
	if seen < 800 {
		t.Errorf("%d channels with moves", seen)
	}
}

// edit breaks operation i of a rank's program in one of a few ways; moved by by, it
// breaks the programs of ranks that are equivalent alike. false where it does not apply.
func edit(ops []Op, what, i int, m *moves, by int32) ([]Op, bool) {
	op := &ops[i]
	j := (i + 3) % len(ops)
	single := func(l *Loc) bool { // chunk 0 of the original
		if l.Set.Len() != 1 || m.chunks < 2 {
			return false
		}
		was := m.chunk(l.Set.First, m.inverse(by))
		l.Set = One(m.chunk((was+1)%int32(m.chunks), by))
		return true
	}
	switch what {
	case 0:
		return slices.Delete(ops, i, i+1), true
	case 1:
		return slices.Insert(ops, i, *op), true
	case 2:
		ops[i], ops[j] = ops[j], ops[i]
	case 3:
		if op.Kind > RecvReduce {
			return ops, false
		}
		was := m.rank(op.Peer, m.inverse(by))
		op.Peer = m.rank((was+1)%int32(m.ranks), by)
	case 4:
		return ops, single(&op.Src)
	case 5:
		return ops, single(&op.Dst)
	case 6:
		op.Dst.Buf = (op.Dst.Buf + 1) % 3
	case 7:
		op.Src.Buf = (op.Src.Buf + 1) % 3
	case 8:
		switch op.Kind {
		case RecvReduce:
			op.Kind, op.Src = Recv, Loc{}
		case Recv:
			op.Kind, op.Src = RecvReduce, op.Dst
		case Reduce:
			op.Srcs = op.Srcs[:len(op.Srcs)-1]
		default:
			return ops, false
		}
	}
	return ops, true
}

// TestBrokenAlike breaks all ranks' programs alike, or one of them alone: originals must
// be refused where the whole is, and one rank alone never goes unseen.
func TestBrokenAlike(t *testing.T) {
	const seed, perCase = 20261122, 12
	alike, alone := 0, 0
	for i, c := range alikeCases() {
		for n := range perCase {
			rng := rand.New(rand.NewPCG(seed, uint64(i*perCase+n)))
			ch := rng.IntN(len(c.s.Channels))
			m := findMoves(NewExpander(c.s), ch, 1)
			if m == nil {
				continue
			}
			phase, what := rng.IntN(len(c.s.Channels[ch].Phases)), rng.IntN(9)
			for _, every := range []bool{true, false} {
				s := explicit(c.s)
				ops := s.Channels[ch].Phases[phase].Ops
				originals, at, by := m.originals(), rng.IntN(1<<20), m.All()
				r := originals[rng.IntN(len(originals))]
				if !every {
					by = by[len(by)/2:][:1]
				}
				ok := len(ops[r]) > 0
				for _, b := range by {
					if q := m.rank(r, b); ok {
						ops[q], ok = edit(ops[q], what, at%len(ops[q]), m, b)
					}
				}
				if !ok || s.Validate() != nil {
					continue
				}
				if !every {
					if Check(s, nil) != nil {
						alone++
					}
					continue
				}
				folded, all, found := verdicts(s, m, ch, false)
				name := fmt.Sprintf("%s, channel %d, phase %d, edit %d of operation %d, rank %d", c.name, ch, phase, what, at, r)
				if found && (folded == nil) != (all == nil) {
					t.Errorf("%s: %v of the originals, %v of all ranks", name, folded, all)
				}
				if found && all != nil {
					alike++
				}
			}
		}
	}
	if alike < 200 || alone < 200 {
		t.Errorf("only %d and %d broken mutants: the corpus is too weak (seed %d)", alike, alone, seed)
	}
	t.Logf("%d mutants broken alike, %d in one rank, all refused (seed %d)", alike, alone, seed)
}

// mutatePhases puts phases of any generators and collectives into a channel, on any groups and buffers, or
// takes one out. It may number only one chunk, where the channel does without numbers.
func mutatePhases(rng *rand.Rand, s *Schedule, ch *Channel) {
	gens, ops := slices.Sorted(maps.Keys(generators)), collective.All()
	if first := &ch.Phases[0]; len(ch.Phases) == 1 && first.Op == collective.AllReduce && first.Gen != GenRing && rng.IntN(3) == 0 {
		ch.Chunks = 1
	}
	for range 1 + rng.IntN(2) {
		at := rng.IntN(len(ch.Phases))
		if len(ch.Phases) > 1 && rng.IntN(8) == 0 {
			ch.Phases = slices.Delete(ch.Phases, at, at+1)
			continue
		}
		ph := ch.Phases[at]
		gen, op := gens[rng.IntN(len(gens))], ops[rng.IntN(len(ops))]
		if !Supports(gen, op) {
			continue
		}
		ph.Gen, ph.Op, ph.Radix, ph.Parents = gen, op, 2, nil
		ph.Src, ph.Acc, ph.Dst = Buffer(rng.IntN(3)), Output+Buffer(rng.IntN(2)), Output+Buffer(rng.IntN(2))
		if ph.Groups.Grid != nil {
			ph.Groups.Grid = mutatedGrid(rng, *ph.Groups.Grid)
		}
		ch.Phases = slices.Insert(ch.Phases, rng.IntN(len(ch.Phases)+1), ph)
	}
	s.Channels = []Channel{*ch}
	s.Needs = s.Uses()
}

// mutatedGrid runs along any axis, in any order, with any others fixed.
func mutatedGrid(rng *rand.Rand, g Grid) *Grid {
	g.Axis, g.Fixed, g.Order = rng.IntN(len(g.Dims)), nil, nil
	for a := range g.Dims {
		if a != g.Axis && rng.IntN(2) == 0 {
			g.Fixed = append(g.Fixed, a)
		}
	}
	if rng.IntN(4) == 0 {
		for _, i := range rng.Perm(int(g.Dims[g.Axis])) {
			g.Order = append(g.Order, int32(i))
		}
	}
	return &g
}

// TestMutatedPhases: whatever follows whatever, the checker says of originals what it says of all
// ranks. A claim of symmetry that programs do not bear out must not count.
func TestMutatedPhases(t *testing.T) {
	cases, right, wrong := alikeCases(), 0, 0
	for seed := range long.Or[uint64](2000, 60000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := cases[rng.IntN(len(cases))]
		s, ch := *c.s, c.s.Channels[rng.IntN(len(c.s.Channels))]
		ch.Phases = slices.Clone(ch.Phases)
		if mutatePhases(rng, &s, &ch); s.Validate() != nil {
			continue
		}
		m := findMoves(NewExpander(&s), 0, 1)
		for _, inPlace := range []bool{false, true} {
			folded, all, ok := verdicts(&s, m, 0, inPlace)
			if _, err := foldedProof(&s, 0, inPlace); (err == nil) != (newChecker(NewExpander(&s), 0, inPlace, unmoved(&s)).run() == nil) {
				t.Errorf("seed %d, %s, %+v, phases %+v: %v by the group, not of all ranks", seed, c.name, inPlace, ch.Phases, err)
			}
			switch {
			case !ok:
			case (folded == nil) != (all == nil):
				t.Errorf("seed %d, %s, %+v, phases %+v: %v of the originals, %v of all ranks", seed, c.name, inPlace, ch.Phases, folded, all)
			case all == nil:
				right++
			default:
				wrong++
			}
		}
	}
	if right < 500 || wrong < 500 {
		t.Errorf("%d right and %d wrong schedules: the corpus is too weak", right, wrong)
	}
	t.Logf("%d right and %d wrong schedules of which originals say so", right, wrong)
}

// TestOneNodeStandsForAll: of 512 ranks in three tiers, 2,048 in the long tier, the checker runs eight, whatever
// the algorithm, and still sees one rank that does otherwise.
func TestOneNodeStandsForAll(t *testing.T) {
	dims := []int32{8, long.Or[int32](8, 32), 8}
	ranks := dims[0] * dims[1] * dims[2]
	cases := map[string]*Schedule{"all_to_all": railExchange(ranks/8, 8), "flat": firstChannel(flat(GenDirect, collective.AllToAll, int(ranks)))}
	for _, gen := range []string{GenDirect, GenDoubling, GenRing} {
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
			cases[fmt.Sprint(gen, " ", kind)] = gridSchedule(dims, gen, kind)
		}
	}
	for name, s := range cases {
		k, err := proven(NewExpander(s), 0, false, true)
		if err != nil || len(k.ranks) > 8 {
			t.Errorf("%s: %d ranks are run: %v", name, len(k.ranks), err)
		}
	}
	s := explicit(cases["direct all_gather"])
	odd := s.Channels[0].Phases[1].Ops[ranks/2+21]
	odd[0].Src.Set.First++ // another rank's chunk
	if err := Check(s, nil); err == nil {
		t.Error("a rank sends another chunk than all others: not refused")
	}
}

// firstChannel is a schedule's first channel.
func firstChannel(s *Schedule) *Schedule {
	s.Channels = s.Channels[:1]
	return s
}

// BenchmarkCheckManyRanks proves an all-reduce of 16,384 ranks in four tiers.
func BenchmarkCheckManyRanks(b *testing.B) {
	s := gridSchedule([]int32{16, 4, 32, 8}, GenDirect, collective.AllReduce)
	for b.Loop() {
		if err := Check(s, nil); err != nil {
			b.Fatal(err)
		}
	}
}
