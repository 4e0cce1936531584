package nccl

// relax loosens the next constraint; false where the search has found all it will.
func (q *quest) relax() bool {
	c, b, s := q.cur, q.best, q.s
	if c.same && (s.cpu != AMD || c.typeIntra != pathSYS) {
		c.same = false
		return true
	}
	c.same = q.same
	q.budget += q.left
	if q.budget < 0 && b.n > 0 {
		return false
	}
	if q.cc >= 90 && c.pattern == balancedTree {
		c.pattern = plainTree
		return true
	}
	c.pattern = b.pattern
	return q.relaxPaths() || q.relaxNICs() || q.slower()
}

func (q *quest) relaxPaths() bool {
	c, b := q.cur, q.best
	worst := q.maxIntra
	if q.s.inter {
		worst = c.typeInter
	}
	if c.typeIntra < worst && (b.n == 0 || c.typeIntra < b.typeIntra) {
		if c.typeIntra++; c.typeIntra < pathDIS {
			return true
		}
	}
	c.typeIntra = q.minIntra
	if q.s.inter && c.typeInter < q.maxInter && (b.n == 0 || c.typeInter < b.typeInter || c.typeInter < pathPXN) {
		if c.typeInter++; c.typeInter < pathDIS {
			return true
		}
	}
	c.typeInter = q.minInter
	return false
}

func (q *quest) relaxNICs() bool {
	if q.crossNIC == 2 && q.cur.crossNIC == 0 && (q.best.pattern == ringPattern || q.best.pattern == balancedTree) {
		q.cur.crossNIC = 2
		return true
	}
	q.cur.crossNIC = 0
	return false
}

// slower takes the next speed, unless half the speed that was found is reached.
func (q *quest) slower() bool {
	if q.at < len(q.speeds)-1 && (q.best.n == 0 || q.speeds[q.at+1]/q.best.bwInter > 0.49) {
		q.at++
		q.setSpeed()
		return true
	}
	return false
}

// secondPass starts from what was found.
func (q *quest) secondPass() {
	q.best.duplicate(q.cc)
	q.cur.copyFrom(q.best)
	q.at = 0
	for q.at < len(q.speeds)-1 && q.speeds[q.at] > q.best.bwInter {
		q.at++
	}
	q.setSpeed()
	q.cur.min = q.best.n
	q.pass, q.spent = 2, false
}

// raise tries the next higher speed; false where there is nothing more to try.
func (q *quest) raise() bool {
	c, b := q.cur, q.best
	if q.spent || q.at == 0 {
		return false
	}
	switch {
	case b.pattern == ringPattern:
		q.at--
		q.setSpeed()
	case b.pattern == nvlsPattern && c.bwInter == b.bwInter && c.bwInter < c.bwIntra*2:
		c.min, c.max = b.n, b.n
		q.at--
		c.bwInter = q.speeds[q.at]
	case c.bwIntra == b.bwIntra && c.bwIntra < c.bwInter*2: // trees of two nodes
		q.at--
		c.bwIntra = q.speeds[q.at]
	default:
		return false
	}
	return true
}
