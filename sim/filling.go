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
	fixed, highest := 0, tie(level)
	s.sated = s.sated[:0]
	for _, r := range open {
		if s.left[r].over(s.weight[r]) <= highest {
			s.sated = append(s.sated, r)
		}
	}
	for _, c := range s.limited {
		if f := &s.flows[c]; !f.fixed && f.limit <= highest {
			s.fix(f, level)
			s.schedule(e, c, level)
			fixed++
		}
	}
	for _, r := range s.sated {
		fixed += s.fixOn(e, r, level)
	}
	return fixed
}

// fixOn fixes the transfers that a resource lets grow no further. It awaits the first of them
// to end: one event instead of as many as there are.
func (s *sharing) fixOn(e *engine, r int32, level int64) int {
	fixed, least := 0, forever
	for _, c := range s.on(r) {
		if f := &s.flows[c]; !f.fixed {
			s.fix(f, level)
			f.progress(e.now, level)
			least = min(least, f.end)
			fixed++
		}
	}
	if fixed > 0 {
		s.await(e, r, least)
	}
	return fixed
}

// fix takes what a transfer uses at a level off its resources.
func (s *sharing) fix(f *flow, level int64) {
	f.fixed = true
	for _, u := range s.of(f) {
		s.left[u.res] = s.left[u.res].less(product(level, u.load))
		s.weight[u.res] -= u.load
		s.open[u.res]--
	}
}
