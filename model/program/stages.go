package program

import "slices"

// stager puts a program's thread blocks into stages. A thread block does one thing at a
// time, slice after slice, so all that it does is in one stage, and so are those that it
// talks to. Stages follow one another as one needs what the other makes: a chunk that it
// has written, or memory that it no longer reads. Thread blocks that need one another are
// in one stage too. The order of stages, and within each that of the program, keeps every
// use of a chunk of memory in its place.
type stager struct {
	w      *writer
	number map[[2]int]int // by rank and thread block
	team   joined         // by that number: those of one stage
	cells  map[cellKey]*cell
	needs  []map[int]bool // by team: those that come before it
}

type cellKey struct {
	rank int
	at   Place // as the program names it
}

// cell is who uses a chunk of memory: teams.
type cell struct {
	writer int // −1: none
	users  []int
}

// newStager finds what thread blocks need of one another.
func newStager(w *writer, ops []*operation) *stager {
	s := &stager{w: w, number: map[[2]int]int{}, cells: map[cellKey]*cell{}}
	for _, o := range ops {
		b := s.block(o)
		for _, m := range o.msgs {
			s.team.join(b, s.block(m.send))
		}
	}
	s.needs = make([]map[int]bool, len(s.team))
	for t := range s.needs {
		s.needs[t] = map[int]bool{}
	}
	for _, o := range ops {
		s.note(o)
	}
	return s
}

// mostStages is how many there may be.
const mostStages = 64

// setStages says of every operation in which stage it is, and how many there are.
func (s *stager) setStages(ops []*operation) int {
	level := levels(s.needs)
	stages := 1
	for _, o := range ops {
		o.stage = level[s.teamOf(o)]
		stages = max(stages, o.stage+1)
	}
	for _, o := range ops {
		if stages > mostStages {
			o.stage = o.stage * mostStages / stages
		}
	}
	return min(stages, mostStages)
}

// block is the number of an operation's thread block.
func (s *stager) block(o *operation) int {
	key := [2]int{o.rank, o.block}
	n, ok := s.number[key]
	if !ok {
		n = len(s.team)
		s.number[key] = n
		s.team = append(s.team, n)
	}
	return n
}

func (s *stager) teamOf(o *operation) int { return s.team.first(s.block(o)) }

// note records what an operation needs.
func (s *stager) note(o *operation) {
	team := s.teamOf(o)
	s.w.uses(o, func(key cellKey, write bool) {
		c := s.cells[key]
		if c == nil {
			c = &cell{writer: -1}
			s.cells[key] = c
		}
		s.follows(team, c.writer)
		switch {
		case write:
			for _, u := range c.users {
				s.follows(team, u)
			}
			c.writer, c.users = team, nil
		case !slices.Contains(c.users, team):
			c.users = append(c.users, team)
		}
	})
}

func (s *stager) follows(team, other int) {
	if other >= 0 && other != team {
		s.needs[team][other] = true
	}
}

// uses visits the chunks of memory that an operation reads, then those that it writes.
func (w *writer) uses(o *operation, visit func(key cellKey, write bool)) {
	places := o.places()
	for i, p := range places {
		for k := range o.n {
			visit(cellKey{o.rank, w.named(o.rank, p.plus(k))}, i == len(places)-1 && !o.kind.Sends())
		}
	}
}

// joined are sets of numbers, each of which leads to another of its set.
type joined []int

func (j joined) first(x int) int {
	for j[x] != x {
		j[x] = j[j[x]]
		x = j[x]
	}
	return x
}

func (j joined) join(x, y int) { j[j.first(x)] = j.first(y) }

// levels is, for each node of a graph, the longest way to it from one that needs nothing;
// nodes that need one another count as one (Tarjan's strong components, which come out in
// an order in which each follows all that it needs).
func levels(needs []map[int]bool) []int {
	n := len(needs)
	out, index, low := make([]int, n), make([]int, n), make([]int, n)
	var open []int
	next := 0
	var enter func(v int)
	enter = func(v int) {
		next++
		index[v], low[v] = next, next
		open = append(open, v)
		for u := range needs[v] {
			switch {
			case index[u] == 0:
				enter(u)
				low[v] = min(low[v], low[u])
			case index[u] > 0:
				low[v] = min(low[v], index[u])
			}
		}
		if low[v] < index[v] {
			return
		}
		at := slices.Index(open, v)
		all := open[at:]
		open = open[:at]
		level := 0
		for _, x := range all {
			for u := range needs[x] {
				if !slices.Contains(all, u) {
					level = max(level, out[u]+1)
				}
			}
		}
		for _, x := range all {
			out[x], index[x] = level, -1 // closed
		}
	}
	for v := range n {
		if index[v] == 0 {
			enter(v)
		}
	}
	return out
}
