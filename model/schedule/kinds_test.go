package schedule

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/collective"
)

// overKinds are collectives that nodes of kinds make.
var overKinds = []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce, collective.AllToAll,
	collective.Broadcast, collective.Reduce}

// randomKinds is a collective in which everybody talks to everybody, by the programs of the first
// nodes of random kinds.
func randomKinds(rng *rand.Rand, what collective.Kind) *Schedule {
	k, size := &Kinds{}, []int32{}
	for range 1 + rng.IntN(3) {
		size = append(size, 1+rng.Int32N(3))
	}
	of, n := []int32{}, int32(0)
	for range 2 + rng.IntN(6) {
		of = append(of, rng.Int32N(int32(len(size))))
		n += size[of[len(of)-1]]
	}
	spec := collective.Spec{Kind: what, Ranks: int(n)}
	if what.Rooted() {
		spec.Root = rng.IntN(int(n))
		left := int32(spec.Root)
		for node := range of {
			if left -= size[of[node]]; left < 0 {
				size, of[node] = append(size, size[of[node]]), int32(len(size))
				break
			}
		}
	}
	for kind, ranks := range size { // those that there are
		if slices.Contains(of, int32(kind)) {
			for node := range of {
				if of[node] == int32(kind) {
					of[node] = int32(len(k.Of))
				}
			}
			k.Of = append(k.Of, NodeKind{Ranks: ranks, Chunks: RankList{ranks}})
		}
	}
	k.Nodes = of
	s := flat(GenDirect, what, int(n))
	s.Spec = spec
	ch := s.Channels[0]
	ch.Chunks, ch.Phases[0].Root = int(n), spec.Root
	for i := range ch.Phases[0].Groups.List[0].Ranks {
		ch.Phases[0].Groups.List[0].Ranks[i] = int32(i)
	}
	s.Channels = []Channel{ch}
	x, ops := NewExpander(s), []Program{}
	for _, r := range newKindMoves(k).originals() {
		ops = append(ops, x.AppendProgram(nil, 0, 0, int(r)))
	}
	ch.Kinds, ch.Phases = k, []Phase{{Gen: GenOps, Op: what, Src: Input, Acc: Scratch, Dst: Output, Ops: ops}}
	return &Schedule{Algorithm: "kinds", Spec: spec, Protocol: Simple, Channels: []Channel{ch}}
}

// stretched has rows of chunks in place of each chunk: as many of all blocks, or else of each rank of a kind of nodes.
func stretched(rng *rand.Rand, s *Schedule) *Schedule {
	out, ch := *s, s.Channels[0]
	k, start := &Kinds{Nodes: ch.Kinds.Nodes, Of: slices.Clone(ch.Kinds.Of)}, []int32{0}
	same, sizes := 1+rng.Int32N(3), make([][]int32, len(k.Of))
	for kind := range sizes {
		k.Of[kind].Chunks = RankList{0}
		for range k.Of[kind].Ranks {
			size := same
			if s.Spec.Blocks() == 1 {
				size = 1 + rng.Int32N(4)
			}
			sizes[kind] = append(sizes[kind], size)
			k.Of[kind].Chunks[0] += size
		}
	}
	for _, kind := range k.Nodes {
		for _, size := range sizes[kind] {
			start = append(start, start[len(start)-1]+size)
		}
	}
	n, wide := int32(ch.Chunks), start[len(start)-1]
	at := func(place int32) int32 { return place/n*wide + start[place%n] }
	grow := func(l *Loc) {
		if l.Set.Len() > 0 {
			l.Set = Range(at(l.Set.First), at(l.Set.First+l.Set.Count)-at(l.Set.First))
		}
	}
	ch.Chunks, ch.Kinds, ch.Phases = int(wide), k, slices.Clone(ch.Phases)
	for p := range ch.Phases {
		programs := slices.Clone(ch.Phases[p].Ops)
		for i := range programs {
			programs[i] = slices.Clone(programs[i])
			for j := range programs[i] {
				op := &programs[i][j]
				op.Srcs = slices.Clone(op.Srcs)
				grow(&op.Src)
				grow(&op.Dst)
				for x := range op.Srcs {
					grow(&op.Srcs[x])
				}
			}
		}
		ch.Phases[p].Ops = programs
	}
	out.Channels = []Channel{ch}
	return &out
}

// byFirstNodes is what the checker says of all ranks, and of the first nodes alone, with one chunk for those that no program tells
// apart; few are the nodes' ranks and these chunks, where it takes them so.
func byFirstNodes(s *Schedule) (few [2]int, fewest, all error) {
	x := NewExpander(s)
	all, fewest = newChecker(x, 0, false, unmoved(x.s)).run(), errAsymmetric
	for _, y := range []*Expander{x, x.coarse(0)} {
		if y == nil {
			continue
		}
		k, err := folded(y, 0, false)
		if errors.Is(err, errAsymmetric) || y.torn {
			continue
		}
		few = [2]int{len(k.ranks), k.chunks}
		if fewest = err; err == nil && all != nil {
			break
		}
	}
	return few, fewest, all
}

// Results are right, whether one node of each kind is run or all ranks, and files hold them.
func TestRandomKinds(t *testing.T) {
	fewer, coarse := 0, 0
	for seed := range long.Or[uint64](100, 400) {
		rng := rand.New(rand.NewPCG(20261123, seed))
		for _, what := range overKinds {
			s := stretched(rng, randomKinds(rng, what))
			if err := s.Validate(); err != nil {
				t.Fatalf("seed %d, %v: %v", seed, what, err)
			}
			var file bytes.Buffer
			if err := Encode(&file, s); err != nil {
				t.Fatal(err)
			}
			stored, err := Decode(&file)
			if err != nil || !bytes.Equal(digest(stored), digest(s)) {
				t.Fatalf("seed %d, %v: a file holds another plan: %v", seed, what, err)
			}
			few, folded, all := byFirstNodes(stored)
			if folded != nil || all != nil {
				t.Errorf("seed %d, %v: %v; by one node of each kind %v", seed, what, all, folded)
			}
			if !oracleAccepts(s, rng.Uint64(), 2) {
				t.Errorf("seed %d, %v: wrong results", seed, what)
			}
			if few[0] < s.Spec.Ranks {
				fewer++
			}
			if few[1] < s.Channels[0].Chunks {
				coarse++
			}
		}
	}
	if fewer == 0 || coarse == 0 {
		t.Errorf("%d times a node stood for others, %d times a chunk", fewer, coarse)
	}
}

// Whatever is wrong with the programs of first nodes is seen in these alone.
func TestKindsThatAreWrong(t *testing.T) {
	refused, right := 0, 0
	for seed := range long.Or[uint64](3000, 60000) {
		rng := rand.New(rand.NewPCG(77, seed))
		s := stretched(rng, randomKinds(rng, overKinds[rng.IntN(len(overKinds))]))
		ch := &s.Channels[0]
		if rng.IntN(2) == 0 { // once more the same
			again := ch.Phases[0]
			again.Ops = slices.Clone(again.Ops)
			for i := range again.Ops {
				again.Ops[i] = slices.Clone(again.Ops[i])
			}
			ch.Phases = append(ch.Phases, again)
		}
		for range 1 + rng.IntN(3) {
			programs := ch.Phases[rng.IntN(len(ch.Phases))].Ops
			if ops := &programs[rng.IntN(len(programs))]; len(*ops) > 0 {
				*ops = editKinds(rng, *ops, int32(s.Spec.Ranks))
			}
		}
		if s.Validate() != nil {
			continue
		}
		switch _, folded, all := byFirstNodes(s); {
		case folded == nil && all != nil:
			t.Errorf("seed %d: %v, unseen in the first nodes", seed, all)
		case folded != nil:
			refused++
		default:
			right++
		}
	}
	if refused < 1000 || right < 100 {
		t.Errorf("%d schedules were refused, %d were not", refused, right)
	}
}

// What stays where it is does the same with all nodes' chunks in the same order: of what is stored in one place, the last counts, which
// differs here between the two nodes' chunks.
func TestOrderOfWhatStays(t *testing.T) {
	m := newKindMoves(&Kinds{Nodes: RankList{0, 0}, Of: []NodeKind{{Ranks: 1, Chunks: RankList{1}}}})
	const copies = 2 // of scratch, of two chunks each, from which all goes to the one behind them
	program := func(first, last int32) Program {
		return Program{fromPeer(One(first), One(2*copies)), fromPeer(Range(2, 2), Range(2*copies, 2)), fromPeer(One(last), One(2*copies+1))}
	}
	if m.movable(program(0, 1)) {
		t.Error("chunks of one node end with what is stored last, those of the other with what is stored first")
	}
	if both := (Program{fromPeer(Range(0, 2), Range(2*copies, 2))}); !m.movable(both) {
		t.Error("what is the same for both is refused")
	}
}

// fromPeer stores what is in a place of scratch and comes from rank 1 in another.
func fromPeer(acc, to ChunkSet) Op {
	return Op{Kind: RecvReduce, Peer: 1, Src: Loc{Buf: Scratch, Set: acc}, Dst: Loc{Buf: Scratch, Set: to}}
}

// editKinds changes one operation of a program, or two chunks or two peers throughout.
func editKinds(rng *rand.Rand, ops Program, ranks int32) Program {
	i, j, a, b := rng.IntN(len(ops)), rng.IntN(len(ops)), rng.Int32N(ranks), rng.Int32N(ranks)
	exchange := func(x *int32) {
		switch *x {
		case a:
			*x = b
		case b:
			*x = a
		}
	}
	switch rng.IntN(7) {
	case 0:
		return slices.Delete(ops, i, i+1)
	case 1:
		ops[i].Peer = a
	case 2:
		ops[i].Src.Set.First = a
	case 3:
		ops[i].Dst.Set.First = a
	case 4:
		ops[i], ops[j] = ops[j], ops[i]
	case 5:
		for i := range ops {
			exchange(&ops[i].Dst.Set.First)
		}
	default:
		for i := range ops {
			exchange(&ops[i].Peer)
		}
	}
	return ops
}

// Claims that cannot be are refused with one line.
func TestKindsAreValid(t *testing.T) {
	two := func(change func(s *Schedule, k *Kinds)) error {
		s := flat(GenDirect, collective.AllGather, 4)
		x := NewExpander(s)
		ch := Channel{Share: 1, Slices: 1, Chunks: 4, Kinds: &Kinds{RankList{0, 0}, []NodeKind{{2, RankList{2}}}},
			Phases: []Phase{{Gen: GenOps, Op: collective.AllGather, Ops: []Program{x.AppendProgram(nil, 0, 0, 0),
				x.AppendProgram(nil, 0, 0, 1)}}}}
		s.Channels = []Channel{ch}
		change(s, ch.Kinds)
		return s.Validate()
	}
	for want, change := range map[string]func(s *Schedule, k *Kinds){
		"":                   func(*Schedule, *Kinds) {},
		"there is no kind 1": func(_ *Schedule, k *Kinds) { k.Nodes[1] = 1 },
		"kind 1 of 0 nodes":  func(_ *Schedule, k *Kinds) { k.Of = append(k.Of, k.Of[0]) },
		"6 ranks and 6 chunks instead of 4 and 4": func(_ *Schedule, k *Kinds) { k.Nodes = append(k.Nodes, 0) },
		"instead of 1 for each of 2 ranks":        func(_ *Schedule, k *Kinds) { k.Of[0].Chunks = RankList{1, 1} },
		"programs for 2 ranks":                    func(s *Schedule, _ *Kinds) { s.Channels[0].Phases[0].Ops = nil },
		"neither of one node each nor the same":   func(s *Schedule, _ *Kinds) { s.Channels[0].Phases[0].Ops[0][0].Src.Set = Range(1, 2) },
		"is not the only one of its kind":         func(s *Schedule, _ *Kinds) { s.Spec.Kind = collective.Scatter },
		"nodes are not equivalent in send_recv": func(s *Schedule, k *Kinds) {
			s.Spec.Kind, s.Channels[0].Chunks = collective.SendRecv,
				4
		},
		"of generator ops": func(s *Schedule, _ *Kinds) { s.Channels[0].Phases[0].Gen = GenTrees },
	} {
		if err := two(change); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// The proof of one channel is that of the next only if both do the same.
func TestChannelsThatDifferAreProven(t *testing.T) {
	s := randomKinds(rand.New(rand.NewPCG(11, 1)), collective.AllReduce)
	other := s.Channels[0]
	other.Slices = 3
	s.Channels = append(s.Channels, other)
	if err := Check(s, nil); err != nil {
		t.Error(err)
	}
	s.Channels[1].Phases = nil
	if Check(s, nil) == nil {
		t.Error("a channel without a phase passes")
	}
}
