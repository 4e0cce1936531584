package schedule

// maxAhead is how many pieces a hop may be ahead of its time, counted from the last piece
// that has come everywhere. Roots that have little to send would else send it long before
// anybody else does, and no period would be like the one before (see treeLoops).
const maxAhead = 8

// window counts pieces that have come everywhere.
type window struct {
	all    int32   // hops
	by     []int32 // by piece: hops that have brought it
	whole  int32   // pieces that all hops have brought
	latest uint64  // when the last hop is due of a piece
	early  []int32 // connections that wait since what they have is not due for long
}

// holds reports whether what is due first on a connection has to wait.
func (p *treePlan) holds(c int32, first uint64) bool {
	if first>>32 <= (uint64(p.whole)+maxAhead)*dueParts+p.latest {
		return false
	}
	p.early = append(p.early, c)
	return true
}

// passed notes that a hop has brought its n-th piece.
func (p *treePlan) passed(n int32) {
	if p.by == nil {
		p.by = make([]int32, p.pieces+1)
	}
	p.by[n]++
	for p.whole < p.pieces && p.by[p.whole+1] == p.all {
		p.whole++
		p.touched, p.early = append(p.touched, p.early...), p.early[:0]
	}
}
