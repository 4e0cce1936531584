package schedule

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"railyard/model/collective"
)

// Where a turn is said to leave trees as they are, it makes of every program that of the rank and the phase to which it brings these,
// operation by operation and chunk by chunk; and it is said of trees that were turned, whatever their strands, until one is another.
func TestTreeTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 3))
	turn, not := 0, 0
	for i := range 300 {
		kind := []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce}[i%3]
		s := turnedTrees(rng, kind)
		if err := Check(s, nil); err != nil {
			t.Fatalf("%d, %v: %v", i, kind, err)
		}
		if s.TreeTurn(0) == nil {
			t.Errorf("%d, %v: trees that turn are not found to", i, kind)
		}
		for range 8 {
			if phases := s.TreeTurn(0); phases == nil {
				not++
			} else if turn++; !programsTurn(t, s, phases) {
				t.Fatalf("%d, %v: programs do not turn", i, kind)
			}
			if spoil(rng, s); s.Validate() != nil {
				break
			}
		}
	}
	if turn < 300 || not < 300 {
		t.Errorf("%d schedules turn, %d do not", turn, not)
	}
}

// turnedTrees are random trees of the first node's ranks and what turns make of them, in strands that these take to others, or in one.
func turnedTrees(rng *rand.Rand, kind collective.Kind) *Schedule {
	nodes, local, units := 2+rng.Int32N(4), 1+rng.Int32N(4), 1+rng.Int32N(3)
	ranks := nodes * local
	t := &Trees{Units: units, Local: local}
	strands, height := rng.IntN(2) == 0, int32(0)
	var own []Tree
	for root := range local {
		for left := units; left > 0; {
			x := Tree{Root: root, Weight: 1 + rng.Int32N(left), Parent: randomTree(rng, int(ranks), root)}
			left -= x.Weight
			height = max(height, slices.Max(depths(x.Parent)))
			own = append(own, x)
		}
	}
	for n := range nodes {
		for i := range own {
			x, by, strand := own[i], n*local, (n+int32(i))%nodes
			out := Tree{Root: x.Root + by, Weight: x.Weight, Parent: make(RankList, ranks)}
			if strands {
				out.Levels = make(RankList, ranks)
			}
			for v, level := range depths(x.Parent) {
				at := (int32(v) + by) % ranks
				if out.Parent[at] = -1; x.Parent[v] >= 0 {
					out.Parent[at] = (x.Parent[v] + by) % ranks
				}
				if strands && level > 0 {
					out.Levels[at] = strand*height + level
				}
			}
			t.List = append(t.List, out)
		}
	}
	ch := Channel{Share: 1, Slices: 1, Chunks: int(ranks * units), Trees: t}
	count := int32(1)
	if strands {
		count = nodes
	}
	for g := range count {
		first := len(ch.Phases)
		add := func(op collective.Kind, src Buffer, level int32) {
			ch.Phases = append(ch.Phases, Phase{Gen: GenTrees, Op: op, Src: src, Acc: Scratch, Dst: Output, Level: int(level)})
		}
		from := Input
		if kind == collective.AllReduce {
			from = Output
		}
		for d := height; d > 0 && kind != collective.AllGather; d-- {
			add(collective.ReduceScatter, Input, g*height+d)
		}
		for d := int32(1); d <= height && kind != collective.ReduceScatter; d++ {
			add(collective.AllGather, from, g*height+d)
		}
		ch.Phases[first].Apart = g > 0
	}
	return &Schedule{Algorithm: "turned", Spec: collective.Spec{Kind: kind, Ranks: int(ranks)}, Protocol: Simple, Channels: []Channel{ch}}
}

// programsTurn reports whether a turn by one node makes of all programs those of the ranks and phases to which it brings these.
func programsTurn(t *testing.T, s *Schedule, phases []int32) bool {
	t.Helper()
	ch, ranks := &s.Channels[0], int32(s.Spec.Ranks)
	by, chunks := ch.Trees.Local, int32(ch.Chunks)
	x := NewExpander(s)
	move := func(l *Loc) {
		if l.Set.Len() > 0 {
			l.Set.First = (l.Set.First + by*ch.Trees.Units) % chunks
		}
	}
	for p, q := range phases {
		for r := range ranks {
			ops := x.AppendProgram(nil, 0, p, int(r))
			for i := range ops {
				if ops[i].Peer >= 0 {
					ops[i].Peer = (ops[i].Peer + by) % ranks
				}
				move(&ops[i].Src)
				move(&ops[i].Dst)
			}
			if want := x.AppendProgram(nil, 0, int(q), int((r+by)%ranks)); !reflect.DeepEqual(ops, want) {
				t.Logf("phase %d, rank %d: %v, not %v", p, r, ops, want)
				return false
			}
		}
	}
	return true
}

// spoil changes something in one tree, or how two follow one another.
func spoil(rng *rand.Rand, s *Schedule) {
	list := s.Channels[0].Trees.List
	i, j := rng.IntN(len(list)), rng.IntN(len(list))
	x, n := &list[i], s.Spec.Ranks
	switch rng.IntN(3) {
	case 0:
		x.Parent, x.Levels = randomTree(rng, n, x.Root), nil
	case 1:
		v := rng.IntN(n)
		if x.Levels = slices.Clone(x.Levels); x.Levels != nil && int32(v) != x.Root {
			x.Levels[v]++
		}
	default:
		list[i], list[j] = list[j], list[i]
	}
}
