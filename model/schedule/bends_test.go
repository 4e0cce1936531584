package schedule

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
)

// randomBends are kinds of nodes that bend their rails anyhow.
func randomBends(rng *rand.Rand, what collective.Kind) *Schedule {
	rails, kinds, nodes := 1+rng.IntN(4), 1+rng.IntN(3), 2+rng.IntN(5)
	b := &Bends{Units: int32(1 + rng.IntN(4))}
	for range kinds {
		var k BentKind
		for j := range rails {
			if what != collective.AllToAll && len(k.Lost) < rails-1 && rng.IntN(4) == 0 {
				k.Lost = append(k.Lost, int32(j))
			}
		}
		for j := range rails {
			var by, roots RankList
			for range b.Units {
				x := int32(j)
				for rng.IntN(3) == 0 || slices.Contains(k.Lost, x) {
					x = rng.Int32N(int32(rails))
				}
				by, roots = append(by, x), append(roots, rng.Int32N(3))
			}
			k.By = append(k.By, by)
			if what == collective.AllReduce || what.Rooted() {
				k.Roots = append(k.Roots, roots)
			}
		}
		b.Kinds = append(b.Kinds, k)
	}
	ranks := 0
	for range nodes {
		k := rng.IntN(kinds)
		b.Nodes = append(b.Nodes, int32(k))
		ranks += rails - len(b.Kinds[k].Lost)
	}
	s := &Schedule{Algorithm: "bends", Protocol: Simple, Spec: collective.Spec{Kind: what, Ranks: ranks}}
	if what.Rooted() {
		s.Spec.Root = rng.IntN(ranks)
	}
	_, chunks := b.count(s)
	ch := Channel{Share: 1, Slices: 1, Chunks: int(chunks), Bends: b}
	stage := func(op collective.Kind, level int, src, dst Buffer) {
		ch.Phases = append(ch.Phases, Phase{Gen: GenBends, Op: op, Level: level, Src: src, Acc: dst, Dst: dst})
	}
	switch what {
	case collective.AllGather:
		stage(what, 1, Input, Output)
		stage(what, 2, Output, Output)
		stage(what, 3, Output, Output)
	case collective.ReduceScatter:
		stage(what, 3, Input, Scratch)
		stage(what, 2, Scratch, Scratch)
		stage(what, 1, Scratch, Output)
	case collective.AllReduce:
		stage(collective.ReduceScatter, 3, Input, Scratch)
		stage(collective.ReduceScatter, 2, Scratch, Output)
		stage(collective.AllGather, 2, Output, Output)
		stage(collective.AllGather, 3, Output, Output)
	case collective.Broadcast:
		stage(what, 1, Input, Output)
		stage(what, 2, Output, Output)
		stage(collective.AllGather, 2, Output, Output)
		stage(collective.AllGather, 3, Output, Output)
	case collective.Reduce:
		stage(collective.ReduceScatter, 3, Input, Scratch)
		stage(collective.ReduceScatter, 2, Scratch, Scratch)
		stage(what, 2, Scratch, Scratch)
		stage(what, 1, Scratch, Output)
	default:
		for level := 1; level <= 3; level++ {
			stage(what, level, Input, Output)
		}
	}
	s.Channels = []Channel{ch}
	return s
}

// However rails bend, results are right, whether one node of each kind is run or all ranks.
func TestRandomBends(t *testing.T) {
	alone, seen, seeds := 0, 0, long.Or[uint64](150, 600)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(20261122, seed))
		for _, what := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.AllToAll,
			collective.Broadcast, collective.Reduce} {
			s := randomBends(rng, what)
			if s.Validate() != nil { // one rank, or no chunks
				continue
			}
			seen++
			x := NewExpander(s)
			whole := newChecker(s, x, 0, CheckOptions{}, nil)
			if err := whole.run(); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, what, err)
			}
			m := newKindMoves(s, x, 0)
			k := newChecker(s, x, 0, CheckOptions{}, m)
			if !k.follows(m) {
				continue
			}
			if err := k.run(); err != nil {
				t.Errorf("seed %d, %v: one node of each kind: %v", seed, what, err)
			}
			if alone++; len(k.ranks) > len(whole.ranks) {
				t.Errorf("seed %d, %v: %d of %d ranks", seed, what, len(k.ranks), len(whole.ranks))
			}
			for r := range s.Spec.Ranks {
				by := m.of(int32(r))
				want, got := whole.progs[m.rank(int32(r), by)], whole.progs[r]
				if !sameBut(m, want, got, by) {
					t.Fatalf("seed %d, %v: rank %d does otherwise than the first node of its kind", seed, what, r)
				}
			}
		}
	}
	if seen < 4*int(seeds) || alone < seen*9/10 {
		t.Errorf("%d of %d schedules by one node of each kind", alone, seen)
	}
}

// sameBut reports whether moving a program gives another one, in any order of messages and
// however what goes to or comes from a peer is cut into them.
func sameBut(m *kindMoves, of, with []Op, by int32) bool {
	type key struct {
		kind     OpKind
		peer     int32
		src, dst Buffer
	}
	places := func(ops []Op, by int32) map[key][]int32 {
		out := map[key][]int32{}
		for _, o := range ops {
			if o.Kind == Reduce { // in copies of scratch of its own
				continue
			}
			x := key{o.Kind, o.Peer, o.Src.Buf, o.Dst.Buf}
			if o.Peer >= 0 {
				x.peer = m.rank(o.Peer, by)
			}
			for _, set := range []ChunkSet{o.Src.Set, o.Dst.Set} {
				set.Each(func(c int32) { out[x] = append(out[x], m.chunk(c, by)%int32(len(m.owner))) })
			}
		}
		for _, list := range out {
			slices.Sort(list)
		}
		return out
	}
	return maps.EqualFunc(places(of, by), places(with, 0), slices.Equal[[]int32])
}

// A node that sends to some of a kind what it does not send to others is not run for all.
func TestKindsThatAreUnlike(t *testing.T) {
	refused := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(7, seed))
		s := randomBends(rng, collective.AllGather)
		if s.Validate() != nil {
			continue
		}
		x := NewExpander(s)
		m := newKindMoves(s, x, 0)
		k := newChecker(s, x, 0, CheckOptions{}, m)
		for _, r := range k.ranks { // the last message of a first node to another kind goes astray
			for i := len(k.progs[r]) - 1; i >= 0; i-- {
				op := &k.progs[r][i]
				if op.Kind == Send && m.of(op.Peer) != 0 && m.first[m.node[op.Peer]] != m.first[m.node[r]] {
					left := op.Peer
					k.progs[r][i] = Op{Kind: Copy, Peer: -1, Src: Loc{Input, Range(0, 0)}, Dst: Loc{Output, Range(0, 0)}}
					if k.run() == nil {
						t.Fatalf("seed %d: rank %d leaves rank %d out, unseen", seed, r, left)
					}
					refused++
					break
				}
			}
			break
		}
	}
	if refused == 0 {
		t.Error("nothing was left out")
	}
}

// The proof of one channel is that of the next only if both do the same.
func TestChannelsThatDifferAreProven(t *testing.T) {
	refused := 0
	for seed := range uint64(40) {
		s := randomBends(rand.New(rand.NewPCG(11, seed)), collective.Broadcast)
		if s.Validate() != nil {
			continue
		}
		other := s.Channels[0]
		other.Slices = 3
		s.Channels = append(s.Channels, other)
		if err := Check(s, nil); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Channels[1].Phases = other.Phases[:len(other.Phases)-1]
		if len(s.Channels[0].Bends.Nodes) < s.Spec.Ranks && Check(s, nil) != nil { // nodes of one rank need no last stage
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("%d channels without their last stage were refused", refused)
	}
}
