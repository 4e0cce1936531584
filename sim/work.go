package sim

// Work is how many operations a run plays: those of the lanes that stand for all, in all
// slices.
func (p *Plan) Work() int64 {
	total := int64(0)
	for i := range p.lanes {
		l := &p.lanes[i]
		total += (int64(l.end-l.first) + l.loop.extra()) * int64(p.strand(l.channel).slices)
	}
	return total
}

// Limited makes runs give up with ErrTooLong once they have worked out the rates of
// transfers that share links more than limit times, or see that they will; 0: never.
func (p *Plan) Limited(limit int64) { p.limit = limit }

// Runs look a few times whether they will stay within their limit: not if they would exceed
// it twice over at the pace so far. Where all transfers begin at once and fewer and fewer are
// left, that of the whole is half of it.
const (
	looksAtPace = 16
	slowStart   = 2
)

// tooLong reports whether a run exceeds its limit, now or by far in the end.
func (e *engine) tooLong() bool {
	switch {
	case e.limit == 0 || e.share.worked < e.nextLook:
		return false
	case e.share.worked > e.limit:
		return true
	case e.steady.on: // it may skip most of what there is
		return false
	}
	e.nextLook += e.limit / looksAtPace
	return float64(e.share.worked)*float64(e.messages()) > slowStart*float64(e.limit)*float64(e.brought)
}

// messages is how many there are to be brought, those that one stands for not counted.
func (e *engine) messages() int64 {
	if e.total == 0 {
		for i := range e.Plan.conns {
			k := &e.Plan.conns[i]
			e.total += k.messages.total() * int64(e.strand(k.channel).slices)
		}
	}
	return e.total
}
