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

// numberInboxes gives connections an inbox for each lane that receives, in their own order. receives are the places of laneConns that
// have the connections on which lanes do.
func (p *Plan) numberInboxes(receives []int32) {
	next := make([]int32, len(p.conns)+1) // by connection: its next inbox
	for _, at := range receives {
		next[p.laneConns[at]+1]++
	}
	for k := range p.conns {
		next[k+1] += next[k]
	}
	p.inboxes = make([]int32, len(receives))
	for _, at := range receives {
		k := p.laneConns[at]
		p.laneConns[at], p.inboxes[next[k]] = next[k], k
		next[k]++
	}
}
