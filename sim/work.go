package sim

// Work is how many operations a run plays: those of the lanes that stand for all, in all
// slices.
func (p *Plan) Work() int64 { return p.operations(func(*lane) int64 { return 1 }) }

// operations are those of lanes, each so many times.
func (p *Plan) operations(times func(*lane) int64) (total int64) {
	for i := range p.lanes {
		l := &p.lanes[i]
		total += (int64(l.end-l.first) + l.loop.extra()) * int64(p.strand(l.channel).slices) * times(l)
	}
	return total
}

// looksPerOperation is how many resources and transfers looked at, to share links, count as an operation. It is chosen: a core of 2.8 GHz
// looks at 13 to 18 million a second, and plays 5 (all-to-all over a switch) to 24 million operations (a ring) that look at hardly any.
const looksPerOperation = 6

// Spent is what the last run took, in operations: those played, and the time that sharing links took.
func (p *Plan) Spent() int64 {
	if p.eng == nil {
		return 0
	}
	return p.eng.handled + p.eng.share.looked/looksPerOperation
}

// Compiled is how many operations were compiled, each of which takes about as long as one that is played; none of what another plan had.
func (p *Plan) Compiled() int64 { return p.compiled }

// Limited makes runs give up with ErrTooLong where sharing links would take longer than a number of operations; 0: never.
func (p *Plan) Limited(operations int64) { p.limit = operations * looksPerOperation }

// Runs look a few times whether they will stay within their limit, at the pace so far. Where all transfers of a slice begin at once and
// fewer and fewer are left, that of the whole is half of it. A pipeline is that much ahead of what it has brought in its first slice
// alone: later ones go at one pace.
const looksAtPace = 16

// tooLong reports whether a run exceeds its limit, now or by far in the end.
func (e *engine) tooLong() bool {
	if e.limit == 0 || e.share.looked < e.nextLook {
		return false
	}
	if e.share.looked > e.limit {
		return true
	}
	e.nextLook += e.limit / looksAtPace
	all, slice := e.messages()
	share := float64(e.share.looked) / float64(e.limit)
	return share*float64(all) > float64(e.brought+min(e.brought, slice))
}

// messages is how many there are to be brought, in all and in a slice, those that one stands for not counted.
func (e *engine) messages() (all, slice int64) {
	if e.total == 0 {
		for i := range e.Plan.conns {
			k := &e.Plan.conns[i]
			e.slice += k.messages.total()
			e.total += k.messages.total() * int64(e.strand(k.channel).slices)
		}
	}
	return e.total, e.slice
}
