package sim

import "railyard/model/schedule"

// loop is a part of a list that comes several times: [from, to) laps times, once where
// nothing repeats. What is in front of it and behind it comes once.
type loop struct{ from, to, laps int32 }

// once is the loop of a list of n in which nothing repeats.
func once(n int32) loop { return loop{0, n, 1} }

// extra is how many more there are than in the list.
func (l *loop) extra() int64 { return int64(l.laps-1) * int64(l.to-l.from) }

// times is how often an element comes.
func (l *loop) times(i int32) int64 {
	if i >= l.from && i < l.to {
		return int64(l.laps)
	}
	return 1
}

// marks tell programs apart that differ in their loops only: operations behind the last.
func (l *loop) marks() []op {
	if l.laps == 1 {
		return nil
	}
	return []op{{kind: loopMark, conn: l.from, size: l.to}, {kind: loopMark, conn: l.laps}}
}

// loopMark is no operation of a schedule.
const loopMark schedule.OpKind = 255

// cursor goes through a list with a loop.
type cursor struct {
	loop
	at, end int32 // the next one, of how many
	stop    int32 // where there is something to decide: the end of the loop, or of the list
	lap     int32 // laps done
}

func newCursor(l loop, end int32) cursor { return cursor{loop: l, end: end, stop: l.to} }

// turn goes on at stop: to the next lap, to what is behind the loop, or, false, to the
// beginning of the list.
func (c *cursor) turn() bool {
	c.lap++
	switch {
	case c.lap < c.laps:
		c.at = c.from
	case c.at < c.end:
		c.stop = c.end
	default:
		c.rewind()
		return false
	}
	return true
}

func (c *cursor) rewind() { c.at, c.lap, c.stop = 0, 0, c.to }

// next is the element at hand; it comes back to the first one after the last.
func (c *cursor) next() int32 {
	i := c.at
	if c.at++; c.at == c.stop {
		c.turn()
	}
	return i
}
