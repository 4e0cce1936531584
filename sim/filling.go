package sim

// fill is progressive filling: all transfers grow together until a resource is full or
// a limit is reached; those concerned stay there and the others grow on. Bertsekas,
// Gallager, "Data Networks", 1992, §6.5.2. It begins where those that keep their rates stand.
func (s *sharing) fill(e *engine) {
	open := s.full[:0] // resources with transfers not yet fixed, compacted as it goes
	open = append(open, s.compRes...)
	s.full = open
	for unfixed := len(s.compFlows); unfixed > 0; {
		n, level := 0, unlimited
		for _, r := range open {
			if s.open[r] > 0 {
				open[n] = r
				n++
				level = min(level, s.left[r].over(s.weight[r]))
			}
		}
		open = open[:n]
		for _, c := range s.limited {
			if f := &s.flows[c]; !f.fixed {
				level = min(level, f.limit)
			}
		}
		fixed := s.fixAt(e, open, level)
		if fixed == 0 {
			panic("sim: progressive filling does not progress")
		}
		unfixed -= fixed
	}
}

// fixAt fixes the transfers that cannot grow beyond level, and returns how many.
func (s *sharing) fixAt(e *engine, open []int32, level int64) int {
	s.ended = s.ended[:0]
	highest := tie(level)
	for _, c := range s.limited {
		if f := &s.flows[c]; !f.fixed && f.limit <= highest {
			f.fixed = true
			s.ended = append(s.ended, c)
		}
	}
	for _, r := range open {
		if s.left[r].over(s.weight[r]) > highest {
			continue
		}
		for _, c := range s.on(r) {
			if f := &s.flows[c]; !f.fixed {
				f.fixed = true
				s.ended = append(s.ended, c)
			}
		}
	}
	for _, c := range s.ended {
		for _, u := range s.of(&s.flows[c]) {
			s.left[u.res] = s.left[u.res].less(product(level, u.load))
			s.weight[u.res] -= u.load
			s.open[u.res]--
		}
		s.schedule(e, c, level)
	}
	return len(s.ended)
}
