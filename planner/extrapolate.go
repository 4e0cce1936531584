package planner

import (
	"slices"

	"railyard/model/schedule"
	"railyard/model/units"
)

// extrapolate predicts the times of long pipelines of a candidate's family from those of three
// that are known, or extrapolated from other sizes: that of n pieces takes a + b/n + c·n, the time of the bytes, that of
// filling the pipeline, and that of its messages. Pipelines of one piece do not overlap
// anything and say little.
func (c *contest) extrapolate(i int) {
	if !ordered(c.list[i].Schedule) {
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
			c.looks[j].predicted = units.Time(max(curve(float64(s.Channels[0].Depth())), 1))
		}
	}
}

// predict takes what other sizes say of a candidate as its time, if it is dear, which may show only once it is compiled.
func (c *contest) predict(i int) {
	if t := c.known(i); t > 0 && c.dear(i) {
		c.looks[i].predicted = t
		c.extrapolate(i)
	}
}

// samePipeline reports whether candidates differ in their depth alone, not in what they were planned without (see besidesSlow).
func (c *contest) samePipeline(i, j int) bool {
	without := func(i int) string { return c.list[i].Schedule.Inputs[schedule.InputWithout] }
	return c.sameFamily(i, j) && without(i) == without(j)
}

// known is a candidate's time, or what its times at other sizes say of it; 0: neither.
func (c *contest) known(i int) units.Time {
	switch {
	case c.list[i].TooLarge:
		return 0
	case c.looks[i].stage == timed:
		return c.list[i].Time
	}
	if t := c.ofEqualPieces(i); t > 0 {
		return t
	}
	return c.past.extrapolate(c.list[i].Schedule, c.size)
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

// throughThree is the curve a + b/n + c·n through three points.
func throughThree(n, t [3]float64) func(n float64) float64 {
	// Differences leave b and c: t1−t0 = b·(1/n1−1/n0) + c·(n1−n0), and so for t2−t1.
	p0, q0, d0 := 1/n[1]-1/n[0], n[1]-n[0], t[1]-t[0]
	p1, q1, d1 := 1/n[2]-1/n[1], n[2]-n[1], t[2]-t[1]
	det := p0*q1 - p1*q0
	b, c := (d0*q1-d1*q0)/det, (p0*d1-p1*d0)/det
	a := t[0] - b/n[0] - c*n[0]
	return func(n float64) float64 { return a + b/n + c*n }
}

// past are the times of schedules at other sizes, in the order in which they were found. A schedule's time is the longest of many chains
// of messages, each of which takes a time and more of it by byte: convex, so that the line through two sizes does not lie above
// it beyond them, but for what sharing and costs by size change.
type past map[*schedule.Schedule][]sizedTime

type sizedTime struct {
	size         units.Bytes
	time         units.Time
	extrapolated bool // not found by playing it
}

// keepExtrapolated takes down what equal pieces say of dear candidates that were not played.
func (c *contest) keepExtrapolated() {
	for i := range c.list {
		if l := &c.looks[i]; l.stage == timed || l.predicted == 0 {
			continue
		}
		if t := c.ofEqualPieces(i); t > 0 {
			c.past.add(c.list[i].Schedule, sizedTime{c.size, t, true})
		}
	}
}

// add takes a time down.
func (p past) add(s *schedule.Schedule, t sizedTime) {
	if p != nil {
		p[s] = append(p[s], t)
	}
}

// least is the time of a schedule at a smaller size: more bytes take no less. 0: none is known.
func (p past) least(s *schedule.Schedule, size units.Bytes) units.Time {
	for _, x := range slices.Backward(p[s]) {
		if !x.extrapolated && x.size <= size {
			return x.time
		}
	}
	return 0
}

// at is the time of a schedule at a size; 0: not known.
func (p past) at(s *schedule.Schedule, size units.Bytes) units.Time {
	for _, x := range p[s] {
		if x.size == size {
			return x.time
		}
	}
	return 0
}

// extrapolate is the time of a schedule by those at two other sizes; 0: not known.
func (p past) extrapolate(s *schedule.Schedule, size units.Bytes) units.Time {
	n := len(p[s])
	if n < 2 || p[s][n-2].size == p[s][n-1].size {
		return 0
	}
	a, b := p[s][n-2], p[s][n-1]
	perByte := float64(b.time-a.time) / float64(b.size-a.size)
	return max(1, b.time+units.Time(perByte*float64(size-b.size)))
}

// ofEqualPieces extrapolates a candidate's time from those of two shorter pipelines of its family that were found where their pieces were
// as large as its own are: equal pieces take equal times, whatever costs by size are, so that each more of them takes a period. This is
// exact once a pipeline is full, and no lower bound: more pieces may share links more evenly than fewer. What is extrapolated is taken as
// it is: one that is predicted too long by some share is missed, and the plan slower by no more than that share. 0: not known.
func (c *contest) ofEqualPieces(i int) units.Time {
	var n, t [2]float64 // of the two nearest in depth: candidates of a family stand in the order of theirs
	depth := c.list[i].Schedule.Channels[0].Depth()
	for j := range c.list {
		s := c.list[j].Schedule
		d := s.Channels[0].Depth()
		if d <= fewPieces || d >= depth || !c.samePipeline(i, j) || int64(c.size)*int64(d)%int64(depth) != 0 {
			continue
		}
		if time := c.past.at(s, c.size*units.Bytes(d)/units.Bytes(depth)); time > 0 {
			n, t = [2]float64{n[1], float64(d)}, [2]float64{t[1], float64(time)}
		}
	}
	if n[0] == 0 || n[0] == n[1] {
		return 0
	}
	more := (t[1] - t[0]) / (n[1] - n[0]) * (float64(depth) - n[1])
	return units.Time(max(1, t[1]+more))
}
