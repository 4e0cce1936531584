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

// Runs look a few times whether they will stay within their limit. Slices of a pipeline take as long as the last one did, once the first
// has filled it. Before, it goes on at the pace so far, or half of it, where all transfers of a slice begin at once and fewer and fewer are
// left.
const looksAtPace = 16

// pace is how a run gets on with its messages.
type pace struct {
	look int64 // at how many rates to look next whether there are too many
	ends int64 // with how many messages the slice under way does
	from int64 // how many rates were looked at before it
	last int64 // and in the one before; 0: that was the first
}

// tooLong reports whether a run exceeds its limit, now or in the end.
func (e *engine) tooLong() bool {
	p, looked := &e.pace, e.share.looked
	if e.limit == 0 || looked < p.look && e.brought < p.ends {
		return false
	}
	all, slice := e.messages()
	if e.brought >= p.ends {
		if p.ends > slice {
			p.last = looked - p.from
		}
		p.from, p.ends = looked, e.brought-e.brought%slice+slice
	}
	if looked >= p.look {
		p.look += e.limit / looksAtPace
	}
	if p.last > 0 {
		return float64(looked)+float64(p.last)*float64(all-e.brought)/float64(slice) > float64(e.limit)
	}
	return looked > e.limit || float64(looked)/float64(e.limit)*float64(all) > float64(e.brought+min(e.brought, slice))
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
