package sim

// divide shares out a resource that stands alone: equally, except that what transfers
// with a lower limit leave goes to the others.
func (s *sharing) divide(e *engine, r int32) {
	list := s.on(r)
	if len(list) == 1 {
		s.alone(e, r, &s.flows[list[0]])
		return
	}
	left, weight := s.res[r].capacity, uint64(0)
	least := forever
	for _, c := range list {
		f := &s.flows[c]
		weight += s.uses[f.first].load
		f.fixed = false
	}
	for unfixed := len(list); unfixed > 0; {
		level := left.over(weight)
		fixed := 0
		for _, c := range list {
			f := &s.flows[c]
			if !f.fixed && f.limit < level {
				f.fixed = true
				fixed++
				load := s.uses[f.first].load
				left, weight = left.less(product(f.limit, load)), weight-load
				f.progress(e.now, f.limit)
				least = min(least, f.end)
			}
		}
		if unfixed -= fixed; fixed > 0 {
			continue
		}
		for _, c := range list {
			if f := &s.flows[c]; !f.fixed {
				f.progress(e.now, level)
				least = min(least, f.end)
			}
		}
		break
	}
	s.await(e, r, least)
}

// alone gives a single transfer what it can use.
func (s *sharing) alone(e *engine, r int32, f *flow) {
	f.progress(e.now, min(f.limit, s.res[r].capacity.over(s.uses[f.first].load)))
	s.await(e, r, f.end)
}

// await sees to it that an event comes when the first transfer of r ends, or before.
func (s *sharing) await(e *engine, r int32, least int64) {
	d := &s.res[r]
	if d.n == 0 || d.at >= 0 && d.at <= least {
		return
	}
	d.version++
	d.at = least
	e.q.push(least, newEvent(drained, r, d.version))
}

// drained ends the transfers of r that end now, and waits for the next one.
func (s *sharing) drained(e *engine, r int32, version uint32) {
	d := &s.res[r]
	if d.version&versionMask != version {
		return
	}
	d.at = -1
	s.ended = s.ended[:0]
	least := forever
	for _, c := range s.on(r) {
		if f := &s.flows[c]; f.end <= e.now {
			s.ended = append(s.ended, c)
		} else {
			least = min(least, f.end)
		}
	}
	if len(s.ended) == 0 { // the event was early: rates have fallen since
		if least < forever { // what has only just begun has no rate yet
			s.await(e, r, least)
		}
		return
	}
	for _, c := range s.ended {
		s.remove(c)
	}
	for i := range s.ended { // settle, which also uses ended, runs only after this moment
		e.events += int64(e.conns[s.ended[i]].times)
		e.arrived(s.ended[i])
	}
}
