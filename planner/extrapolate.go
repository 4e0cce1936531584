package planner

import (
	"errors"

	"railyard/model/schedule"
	"railyard/model/units"
)

// extrapolate predicts the times of long pipelines of a candidate's family from those of three
// that are known, or foretold: that of n pieces takes a + b/n + c·n, the time of the bytes, that of
// filling the pipeline, and that of its messages. Pipelines of one piece do not overlap
// anything and say little.
func (c *contest) extrapolate(i int) {
	if c.extrapolateStrands(i); !ordered(c.list[i].Schedule) {
		return
	}
	var known []int
	for j := range c.list {
		if c.samePipeline(i, j) && c.known(j) > 0 && ordered(c.list[j].Schedule) {
			known = append(known, j)
		}
	}
	if len(known) < 3 {
		return
	}
	var n, t [3]float64
	for k, j := range known[len(known)-3:] {
		n[k], t[k] = float64(c.list[j].Schedule.Channels[0].Depth()), float64(c.known(j))
	}
	curve := throughThree(n, t)
	for j := range c.list {
		if s := c.list[j].Schedule; c.samePipeline(i, j) && c.known(j) == 0 && ordered(s) && c.dear(j) && !c.list[j].TooLarge {
			c.looks[j].predicted = max(units.Time(curve(float64(s.Channels[0].Depth()))), c.list[j].Time)
		}
	}
}

// extrapolateStrands predicts the times of all depths of trees in strands from that of one: n slices take (n+levels−1)/n of
// what they take on paper (see stranded).
func (c *contest) extrapolateStrands(i int) {
	levels := strandLevels(c.list[i].Schedule)
	if levels == 0 {
		return
	}
	filled := func(j int) float64 {
		n := float64(c.list[j].Schedule.Channels[0].Slices)
		return (n + levels - 1) / n
	}
	for j := range c.list {
		if c.samePipeline(i, j) && c.looks[j].stage != timed && c.looks[j].foretold == 0 {
			c.looks[j].predicted = max(units.Time(float64(c.list[i].Time)/filled(i)*filled(j)), c.list[j].Time)
		}
	}
}

// strandLevels are the levels of each strand of trees in strands; 0 of any other schedule.
func strandLevels(s *schedule.Schedule) float64 {
	ch := &s.Channels[0]
	if ch.Trees == nil || ch.Trees.List[0].Levels == nil {
		return 0
	}
	for p := range ch.Phases {
		if p > 0 && ch.Phases[p].Apart {
			return float64(p)
		}
	}
	return float64(len(ch.Phases))
}

// samePipeline reports whether candidates differ in their depth alone, not in what they were planned without (see besidesSlow).
func (c *contest) samePipeline(i, j int) bool {
	return c.sameFamily(i, j) && sameWithout(c.list[i].Schedule, c.list[j].Schedule)
}

func sameWithout(a, b *schedule.Schedule) bool {
	return a.Inputs[schedule.InputWithout] == b.Inputs[schedule.InputWithout]
}

// known is a candidate's time, or what equal pieces say of it; 0: neither.
func (c *contest) known(i int) units.Time {
	switch l := &c.looks[i]; {
	case c.list[i].TooLarge:
		return 0
	case l.stage == timed:
		return c.list[i].Time
	default:
		return l.foretold
	}
}

// fewPieces do not fill a pipeline: what they take says little of more. Of the depths that are tried (1, 4, 16 and more, see depths) these
// are the two least. A pipeline is full from as many pieces as it has stages, which are more than four wherever depths beyond pay; with
// these for a start, plans would be up to 6 % slower (4 SuperPOD nodes without an adapter, all_reduce of 256 MiB).
const fewPieces = 4

// ordered reports whether a schedule is a pipeline of several pieces of trees, all messages
// of which are in one order, or of more than a few slices of trees that join messages, each
// level of which takes another time.
func ordered(s *schedule.Schedule) bool {
	ch := &s.Channels[0]
	if ch.Trees != nil && ch.Trees.Join {
		return ch.Slices > fewPieces
	}
	return ch.Slices == 1 && ch.Pieces() > 1
}

// shorter is the shortest pipeline of a candidate's family of which no time is known yet: three of
// these say those of the others.
func (c *contest) shorter(i int) int {
	for j := range c.list {
		unknown := c.looks[j].stage != timed && c.known(j) == 0
		if a, b := c.list[j].Schedule, c.list[i].Schedule; unknown && ordered(a) && ordered(b) && c.samePipeline(i, j) &&
			a.Channels[0].Depth() < b.Channels[0].Depth() {
			i = j
		}
	}
	return i
}

// unplayed is the pipeline of a candidate's family that takes the least work, while none was played: what sharing of links takes is
// known only then, and may be ten times what the operations are, so that a long one, or what foretells it, would take the whole budget.
func (c *contest) unplayed(i int) int {
	least := i
	for j := range c.list {
		if c.looks[j].out || !c.samePipeline(i, j) || c.list[j].Schedule.Channels[0].Depth() <= fewPieces {
			continue
		}
		if c.looks[j].stage == timed {
			return i
		}
		if c.work(j) < c.work(least) {
			least = j
		}
	}
	return least
}

// throughThree is the curve a + b/n + c·n, c no less than 0, through three points, or the last two.
func throughThree(n, t [3]float64) func(n float64) float64 {
	// Differences leave b and c: t1−t0 = b·(1/n1−1/n0) + c·(n1−n0), and so for t2−t1.
	p0, q0, d0 := 1/n[1]-1/n[0], n[1]-n[0], t[1]-t[0]
	p1, q1, d1 := 1/n[2]-1/n[1], n[2]-n[1], t[2]-t[1]
	det := p0*q1 - p1*q0
	b, c := (d0*q1-d1*q0)/det, (p0*d1-p1*d0)/det
	if c < 0 { // no message takes less than no time: the last two say how long it takes to fill
		b, c = d1/p1, 0
	}
	a := t[2] - b/n[2] - c*n[2]
	return func(n float64) float64 { return a + b/n + c*n }
}

// foretell finds what a candidate's time should be from those of two shorter pipelines of its family where their pieces are
// as large as its own are: equal pieces take equal times, whatever costs by size are, so that each more of them takes a period. This is
// exact once a pipeline is full, and no lower bound: more pieces may share links more evenly than fewer. What is extrapolated is taken as
// it is: one that is predicted too long by some share is missed, and the plan slower by no more than that share.
func (c *contest) foretell(i int) error {
	c.looks[i].asked = true
	depth := c.list[i].Schedule.Channels[0].Depth()
	var n, t [2]float64
	for k, j := range c.ofEqualPieces(i) {
		d := c.list[j].Schedule.Channels[0].Depth()
		time, err := c.score.Time(c.list[j].Schedule, c.size*units.Bytes(d)/units.Bytes(depth))
		if errors.Is(err, ErrTooLarge) {
			return nil
		}
		if err != nil {
			return err
		}
		n[k], t[k] = float64(d), float64(time)
	}
	period := (t[1] - t[0]) / (n[1] - n[0])
	x := max(1, c.list[i].Time, units.Time(t[1]+period*(float64(depth)-n[1]))) // no less than its bound
	c.looks[i].foretold, c.looks[i].predicted = x, x
	return nil
}

// ofEqualPieces are two shorter pipelines of a candidate's family, if they may be played with pieces as large as its own for less work
// than it takes itself: the longest that leave half of it to be saved, else the shortest.
func (c *contest) ofEqualPieces(i int) []int {
	if t := c.list[i].Schedule.Channels[0].Trees; t != nil && t.List[0].Levels != nil {
		return nil // what strands take is known to be little more than on paper (see stranded)
	}
	var out []int // candidates of a family stand in the order of their depths
	depth := c.list[i].Schedule.Channels[0].Depth()
	for j := range c.list {
		d := c.list[j].Schedule.Channels[0].Depth()
		if d <= fewPieces || d >= depth || !c.samePipeline(i, j) || int64(c.size)*int64(d)%int64(depth) != 0 {
			continue
		}
		out = append(out, j)
	}
	n := len(out)
	both := func() int64 { return c.work(out[n-2]) + c.work(out[n-1]) }
	for n > 2 && 2*both() > c.work(i) {
		n--
	}
	if n >= 2 && both() < c.work(i) {
		return out[n-2 : n]
	}
	return nil
}
