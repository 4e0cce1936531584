package program

import (
	"math/rand/v2"
	"testing"
)

// Levels are longest ways, those that need one another counted as one: by reachability.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	for range 300 {
		n := 1 + r.IntN(9)
		needs := make([]map[int]bool, n)
		reach := make([][]bool, n)
		for v := range needs {
			needs[v], reach[v] = map[int]bool{}, make([]bool, n)
			reach[v][v] = true
			for range r.IntN(3) {
				if u := r.IntN(n); u != v {
					needs[v][u], reach[v][u] = true, true
				}
			}
		}
		for k := range n {
			for v := range n {
				for u := range n {
					reach[v][u] = reach[v][u] || reach[v][k] && reach[k][u]
				}
			}
		}
		var slow func(v int) int
		slow = func(v int) int {
			most := 0
			for u := range n {
				if reach[v][u] && !reach[u][v] {
					most = max(most, slow(u)+1)
				}
			}
			return most
		}
		for v, got := range levels(needs) {
			if want := slow(v); got != want {
				t.Fatalf("%v: level of %d is %d, want %d", needs, v, got, want)
			}
		}
	}
}

// Sets whose parts lie between one another go together.
func TestRunsOfParts(t *testing.T) {
	for _, c := range []struct {
		team []int // by part
		want [][2]int
	}{
		{[]int{0, 0, 1, 1}, [][2]int{{0, 2}, {2, 4}}},
		{[]int{0, 1, 0, 2}, [][2]int{{0, 3}, {3, 4}}},
		{[]int{0, 1, 2, 1, 0, 3}, [][2]int{{0, 5}, {5, 6}}},
		{[]int{0, 1, 0, 1, 2}, [][2]int{{0, 4}, {4, 5}}},
	} {
		const teams = 4
		sets := make(joined, teams+len(c.team))
		for i := range sets {
			sets[i] = i
		}
		for p, team := range c.team {
			sets.join(team, teams+p)
		}
		got := runsOf(sets, teams, len(c.team))
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && got[i].from == c.want[i][0] && got[i].to == c.want[i][1]
		}
		if !ok {
			t.Errorf("%v: %v, want %v", c.team, got, c.want)
		}
	}
}
