package planner

import (
	"math"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// sizedBound is a schedule at a size.
type sizedBound struct {
	b     *Bounds
	s     *schedule.Schedule
	chunk []units.Bytes // by channel
	costs map[message]cost.Transfer
}

// message is one of so many bytes over a medium.
type message struct {
	medium topology.Medium
	bytes  units.Bytes
}

// conn is how long a connection's messages in a phase take, one after the other; where α passes while others move, it is the first one's,
// and of nobody where operations follow one another.
func (x *sizedBound) conn(c *connBound) float64 {
	t, first, row := 0.0, math.Inf(1), false
	for _, s := range c.sizes {
		bytes := x.chunk[c.channel] * units.Bytes(s.chunks)
		tr := x.transfer(c.medium, bytes)
		alpha, took := x.alpha(c, tr, bytes), float64(bytes)*1e12/rateOf(c, tr)
		if row = tr.Row; tr.Ahead {
			first, alpha = min(first, alpha), 0
		}
		t += s.count * (alpha + took)
	}
	if row || math.IsInf(first, 1) {
		first = 0
	}
	slices := x.s.Channels[c.channel].Slices
	return first + t*float64(slices)/float64(min(max(x.b.Streams, 1), slices))
}

// alpha is what a message takes of its connection besides its bytes.
func (x *sizedBound) alpha(c *connBound, tr cost.Transfer, bytes units.Bytes) float64 {
	tr, _ = tr.On(c.rate, bytes, 1)
	return float64(tr.Alpha - min(tr.Receive, tr.Alpha) + c.latency)
}

// rateOf is at which rate a message's bytes move.
func rateOf(c *connBound, tr cost.Transfer) float64 {
	rate := c.rate * tr.Efficiency
	if tr.Cap > 0 {
		rate = min(rate, float64(tr.Cap))
	}
	return rate
}

// time is how long the bytes take at the links' rate.
func (l *linkLoad) time(x *sizedBound) float64 {
	bytes := 0.0
	for i := range l.messages {
		m := &l.messages[i]
		each := x.chunk[m.channel] * units.Bytes(m.chunks)
		bytes += m.count * float64(x.s.Channels[m.channel].Slices) * float64(each) / x.efficiency(m, each)
	}
	if bytes == 0 {
		return 0
	}
	return bytes * 1e12 / l.rate
}

// transfer is what a message costs by the schedule's protocol, worked out once for all of as many bytes.
func (x *sizedBound) transfer(medium topology.Medium, bytes units.Bytes) cost.Transfer {
	m := message{medium, bytes}
	t, known := x.costs[m]
	if !known {
		t = x.cheapest(medium, bytes)
		x.costs[m] = t
	}
	return t
}

// cheapest is a message's cost as if all went its way.
func (x *sizedBound) cheapest(medium topology.Medium, bytes units.Bytes) cost.Transfer {
	protocol := string(x.s.Protocol)
	t := x.b.profile.Transfer(medium, protocol, bytes)
	for _, other := range []string{cost.OneWay(protocol), cost.InSwitch(protocol)} { // where no message leads back; by switches
		if !x.b.profile.Covers(medium, other) {
			continue
		}
		o := x.b.profile.Transfer(medium, other, bytes)
		t.Alpha, t.Gap, t.Efficiency = min(t.Alpha, o.Alpha), min(t.Gap, o.Gap), max(t.Efficiency, o.Efficiency)
		if t.Cap > 0 && (o.Cap == 0 || o.Cap > t.Cap) {
			t.Cap = o.Cap
		}
	}
	return t
}

// efficiency is the share of the line rate that messages use, at most: they follow one another on a line no slower than the slowest link.
func (x *sizedBound) efficiency(of *messageCount, bytes units.Bytes) float64 {
	if of.medium != anyMedium {
		t := x.transfer(of.medium, bytes)
		parts := 1
		if t.Part > 0 {
			parts = len(x.s.Channels)
		}
		t, _ = t.On(x.b.slowest(), bytes, parts)
		return t.Efficiency
	}
	best := 0.0
	for m := topology.NVLink; m <= topology.Network; m++ {
		best = max(best, x.transfer(m, bytes).Efficiency)
	}
	return best
}
