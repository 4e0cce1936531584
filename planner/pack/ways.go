package pack

import (
	"fmt"
	"slices"
	"strings"
)

// ways are the transfers that trees of islands of GPUs may take, and what they load.
type ways struct {
	*islands
	n, resources int
	takes        [][]taken   // by pair of ranks u·n+v: what transfers take of what they share; nil: none
	links        []float64   // the same: how many links they are
	from         [][][]int32 // by island and rank of another one: who has a way to it
}

// taken is how long a resource works for a byte/s of a transfer, in seconds.
type taken struct {
	resource int32
	time     float64
}

// ways has the transfers of useful; both counts what goes back as well.
func (s *search) ways(both bool) (*ways, error) {
	in, err := s.islands()
	if err != nil {
		return nil, err
	}
	if s.routes, err = s.routes.along(s.g.t, in.paths); err != nil {
		return nil, err
	}
	list, err := s.useful()
	if err != nil {
		return nil, err
	}
	n := s.g.Ranks
	w := &ways{islands: in, n: n, takes: make([][]taken, n*n), links: make([]float64, n*n), from: make([][][]int32, len(in.members))}
	for i, takes := range s.condense(list) {
		w.takes[int(list[i].u)*n+int(list[i].v)] = takes
		for _, t := range takes {
			w.resources = max(w.resources, int(t.resource)+1)
		}
	}
	if both {
		w.bothWays()
	}
	for m := range w.from {
		w.from[m] = make([][]int32, n)
	}
	inside := make([]int, n)
	for _, t := range list {
		for _, p := range t.pieces {
			w.links[int(t.u)*n+int(t.v)] += float64(p.num) / float64(p.den)
		}
		if m := in.of[t.u]; m != in.of[t.v] {
			w.from[m][t.v] = append(w.from[m][t.v], t.u)
		} else {
			inside[t.u]++
		}
	}
	for r, m := range in.of {
		if inside[r] != len(in.members[m])-1 {
			return nil, fmt.Errorf("pack: not all ranks beside %s reach one another without the network", s.g.Name(r))
		}
	}
	for m, from := range w.from {
		for d, members := range in.members {
			if m != d && !slices.ContainsFunc(members, func(v int32) bool { return len(from[v]) > 0 }) {
				return nil, fmt.Errorf("pack: those beside %s have no way of their own to %s", s.g.Name(int(in.members[m][0])),
					s.g.Name(int(members[0])))
			}
		}
	}
	return w, nil
}

// hop is what the transfer from a rank to another takes.
func (w *ways) hop(u, v int32) []taken { return w.takes[int(u)*w.n+int(v)] }

// bothWays has transfers take what goes both ways, where there are both.
func (w *ways) bothWays() {
	oneWay := slices.Clone(w.takes)
	for i, there := range oneWay {
		back := oneWay[i%w.n*w.n+i/w.n]
		if w.takes[i] = nil; there != nil && back != nil {
			w.takes[i] = slices.Concat(there, back)
		}
	}
}

// condense says what transfers take; of links that all transfers load in the same
// proportion, only the slowest counts.
func (s *search) condense(list []transfer) [][]taken {
	type use struct {
		transfer int
		time     float64
	}
	uses := make([][]use, s.routes.count)
	for i, t := range list {
		for _, p := range t.pieces {
			uses[p.resource] = append(uses[p.resource], use{i, float64(p.num) / float64(p.den) / float64(s.routes.capacity(p.resource))})
		}
	}
	slowest := map[string]int{}
	var order []string
	for r, list := range uses {
		if len(list) == 0 {
			continue
		}
		var key strings.Builder
		for _, u := range list {
			fmt.Fprintf(&key, "%d:%.6f ", u.transfer, u.time/list[0].time)
		}
		k := key.String()
		if have, ok := slowest[k]; !ok {
			order = append(order, k)
			slowest[k] = r
		} else if list[0].time > uses[have][0].time {
			slowest[k] = r
		}
	}
	out := make([][]taken, len(list))
	for number, k := range order {
		for _, u := range uses[slowest[k]] {
			out[u.transfer] = append(out[u.transfer], taken{int32(number), u.time})
		}
	}
	return out
}
