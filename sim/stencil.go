package sim

import "railyard/model/schedule"

// stencil is the program of a grid phase's ranks at one coordinate along its axis: in
// every group it is the same, with the peers at the same coordinates.
type stencil struct {
	first, end int32
	loop       loop
	peers      []int32 // coordinate along the axis, by local connection
	out        []bool
}

// stencils are those of a phase, as far as they are known.
type stencils struct {
	size, stride int32 // of the axis
	at           []*stencil
}

// newStencils is nil for phases whose groups differ.
func newStencils(ph *schedule.Phase) *stencils {
	g := ph.Groups.Grid
	if g == nil || ph.Gen == schedule.GenOps || ph.Gen == schedule.GenTrees {
		return nil
	}
	s := &stencils{size: g.Dims[g.Axis], stride: 1}
	for _, d := range g.Dims[g.Axis+1:] {
		s.stride *= d
	}
	s.at = make([]*stencil, s.size)
	return s
}

func (s *stencils) coordinate(rank int32) int32 { return rank / s.stride % s.size }

// of is the stencil for a rank of the schedule, nil where it is not known yet.
func (s *stencils) of(rank int32) *stencil {
	if s == nil {
		return nil
	}
	return s.at[s.coordinate(rank)]
}

// keep notes the program that was just compiled for a rank.
func (s *stencils) keep(rank int32, l *lane, peers []int32, out []bool) {
	if s == nil {
		return
	}
	x := &stencil{first: l.first, end: l.end, loop: l.loop, out: append([]bool(nil), out...)}
	for _, p := range peers {
		x.peers = append(x.peers, s.coordinate(p))
	}
	s.at[s.coordinate(rank)] = x
}

// stamped compiles a lane from a stencil.
func (c *compiler) stamped(id int32, l *lane, s *stencils, x *stencil) error {
	c.conn, c.out = c.conn[:0], c.out[:0]
	own := s.coordinate(c.self)
	for i, at := range x.peers {
		k, err := c.connect(l, c.self+(at-own)*s.stride, x.out[i])
		if err != nil {
			return err
		}
		c.conn, c.out = append(c.conn, k), append(c.out, x.out[i])
	}
	l.first, l.end, l.loop, l.conns = x.first, x.end, x.loop, int32(len(c.laneConns))
	c.laneConns = append(c.laneConns, c.conn...)
	return c.sequences(id, l)
}
