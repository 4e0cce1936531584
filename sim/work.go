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
// transfers that share links more than limit times; 0: never.
func (p *Plan) Limited(limit int64) { p.limit = limit }
