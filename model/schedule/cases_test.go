package schedule

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/collective"
)

// testCase is a schedule that must be right.
type testCase struct {
	name string
	s    *Schedule
}

// everyGenerator makes, for n ranks, each generator with each collective it supports.
func everyGenerator(n int) []testCase {
	var out []testCase
	for _, gen := range []string{GenRing, GenDirect, GenTree, GenDoubling, GenBruck, GenSwitch} {
		for _, op := range collective.All() {
			if !Supports(gen, op) || gen == GenDoubling && op != collective.AllReduce && n&(n-1) != 0 {
				continue
			}
			s := flat(gen, op, n)
			out = append(out, testCase{fmt.Sprintf("%s/%v/%d", gen, op, n), s})
		}
	}
	if n > 1 {
		out = append(out, testCase{fmt.Sprintf("chain of parents/%d", n), withParents(n)})
	}
	return out
}

// flat is one generator over all ranks, with the ring order rotated in channel 1.
func flat(gen string, op collective.Kind, n int) *Schedule {
	spec := collective.Spec{Kind: op, Ranks: n}
	if op.Rooted() {
		spec.Root = n / 2
	}
	if op == collective.AllToAllV {
		spec.Counts = skewedCounts(n)
	}
	s := &Schedule{Algorithm: gen, Spec: spec, Protocol: Simple}
	for c := range 2 {
		order := make([]int32, n)
		root := 0
		for i := range order {
			order[i] = int32((i*(1+c*(n-2)) + c) % n) // channel 1 runs backwards
			if n < 3 || op == collective.SendRecv {
				order[i] = int32(i)
			}
			if int(order[i]) == spec.Root {
				root = i
			}
		}
		chunks := n
		if spec.Blocks() == 1 && (gen == GenTree || op.Rooted() || op == collective.SendRecv) {
			chunks = 1
		}
		acc := Scratch
		if op == collective.AllReduce {
			acc = Output
		}
		ph := Phase{Gen: gen, Op: op, Groups: Groups{List: []Group{{Ranks: order}}}, Src: Input, Acc: acc, Dst: Output, Root: root}
		if gen == GenTree {
			ph.Radix = 2 + c
		}
		s.Channels = append(s.Channels, Channel{Share: int64(1 + c), Slices: 1 + c, Chunks: chunks, Phases: []Phase{ph}})
	}
	s.Needs = s.Uses()
	return s
}

func skewedCounts(n int) [][]int64 {
	out := make([][]int64, n)
	for i := range out {
		for j := range n {
			out[i] = append(out[i], int64((i*3+j*5)%4))
		}
	}
	out[0][0]++
	return out
}

// withParents is an all-reduce as reduce to and broadcast from the end of a chain.
func withParents(n int) *Schedule {
	parents := make(RankList, n)
	ranks := make(RankList, n)
	for i := range parents {
		parents[i], ranks[i] = int32(i)-1, int32(i)
	}
	g := Groups{List: []Group{{Ranks: ranks}}}
	return &Schedule{Algorithm: "chain", Spec: collective.Spec{Kind: collective.AllReduce, Ranks: n}, Protocol: LL,
		Channels: []Channel{{Share: 1, Slices: 3, Chunks: 1, Phases: []Phase{
			{Gen: GenTree, Op: collective.Reduce, Groups: g, Parents: parents, Src: Input, Acc: Scratch, Dst: Output},
			{Gen: GenTree, Op: collective.Broadcast, Groups: g, Parents: parents, Src: Output, Dst: Output},
		}}}}
}

// hierarchies are compositions over a grid of ranks.
func hierarchies() []testCase {
	var out []testCase
	for _, dims := range [][]int32{{2, 4}, {4, 2}, {3, 5}, {2, 3, 4}, {3, 2, 2}, {1, 4}, {4, 1}} {
		for _, gen := range []string{GenRing, GenDirect, GenBruck, GenSwitch} {
			for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
				out = append(out, testCase{fmt.Sprintf("grid %v %s %v", dims, gen, kind), gridSchedule(dims, gen, kind)})
			}
		}
	}
	return out
}

// gridSchedule scatters from the innermost axis outwards and gathers back inwards.
func gridSchedule(dims []int32, gen string, kind collective.Kind) *Schedule {
	n, last := 1, len(dims)-1
	for _, d := range dims {
		n *= int(d)
	}
	inner := func(axis int) (fixed []int) {
		for a := last; a > axis; a-- {
			fixed = append(fixed, a)
		}
		return fixed
	}
	var phases []Phase
	if kind != collective.AllGather {
		for a := last; a >= 0; a-- {
			ph := Phase{Gen: gen, Op: collective.ReduceScatter,
				Groups: Groups{Grid: &Grid{Dims: dims, Axis: a, Fixed: inner(a)}}, Src: Scratch, Acc: Scratch,
				Dst: Scratch}
			if a == last {
				ph.Src = Input
			}
			if a == 0 {
				ph.Dst = Output
			}
			phases = append(phases, ph)
		}
	}
	if kind != collective.ReduceScatter {
		for a := 0; a <= last; a++ {
			ph := Phase{Gen: gen, Op: collective.AllGather, Groups: Groups{Grid: &Grid{Dims: dims, Axis: a, Fixed: inner(a)}}, Src: Output,
				Acc: Output, Dst: Output}
			if a == 0 && kind == collective.AllGather {
				ph.Src = Input
			}
			phases = append(phases, ph)
		}
	}
	s := &Schedule{Algorithm: "hierarchical", Spec: collective.Spec{Kind: kind, Ranks: n}, Protocol: Simple,
		Channels: []Channel{{Share: 1, Slices: 2, Chunks: n, Phases: phases}}}
	s.Needs = s.Uses()
	return s
}

// countCases are matrices as they come: uneven, one pair alone, ranks that send or get
// nothing, one that everybody sends to.
func countCases(n int) map[string][][]int64 {
	out := map[string][][]int64{"skewed": skewedCounts(n)}
	for _, name := range []string{"one pair", "idle ranks", "hot rank", "to itself"} {
		m := make([][]int64, n)
		for i := range m {
			m[i] = make([]int64, n)
			for j := range m[i] {
				switch {
				case name == "idle ranks" && i%2 == 0 && j%3 != 1, name == "hot rank" && j == n/2, name == "to itself" &&
					i == j, name == "one pair" && i == 0 && j == n-1:
					m[i][j] = int64(1 + (i+j)%5)
				}
			}
		}
		out[name] = m
	}
	return out
}

// onRails is an all_to_allv over the rails of nodes, each block on one or on all of them.
func onRails(nodes, local int, counts [][]int64, balanced bool) *Schedule {
	n := nodes * local
	ch := Channel{Share: 1, Slices: 2, Chunks: n}
	stages := 2
	if balanced {
		ch.Chunks, stages = n*local, 3
	}
	for level := 1; level <= stages; level++ {
		if level == 3 && ch.Chunks == n && local > 1 {
			break
		}
		ch.Phases = append(ch.Phases, Phase{Gen: GenRails, Op: collective.AllToAllV, Level: level, Local: local})
	}
	if balanced && local == 1 {
		ch.Phases = ch.Phases[:2]
	}
	return &Schedule{Algorithm: "rails", Spec: collective.Spec{Kind: collective.AllToAllV, Ranks: n, Counts: counts}, Protocol: Simple,
		Channels: []Channel{ch}}
}

func allCases() []testCase {
	var out []testCase
	for n := 1; n <= 17; n++ {
		out = append(out, everyGenerator(n)...)
	}
	for _, dims := range [][2]int{{2, 2}, {2, 4}, {3, 2}, {4, 3}, {1, 4}, {4, 1}} {
		for name, counts := range countCases(dims[0] * dims[1]) {
			for _, balanced := range []bool{false, true} {
				out = append(out, testCase{fmt.Sprintf("rails %v %s balanced %v", dims, name, balanced),
					onRails(dims[0], dims[1], counts, balanced)})
			}
		}
	}
	slices.SortFunc(out, func(a, b testCase) int { return strings.Compare(a.name, b.name) })
	return append(out, hierarchies()...)
}
