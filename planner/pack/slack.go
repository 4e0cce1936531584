package pack

// mostListed is up to how many ranks all sets of them are listed.
const mostListed = 10

// slack is what each set of a few ranks, as a bit mask, has more of capacity into it than
// of trees without a rank in it: every one of these has to enter it once. It answers what
// growth otherwise asks flows.
type slack []int64

func newSlack(e *growth) slack {
	s := make(slack, 1<<e.n)
	for x := 1; x < len(s); x++ {
		for u := range e.out {
			if x>>u&1 == 1 {
				continue
			}
			for _, v := range e.out[u] {
				if x>>v&1 == 1 {
					s[x] += e.cap[u][v]
				}
			}
		}
		for _, b := range e.bundles {
			if int(b.ranks[0])&x == 0 {
				s[x] -= b.count
			}
		}
	}
	return s
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
