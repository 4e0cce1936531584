// Package maxflow finds largest flows in whole numbers, and the cuts that say why they are no larger.
package maxflow

// Network is arcs with capacities, as linked lists by vertex. Flows are found level by level
// (E. A. Dinic, 1970), searched from the sink backwards, so that where the source is near only the
// sink's surroundings are looked at. The zero value has no vertices.
type Network struct {
	Work int // arcs looked at, about

	head    []int32
	arcs    []arc
	seen    []visit // by vertex
	now     int32   // the last search
	queue   []int32
	changed []int32 // arcs that carry flow
}

// visit is how a search came to a vertex.
type visit struct {
	search int32
	level  int32 // steps to the sink
	at     int32 // the arc to go on with
}

type arc struct {
	to, next   int32
	full, left int64
}

// New is a network of n vertices.
func New(n int) *Network {
	s := new(Network)
	s.Clear(n)
	return s
}

// Clear starts a network of n vertices anew.
func (s *Network) Clear(n int) {
	s.arcs, s.head, s.changed = s.arcs[:0], s.head[:0], s.changed[:0]
	for range n {
		s.head = append(s.head, -1)
	}
}

// Vertex adds one.
func (s *Network) Vertex() int32 {
	s.head = append(s.head, -1)
	return int32(len(s.head) - 1)
}

// Arc adds one of a capacity and returns its number.
func (s *Network) Arc(from, to int32, c int64) int32 {
	s.arcs = append(s.arcs, arc{to, s.head[from], c, c}, arc{from, s.head[to], 0, 0})
	a := int32(len(s.arcs) - 2)
	s.head[from], s.head[to] = a, a+1
	return a
}

// Resize changes the capacity of an arc that carries nothing.
func (s *Network) Resize(a int32, c int64) { s.arcs[a].full, s.arcs[a].left = c, c }

// Carried is the flow on an arc.
func (s *Network) Carried(a int32) int64 { return s.arcs[a].full - s.arcs[a].left }

// Reset takes all flow back.
func (s *Network) Reset() {
	for _, a := range s.changed {
		s.arcs[a].left, s.arcs[a^1].left = s.arcs[a].full, s.arcs[a^1].full
	}
	s.changed = s.changed[:0]
}

// Flow adds flow until it has added need or cannot add more; then Beyond tells a smallest cut.
func (s *Network) Flow(source, sink int32, need int64) int64 {
	var total int64
	for len(s.seen) < len(s.head) {
		s.seen = append(s.seen, visit{})
	}
	for total < need && s.search(source, sink) {
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

// Beyond reports whether a vertex is on the sink's side of the cut that kept the last flow from growing.
func (s *Network) Beyond(v int32) bool { return s.seen[v].search == s.now }

// search measures distances to the sink, up to the source's.
func (s *Network) search(source, sink int32) bool {
	s.now++
	s.Work += len(s.arcs)
	s.queue = append(s.queue[:0], sink)
	s.seen[sink] = visit{s.now, 0, s.head[sink]}
	for i := 0; i < len(s.queue) && !s.Beyond(source); i++ {
		x := s.queue[i]
		for a := s.head[x]; a >= 0; a = s.arcs[a].next {
			if y := s.arcs[a].to; s.arcs[a^1].left > 0 && !s.Beyond(y) {
				s.seen[y] = visit{s.now, s.seen[x].level + 1, s.head[y]}
				s.queue = append(s.queue, y)
			}
		}
	}
	return s.Beyond(source)
}

// pull brings up to want from the source to v, along arcs that lead one level nearer.
func (s *Network) pull(v, source int32, want int64) int64 {
	if v == source {
		return want
	}
	var got int64
	for at := &s.seen[v].at; *at >= 0; *at = s.arcs[*at].next {
		a := *at
		u := s.arcs[a].to
		if s.arcs[a^1].left == 0 || !s.Beyond(u) || s.seen[u].level != s.seen[v].level+1 {
			continue
		}
		if d := s.pull(u, source, min(want-got, s.arcs[a^1].left)); d > 0 {
			s.arcs[a^1].left -= d
			s.arcs[a].left += d
			s.changed = append(s.changed, a)
			if got += d; got == want {
				return got
			}
		}
	}
	return got
}
