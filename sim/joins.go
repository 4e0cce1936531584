package sim

import (
	"fmt"
	"slices"
)

// join leaves of the program at hand what it does with the first of equivalent peers: it does
// the same with the others at the same time.
func (c *compiler) join() error {
	uses, lists := usesIn(c.prog, len(c.conn)), make([][]int32, len(c.conn))
	for i := range c.prog {
		if k := c.prog[i].conn; k >= 0 {
			lists[k] = append(lists[k], c.prog[i].size)
		}
	}
	type end struct {
		conn int32
		out  bool
	}
	first, number := map[end]int32{}, make([]int32, len(c.conn)) // −1: as the first one does
	left := int32(0)
	for i, k := range c.conn {
		at, known := first[end{k, c.out[i]}]
		switch {
		case !known:
			first[end{k, c.out[i]}], number[i] = int32(i), left
			c.conn[left], c.out[left] = c.conn[i], c.out[i]
			left++
		case uses[i] != uses[at] || !slices.Equal(lists[i], lists[at]):
			return fmt.Errorf("%w: messages that differ", errAsymmetric)
		default:
			number[i] = -1
		}
	}
	c.conn, c.out = c.conn[:left], c.out[:left]
	prog := c.prog[:0]
	for _, o := range c.prog {
		if o.conn >= 0 {
			if o.conn = number[o.conn]; o.conn < 0 {
				continue
			}
		}
		prog = append(prog, o)
	}
	c.prog = prog
	return nil
}

// receive gives connections an inbox for each lane that receives.
func (c *compiler) receive() {
	boxes := make([][]int32, len(c.conns)) // by connection: where laneConns has them
	for _, at := range c.receives {
		boxes[c.laneConns[at]] = append(boxes[c.laneConns[at]], at)
	}
	c.numberInboxes(boxes)
}

// numberInboxes numbers inboxes in the order of the connections; boxes are, by connection, where
// laneConns has the lanes that receive.
func (p *Plan) numberInboxes(boxes [][]int32) {
	p.inboxes = []int32{}
	for k, list := range boxes {
		for _, at := range list {
			p.laneConns[at] = int32(len(p.inboxes))
			p.inboxes = append(p.inboxes, int32(k))
		}
	}
}
