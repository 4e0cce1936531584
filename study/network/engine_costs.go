package network

import (
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/units"
)

// slowest and fastest rates that are looked for, in bytes/s.
const slowest, fastest = 1e6, 1e14

// engineCost is one that rows tell: from low to high, the larger the longer.
type engineCost struct {
	low, high, value float64
	gap              bool // a part of α, the first of the costs
	set              func(float64)
}

const soon, late = 10 * float64(units.Nanosecond), 1e5 * float64(units.Microsecond)

func alphaOf(c *cost.Curve) engineCost {
	return engineCost{low: soon, high: late, set: func(x float64) {
		for i := range c.Segments {
			c.Segments[i].Alpha = units.Time(x)
		}
	}}
}

// rateCost is that of some equal rates; what is as fast as any is no limit.
func rateCost(rates ...*units.Rate) engineCost {
	return engineCost{low: slowest, high: fastest, set: func(x float64) {
		for _, r := range rates {
			if *r = 0; x > slowest {
				*r = units.Rate(slowest * fastest / x)
			}
		}
	}}
}

// furtherCost is that of channels that begin and end together, where each is a stream; 0 where rows do not show it, or one kernel runs all.
func furtherCost(c *cost.Curve) engineCost {
	x := engineCost{low: soon, high: late, set: func(x float64) {
		if c.Further = 0; x > soon {
			c.Further = units.Time(x)
		}
	}}
	if !c.Channels {
		x.high = x.low
	}
	return x
}

// partCost is that of parts of a message that leave at once, where one thread takes them.
func partCost(c *cost.Curve) engineCost {
	if c.Channels {
		return engineCost{low: soon, high: soon, set: func(float64) {}}
	}
	return engineCost{low: soon, high: late, set: func(x float64) { c.Part = units.Time(x) }}
}

// ofMessages are α, which the smallest size of some rows shows, of messages between nodes what they take of their receivers' programs, and
// the rates of messages, as rows of some that meet no others show them.
func (f *engineFit) ofMessages(c *cost.Curve, small, rows []engineRow) (costs []engineCost, err error) {
	costs = []engineCost{alphaOf(c)}
	if err := f.find(&costs[0], small[:1]); err != nil {
		return nil, err
	}
	if c == f.between { // bytes of small messages show where they are waited for
		rows = slices.Concat(rows, f.rows[turn])
		took := engineCost{low: soon, high: costs[0].value, set: func(x float64) { c.Receive = units.Time(x) }}
		if err := f.find(&took, f.smallest(single)); err != nil {
			return nil, err
		}
		costs = append(costs, took)
	}
	for i := range c.Segments[2:] {
		s := &c.Segments[i+2]
		rates := []*units.Rate{&s.Rate}
		if i == 0 {
			rates = append(rates, &c.Segments[0].Rate, &c.Segments[1].Rate)
		}
		x := rateCost(rates...)
		if err := f.find(&x, atSize(rows, s.From)); err != nil {
			return nil, err
		}
		if x.value > x.low {
			costs = append(costs, x)
		}
	}
	return costs, nil
}

// shown is by how much rows take longer than without a cost, at least, where they show it: as a logarithm.
const shown = 0.03

// find sets a cost so that those rows take as long as they did that show it; the least there is where none does.
func (f *engineFit) find(c *engineCost, rows []engineRow) error {
	c.value = c.low
	c.set(c.low)
	off, err := f.off(rows)
	if err != nil {
		return err
	}
	var show []engineRow
	for i := range rows {
		if off[i] < -shown {
			show = append(show, rows[i])
		}
	}
	return f.solve(show, c.low, c.high, func(x float64) {
		c.value = x
		c.set(x)
	})
}

// hiddenShare: a time that its own rows do not show begins as so much less than α.
const hiddenShare = 20

// leastShare is the least that is looked for: so many messages an adapter carries as fast as one.
const leastShare = 1. / 256

// shownBy are the rows that show a cost best.
type shownBy struct {
	cost engineCost
	rows []engineRow
}

// hidden is where a cost begins that its own rows do not show: a time at a part of α; with bursts, the rate of what carries messages as
// slow as rows let it be, since a slower line hides it.
func (x *shownBy) hidden(alpha float64, bursts bool) float64 {
	switch {
	case x.cost.low == soon:
		return min(alpha/hiddenShare, x.cost.high)
	case bursts && x.cost.low == slowest:
		return x.cost.high
	}
	return x.cost.low
}

// gapOf is that of a curve's messages behind one another, at most what one takes: α.
func gapOf(c *cost.Curve, alpha engineCost) engineCost {
	return engineCost{low: soon, high: alpha.value, gap: true, set: func(x float64) { c.Gap = units.Time(x) }}
}

// costs are those of messages between nodes, each as the rows have it that show it best, and all rows.
func (f *engineFit) costs(bursts bool) (costs []engineCost, rows []engineRow, err error) {
	c := f.between
	shared, err := f.shared()
	if err != nil {
		return nil, nil, err
	}
	sustained := rateCost(&c.Sustained)
	if bursts {
		if err := f.limit(&sustained, f.steady()); err != nil {
			return nil, nil, err
		}
		sustained.value = sustained.high
		sustained.set(sustained.high)
	}
	if costs, err = f.ofMessages(c, f.turns(), f.alone()); err != nil {
		return nil, nil, err
	}
	adapter := engineCost{low: leastShare, high: 1, set: func(x float64) { f.share = x }}
	show := []shownBy{{adapter, f.sideBySide()}, {shared[0], f.largest(toAll, oneByOne)},
		{shared[1], f.largest(away, beside)}, {shared[2], f.largest(toAll, sliced)},
		{gapOf(c, costs[0]), f.small(spread, toAll)}, {furtherCost(c), f.small(beside)}, {partCost(c), f.small(beside)}}
	if bursts {
		costs = append(costs, sustained)
	}
	for _, x := range show {
		if err := f.find(&x.cost, x.rows); err != nil {
			return nil, nil, err
		}
		if x.cost.value == x.cost.low { // all rows together may show it
			x.cost.value = x.hidden(costs[0].value, bursts)
		}
		if x.cost.value > x.cost.low {
			costs = append(costs, x.cost)
		}
	}
	for _, pattern := range crossing {
		rows = append(rows, f.rows[pattern]...)
	}
	return costs, rows, nil
}

// shared are the rates of what carries a rank's messages, and of what a node's share each way and both ways, as slow as rows let them be.
func (f *engineFit) shared() ([]engineCost, error) {
	c := f.between
	out := []engineCost{rateCost(&c.Carrier), rateCost(&c.NodeWay), rateCost(&c.Node)}
	for i := range out {
		if i > 0 && !c.Channels && f.t.NumRanks() == f.t.NumNodes() { // what carries all of a rank is all that its node has
			out[i].high = out[i].low
			continue
		}
		if err := f.limit(&out[i], f.largest(crossing...)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// crossing are the patterns that show what messages between nodes cost.
var crossing = []string{single, turn, beside, spread, away, abreast, oneByOne, answered, toAll, crowded, passed, sliced}

// limit keeps the rate of what messages share at what rows show to be possible, while nothing else costs anything.
func (f *engineFit) limit(c *engineCost, rows []engineRow) error {
	defer c.set(c.low)
	if len(rows) == 0 {
		return nil
	}
	low, high := c.low, c.high
	for range halvings {
		x := math.Sqrt(low * high)
		c.set(x)
		off, err := f.off(rows)
		if err != nil {
			return err
		}
		if slices.Max(off) > 0 {
			high = x
		} else {
			low = x
		}
	}
	c.high = low
	return nil
}
