package sim

import (
	"slices"

	"railyard/model/schedule"
)

// compileLane compiles the program of a rank, or enters one that another of its phase has turned.
func (c *compiler) compileLane(id int32, l *lane, buf []schedule.Op, s strand, rank int) ([]schedule.Op, error) {
	at, turns := schedule.Turned{}, false
	if c.symmetry == nil { // else there are few, and one connection may be several of theirs
		at, turns = c.x.Turned(int(s.channel), int(l.phase), rank)
	}
	key := turnKey{l.channel, l.phase, at.Group}
	if first, known := c.turned[key]; turns && known {
		return buf, c.turn(id, l, first, at)
	}
	buf, again := c.program(buf[:0], s, int(l.phase), rank)
	c.compiled += int64(len(buf))
	if err := c.lane(id, l, buf, again); err != nil || !turns {
		return buf, err
	}
	first := &turnedProgram{lane: *l, out: slices.Clone(c.out)}
	for _, peer := range c.with {
		first.behind = append(first.behind, at.Behind(peer))
	}
	c.turned[key] = first
	return buf, nil
}

// turnKey tells programs apart that ranks of a phase have in common but for whom they name.
type turnKey struct {
	channel, phase int32
	group          schedule.TurnedGroup
}

// turnedProgram is one of them, and by its number of a connection, how far behind the peer is, and whether it sends there.
type turnedProgram struct {
	lane   lane
	behind []int
	out    []bool
}

// turn enters a lane that does what the first of its phase does, with other peers.
func (c *compiler) turn(id int32, l *lane, first *turnedProgram, at schedule.Turned) error {
	c.conn, c.out = c.conn[:0], first.out
	for i, n := range first.behind {
		k, err := c.connect(l, at.Rank(n), first.out[i])
		if err != nil {
			return err
		}
		c.conn = append(c.conn, k)
	}
	c.compiled += int64(len(c.conn))
	l.first, l.end, l.loop = first.lane.first, first.lane.end, first.lane.loop
	return c.enter(id, l)
}
