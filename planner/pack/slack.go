package pack

import "math/bits"

// mostListed is up to how many ranks all sets of them are listed.
const mostListed = 10

// slack is what each set of a few ranks, as a bit mask, has more of capacity into it than
// of trees without a rank in it: every one of these has to enter it once. It answers what
// growth otherwise asks flows.
type slack []int64

func newSlack(e *growth) slack {
	s := make(slack, 1<<e.n)
	without := make([]int64, len(s)) // trees without a rank in it
	for _, b := range e.bundles {
		without[0] += b.count
		without[b.ranks[0]] -= b.count // of a root alone
	}
	s[0] = -without[0]
	for x := 1; x < len(s); x++ { // from the set without its first rank
		v := bits.TrailingZeros(uint(x))
		rest := x & (x - 1)
		if rest > 0 {
			without[x] = without[rest] + without[1<<v] - without[0]
		} else {
			without[x] += without[0]
		}
		s[x] = s[rest] + without[rest] + e.into[v] - e.between(v, rest) - without[x]
	}
	return s
}

// between is the capacity between a rank and a set without it, both ways.
func (e *growth) between(v, x int) int64 {
	var sum int64
	for ; x > 0; x &= x - 1 {
		u := bits.TrailingZeros(uint(x))
		sum += e.cap[u][v] + e.cap[v][u]
	}
	return sum
}

// room is to how many trees with these ranks the edge (u,v) can be added, up to want: sets
// that have one of the ranks lose capacity, and want as much as before.
func (s slack) room(ranks uint64, u, v int32, want int64) int64 {
	for x := range s.entered(u, v) {
		if uint64(x)&ranks != 0 {
			want = min(want, s[x])
		}
	}
	return max(want, 0)
}

// add adds the edge to so many trees with these ranks, v not yet among them.
func (s slack) add(ranks uint64, u, v int32, count int64) {
	for x := range s.entered(u, v) {
		if uint64(x)&ranks != 0 {
			s[x] -= count
		}
	}
}

// entered visits the sets that the edge (u,v) leads into.
func (s slack) entered(u, v int32) func(yield func(x int) bool) {
	others := (len(s) - 1) &^ (1<<u | 1<<v)
	return func(yield func(x int) bool) {
		for x := others; ; x = (x - 1) & others {
			if !yield(x|1<<v) || x == 0 {
				return
			}
		}
	}
}
