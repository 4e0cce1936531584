package schedule

import (
	"math/rand/v2"
	"testing"
)

// randomTrees are spanning trees over n ranks with random weights and rates.
func randomTrees(r *rand.Rand, n, count int) *Trees {
	t := &Trees{Local: int32(n), Pieces: 4}
	for range count {
		order := r.Perm(n)
		parent := make(RankList, n)
		parent[order[0]] = -1
		for i, v := range order[1:] {
			parent[v] = int32(order[r.IntN(i+1)])
		}
		t.List = append(t.List, Tree{Root: int32(order[0]), Weight: t.Pieces * (1 + r.Int32N(5)), Parent: parent})
	}
	for u := range int32(n) {
		for v := range int32(n) {
			if u != v && r.IntN(2) == 0 {
				t.Rates = append(t.Rates, TreeRate{u, v, 1 + r.Int32N(4)})
			}
		}
	}
	return t
}

// From the start of a hop to the end of all that waits for it, by what waits for what.
func TestTimeToGoOfHops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for range 100 {
		n := 2 + r.IntN(7)
		for _, way := range [][2]bool{{true, false}, {false, true}, {true, true}} {
			p := newTreePlan(newTreePhases(randomTrees(r, n, 3), n), way[0], way[1], 4)
			for i := range p.b.List {
				got := make([]int64, len(p.hops))
				p.togo(i, got)
				for v, u := range p.b.List[i].Parent {
					for down, wanted := range way {
						if h := p.hop(i, int32(v), int32(down)); u >= 0 && wanted && got[h] != slowToGo(p, h) {
							t.Fatalf("tree %v, rank %d, down %d: %d, want %d", p.b.List[i], v, down, got[h], slowToGo(p, h))
						}
					}
				}
			}
		}
	}
}

// slowToGo follows every hop that waits for one.
func slowToGo(p *treePlan, h int32) int64 {
	x := p.hopAt(h)
	parent := p.b.List[x.tree].Parent
	var next []int32
	at := x.v
	if !x.down {
		if at = parent[x.v]; parent[at] >= 0 {
			next = append(next, p.hop(x.tree, at, 0))
		}
	}
	if x.down || p.down && parent[at] < 0 {
		for _, c := range p.b.below(x.tree, at) {
			next = append(next, p.hop(x.tree, c, 1))
		}
	}
	var most int64
	for _, n := range next {
		most = max(most, slowToGo(p, n))
	}
	return p.takes(h) + most
}

// Every connection sends each of its hops as often as there are pieces, and receivers get
// them in that order.
func TestPlansSendEveryPieceOfEveryHop(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 21))
	for range 100 {
		n := 2 + r.IntN(7)
		p := newTreePlan(newTreePhases(randomTrees(r, n, 3), n), true, true, 4)
		for c := range p.conns {
			k := &p.conns[c]
			times := map[int32]int{}
			for _, h := range k.order {
				times[h]++
			}
			for _, h := range k.hops {
				if times[h] != p.b.pieces() {
					t.Fatalf("hop %v is sent %d times in %d pieces", p.hopAt(h), times[h], p.b.pieces())
				}
			}
			var came []int32
			for _, h := range p.arrived[k.to] {
				if p.hops[h].conn == int32(c) {
					came = append(came, h)
				}
			}
			for i, n := range k.after {
				if n > int32(len(p.arrived[k.from])) || i > 0 && n < k.after[i-1] {
					t.Fatalf("message %d from %d to %d waits for %d others, of %d", i, k.from, k.to, n, len(p.arrived[k.from]))
				}
			}
			if len(came) != len(k.order) {
				t.Fatalf("%d of %d messages come", len(came), len(k.order))
			}
			for i := range came {
				if came[i] != k.order[i] {
					t.Fatalf("message %d from %d to %d is another", i, k.from, k.to)
				}
			}
		}
	}
}
