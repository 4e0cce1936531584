package planner

import "testing"

// The two trees reach everybody from the root; nobody sends more than two halves.
func TestPairedTreesShareTheWork(t *testing.T) {
	for n := 2; n <= 300; n++ {
		for _, root := range []int{0, n / 2, n - 1} {
			sends := make([]int, n)
			for tree := range 2 {
				order, parents := pairedTree(n, root, tree)
				seen, deepest := map[int32]bool{}, 0
				for pos, member := range order {
					seen[member] = true
					depth := 0
					for at := pos; parents[at] >= 0; at = int(parents[at]) {
						if depth++; depth > n {
							t.Fatalf("%d members: tree %d has a cycle", n, tree)
						}
					}
					deepest = max(deepest, depth)
					if p := parents[pos]; p >= 0 {
						sends[order[p]]++
					} else if member != int32(root) {
						t.Fatalf("%d members: tree %d: %d is a root", n, tree, member)
					}
				}
				if len(seen) != n || len(order) != n {
					t.Fatalf("%d members: tree %d has %d of them", n, tree, len(seen))
				}
				if limit := bits(n) + 2; deepest > limit {
					t.Errorf("%d members: tree %d has %d levels, want at most %d", n, tree, deepest, limit)
				}
			}
			for v, s := range sends {
				if s > 2 {
					t.Errorf("%d members, root %d: %d sends %d halves", n, root, v, s)
				}
			}
		}
	}
}

// bits is ⌈log₂ n⌉.
func bits(n int) int {
	b := 0
	for 1<<b < n {
		b++
	}
	return b
}
