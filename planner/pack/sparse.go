package pack

// sparse finds maximal flows in a network that is built anew for each, as linked lists
// of arcs; it searches from the sink backwards.
type sparse struct {
	head  []int32
	arcs  []arc
	level []int32 // by vertex: steps to the sink in the last search, −1
	at    []int32
	queue []int32
	work  int // arcs looked at, about
}

type arc struct {
	to, next int32
	left     int64
}

func newSparse(n int) *sparse {
	s := new(sparse)
	s.clear(n)
	return s
}

// clear starts a network of n vertices.
func (s *sparse) clear(n int) {
	s.arcs, s.head = s.arcs[:0], s.head[:0]
	for range n {
		s.head = append(s.head, -1)
	}
}

// vertex adds one.
func (s *sparse) vertex() int32 {
	s.head = append(s.head, -1)
	return int32(len(s.head) - 1)
}

func (s *sparse) arc(from, to int32, c int64) {
	s.arcs = append(s.arcs, arc{to, s.head[from], c}, arc{from, s.head[to], 0})
	s.head[from], s.head[to] = int32(len(s.arcs)-2), int32(len(s.arcs)-1)
}

// flow adds flow until it reaches need or cannot grow; then the levels of the last
// search tell the sink's side of a smallest cut.
func (s *sparse) flow(sink, source int32, need int64) int64 {
	var total int64
	for n := len(s.head); len(s.level) < n; {
		s.level, s.at = append(s.level, 0), append(s.at, 0)
	}
	for total < need {
		s.work += len(s.arcs)
		for v := range s.head {
			s.level[v] = -1
		}
		s.level[sink] = 0
		s.queue = append(s.queue[:0], sink)
		for i := 0; i < len(s.queue) && s.level[source] < 0; i++ {
			x := s.queue[i]
			for a := s.head[x]; a >= 0; a = s.arcs[a].next {
				if y := s.arcs[a].to; s.arcs[a^1].left > 0 && s.level[y] < 0 {
					s.level[y] = s.level[x] + 1
					s.queue = append(s.queue, y)
				}
			}
		}
		if s.level[source] < 0 {
			return total
		}
		copy(s.at, s.head)
		for total < need {
			d := s.pull(sink, source, need-total)
			if d == 0 {
				break
			}
			total += d
		}
	}
	return total
}

func (s *sparse) pull(v, source int32, want int64) int64 {
	if v == source {
		return want
	}
	var got int64
	for ; s.at[v] >= 0; s.at[v] = s.arcs[s.at[v]].next {
		a := s.at[v]
		u := s.arcs[a].to
		if s.arcs[a^1].left == 0 || s.level[u] != s.level[v]+1 {
			continue
		}
		if d := s.pull(u, source, min(want-got, s.arcs[a^1].left)); d > 0 {
			s.arcs[a^1].left -= d
			s.arcs[a].left += d
			if got += d; got == want {
				return got
			}
		}
	}
	return got
}
