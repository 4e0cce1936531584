package schedule

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/model/collective"
)

// Joined messages carry what those of the trees one by one carry, in no more messages, and
// make the same collectives, whatever the trees are like; the oracle agrees.
func TestJoinedTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	fewer := 0
	for range 60 {
		n := 2 + rng.IntN(9)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			s := joinedTrees(rng, n, kind)
			if err := Check(s, nil); err != nil {
				t.Fatalf("%d ranks, %v: %v", n, kind, err)
			}
			if !oracleAccepts(s, rng.Uint64(), 3) {
				t.Fatalf("%d ranks, %v: wrong results", n, kind)
			}
			joined, chunks := sent(s)
			s.Channels[0].Trees.Join = false
			single, all := sent(s)
			if joined > single || chunks != all {
				t.Fatalf("%d ranks, %v: %d messages of %d chunks, one by one %d of %d", n, kind, joined, chunks, single, all)
			}
			fewer += single - joined
		}
	}
	if fewer == 0 {
		t.Error("no messages were joined")
	}
}

// Levels may be any that rise along paths; the oracle agrees. Others are refused.
func TestGivenLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	for range 60 {
		n := 2 + rng.IntN(9)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			given := &Trees{}
			s := randomTrees(rng, n, kind, func(x *Trees) {
				x.Join, x.Early = false, false
				for i := range x.List {
					x.List[i].Levels = randomLevels(rng, x.List[i].Parent)
				}
				given = x
			})
			if err := Check(s, nil); err != nil {
				t.Fatalf("%d ranks, %v: %v", n, kind, err)
			}
			if !oracleAccepts(s, rng.Uint64(), 3) {
				t.Fatalf("%d ranks, %v: wrong results", n, kind)
			}
			first := &s.Channels[0].Phases[0]
			level := first.Level
			first.Level = 0
			if err := Check(s, nil); err == nil || !strings.Contains(err.Error(), "level by level") {
				t.Fatalf("%d ranks, %v: levels in a phase of all of them: %v", n, kind, err)
			}
			first.Level = level
			x := &given.List[rng.IntN(len(given.List))]
			v := rng.IntN(n)
			if x.Levels = slices.Clone(x.Levels); x.Parent[v] < 0 {
				x.Levels[v] = 1
			} else {
				x.Levels[v] = x.Levels[x.Parent[v]]
			}
			if Check(s, nil) == nil {
				t.Fatalf("%d ranks, %v: accepts levels %v of parents %v", n, kind, x.Levels, x.Parent)
			}
		}
	}
}

// randomLevels rise along every path, now and then by more than one.
func randomLevels(rng *rand.Rand, parent RankList) RankList {
	level := make(RankList, len(parent))
	var of func(v int32) int32
	of = func(v int32) int32 {
		if parent[v] >= 0 && level[v] == 0 {
			level[v] = of(parent[v]) + 1 + rng.Int32N(3)
		}
		return level[v]
	}
	for v := range parent {
		of(int32(v))
	}
	return level
}

// A sketch has the programs of the ranks that it is asked for as one of all ranks has them, and nothing of what others do among themselves.
func TestSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	spared := 0
	for range 60 {
		n := 2 + rng.IntN(9)
		for _, kind := range []collective.Kind{collective.AllGather, collective.ReduceScatter, collective.AllReduce} {
			s := joinedTrees(rng, n, kind)
			s.Channels[0].Trees.Join = rng.IntN(2) == 0
			of := rng.Perm(n)[:1+rng.IntN(n)]
			some, all := NewSketch(s, of), NewSketch(s, rng.Perm(n))
			for ph := range s.Channels[0].Phases {
				for r := range n {
					a, b := some.AppendProgram(nil, 0, ph, r), all.AppendProgram(nil, 0, ph, r)
					if spared += len(b) - len(a); slices.Contains(of, r) && !reflect.DeepEqual(a, b) {
						t.Fatalf("%d ranks, %v, of %v, rank %d: %v, not %v", n, kind, of, r, a, b)
					}
				}
			}
		}
	}
	if spared < 1000 {
		t.Errorf("only %d operations were spared", spared)
	}
}

// sent counts messages and their chunks.
func sent(s *Schedule) (messages, chunks int) {
	x := NewExpander(s)
	for ph := range s.Channels[0].Phases {
		for r := range s.Spec.Ranks {
			for _, op := range x.AppendProgram(nil, 0, ph, r) {
				if op.Kind == Send {
					messages++
					chunks += op.Src.Set.Len()
				}
			}
		}
	}
	return messages, chunks
}

// joinedTrees is a schedule of random trees that join messages. Trees of a rank are often
// alike in part, as packed ones are.
func joinedTrees(rng *rand.Rand, n int, kind collective.Kind) *Schedule {
	return randomTrees(rng, n, kind, func(*Trees) {})
}

// randomTrees is a schedule of random trees, which edit may change.
func randomTrees(rng *rand.Rand, n int, kind collective.Kind, edit func(*Trees)) *Schedule {
	units := int32(1 + rng.IntN(4))
	t := &Trees{Units: units, Local: int32(n), Join: true, Early: rng.IntN(2) == 0}
	if kind == collective.AllReduce {
		t.Units = 0
	}
	for root := range int32(n) {
		parent := randomTree(rng, n, root)
		for left := units; left > 0; {
			w := 1 + rng.Int32N(left)
			t.List = append(t.List, Tree{Root: root, Weight: w, Parent: parent})
			left -= w
			if rng.IntN(2) == 0 {
				parent = randomTree(rng, n, root)
			}
		}
	}
	edit(t)
	ch := Channel{Share: 1, Slices: 1 + rng.IntN(3), Chunks: n * int(units), Trees: t}
	for d := t.Height(); d > 0 && kind != collective.AllGather; d-- {
		ch.Phases = append(ch.Phases, Phase{Gen: GenTrees, Op: collective.ReduceScatter, Src: Input, Acc: Scratch, Dst: Output, Level: d})
	}
	from := Input
	if kind == collective.AllReduce {
		from = Output
	}
	for d := 1; d <= t.Height() && kind != collective.ReduceScatter; d++ {
		ch.Phases = append(ch.Phases, Phase{Gen: GenTrees, Op: collective.AllGather, Src: from, Acc: Scratch, Dst: Output, Level: d})
	}
	return &Schedule{Algorithm: "random", Spec: collective.Spec{Kind: kind, Ranks: n}, Protocol: Simple, Channels: []Channel{ch}}
}

func randomTree(rng *rand.Rand, n int, root int32) RankList {
	parent := make(RankList, n)
	parent[root] = -1
	in := []int32{root}
	for _, v := range rng.Perm(n) {
		if int32(v) != root {
			parent[v] = in[rng.IntN(len(in))]
			in = append(in, int32(v))
		}
	}
	return parent
}

// Sets join where they follow one another or are equally long and equally far apart.
func TestJoin(t *testing.T) {
	hops := func(ranges ...int32) (out []joint) {
		for i := 0; i < len(ranges); i += 2 {
			out = append(out, joint{to: 1, set: Range(ranges[i], ranges[i+1])})
		}
		return out
	}
	for _, c := range []struct {
		hops  []joint
		early bool
		want  []ChunkSet
	}{
		{hops(0, 1, 1, 1, 4, 1, 5, 1), false, []ChunkSet{{First: 0, Count: 2, Stride: 1, Outer: 2, OuterStride: 4}}},
		{hops(0, 1, 3, 1, 4, 1, 7, 1), true, []ChunkSet{{First: 0, Count: 1, Stride: 1, Outer: 2, OuterStride: 3},
			{First: 4, Count: 1, Stride: 1, Outer: 2, OuterStride: 3}}},
		{hops(0, 2, 2, 3, 5, 1), false, []ChunkSet{Range(0, 6)}},
		{hops(8, 2, 0, 2, 4, 2), false, []ChunkSet{{First: 0, Count: 2, Stride: 1, Outer: 3, OuterStride: 4}}},
		{hops(0, 2, 4, 2, 9, 2), false, []ChunkSet{{First: 0, Count: 2, Stride: 1, Outer: 2, OuterStride: 4}, Range(9, 2)}},
		{hops(0, 2, 4, 1), false, []ChunkSet{Range(0, 2), Range(4, 1)}},
	} {
		var got []ChunkSet
		for _, m := range join(c.hops, c.early) {
			got = append(got, m.set)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("joined: %v, want %v", got, c.want)
		}
	}
}

// Channels that have the very same programs are expanded once, whatever their slices.
func TestCopiesOfAChannelAreExpandedOnce(t *testing.T) {
	s := joinedTrees(rand.New(rand.NewPCG(1, 2)), 7, collective.AllGather)
	s.Channels = append(s.Channels, s.Channels[0])
	s.Channels[1].Slices = 5
	x := NewExpander(s)
	for p := range s.Channels[0].Phases {
		if x.trees[0][p].treePhases != x.trees[1][p].treePhases {
			t.Errorf("phase %d is expanded twice", p)
		}
	}
}
