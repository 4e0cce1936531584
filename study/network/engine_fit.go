package network

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// engineFit makes the costs of an engine's messages of its rows: those by which simulations of what was timed take as long as that did.
type engineFit struct {
	t       *topology.Topology
	profile *cost.Profile // with the engine's curves alone
	rows    map[string][]engineRow
	between *cost.Curve // of messages between nodes
	ahead   *cost.Curve // of those that lead nobody back, which differ in α alone: their sender does not wait for them; nil: not timed
	within  *cost.Curve // of messages inside nodes; nil: not timed

	line units.Rate // between nodes
	// share is which part of a message's rate alone it has beside as many as an adapter carries no faster together: 1 where messages of an
	// adapter take turns.
	share float64
}

// settle leaves messages of an adapter together what they have alone over their share, at each size.
func (f *engineFit) settle() {
	for i := range f.between.Segments {
		s := &f.between.Segments[i]
		if s.Efficiency = 1; s.Rate > 0 {
			s.Efficiency = min(1, float64(s.Rate)/(f.share*float64(f.line)))
		}
	}
}

// level gives messages that lead nobody back what all cost, but for α and the gap: who hears of nobody has more to put at once.
func (f *engineFit) level() {
	if f.ahead == nil {
		return
	}
	alpha, gap, segments, protocol := f.ahead.Segments[0].Alpha, f.ahead.Gap, f.ahead.Segments, f.ahead.Protocol
	*f.ahead = *f.between
	f.ahead.Protocol, f.ahead.Gap, f.ahead.Segments = protocol, gap, append(segments[:0], f.between.Segments...)
	for i := range f.ahead.Segments {
		f.ahead.Segments[i].Alpha = alpha
	}
}

// engineRow is a row with the schedule that it is of, as the engine runs it.
type engineRow struct {
	s       *schedule.Schedule
	bytes   units.Bytes
	took    float64 // µs
	message units.Bytes
}

// newRow makes one; messages of what goes one by one have the size of a chunk, the only one all of a buffer, in the engine's slices.
func newRow(t *topology.Topology, s *schedule.Schedule, r measurement.Link) (engineRow, error) {
	x, err := Carried(t, s, r.Bytes, max(r.Blocks, 1))
	if err != nil {
		return engineRow{}, err
	}
	message := s.ChunkBytes(0, r.Bytes)
	if s.Spec.Kind == collective.AllToAllV {
		message = r.Bytes
	}
	return engineRow{x, r.Bytes, r.Value, message / units.Bytes(x.Channels[0].Slices)}, nil
}

// engineCurves are what messages cost by each engine that was timed.
func engineCurves(rows []measurement.Link, t *topology.Topology) (curves []cost.Curve, err error) {
	for _, protocol := range []schedule.Protocol{schedule.Proxied, schedule.Staged} {
		f, err := newEngineFit(rows, t, protocol)
		if err != nil {
			return nil, err
		}
		if len(f.rows[oneByOne]) < 2 {
			continue // not timed
		}
		if err := f.all(); err != nil {
			return nil, err
		}
		curves = append(curves, f.profile.Curves...)
	}
	return curves, nil
}

func newEngineFit(rows []measurement.Link, t *topology.Topology, protocol schedule.Protocol) (*engineFit, error) {
	f := &engineFit{t: t, rows: map[string][]engineRow{}}
	bySize := slices.SortedStableFunc(slices.Values(rows), func(a, b measurement.Link) int { return cmp.Compare(a.Bytes, b.Bytes) })
	for _, r := range bySize {
		pattern, ok := strings.CutPrefix(r.Kind, engineKind(protocol))
		if !ok || !slices.Contains(patterns, pattern) {
			continue
		}
		s, err := scheduleOf(t, pattern)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		if r.Bytes <= 0 || r.Value <= 0 {
			return nil, fmt.Errorf("row %s of %v: %v µs: bytes and value must be more than zero; probe again", r.Kind, r.Bytes, r.Value)
		}
		s.Protocol = protocol
		row, err := newRow(t, s, r)
		if err != nil {
			return nil, err
		}
		f.rows[pattern] = append(f.rows[pattern], row)
	}
	f.profile, f.share = &cost.Profile{Curves: make([]cost.Curve, 0, 3)}, leastShare
	add := func(medium topology.Medium, protocol string, rows []engineRow) *cost.Curve {
		f.profile.Curves = append(f.profile.Curves, cost.Curve{Medium: medium.String(), Protocol: protocol, Smooth: true,
			Ahead: medium == topology.Network, Segments: segmentsOf(rows)})
		return &f.profile.Curves[len(f.profile.Curves)-1]
	}
	f.between = add(topology.Network, string(protocol), f.alone())
	f.between.Channels = protocol == schedule.Staged // each stream has a communicator of its own
	if medium, ok := mediumInside(t); ok && len(f.rows[inside]) > 1 {
		f.within = add(medium, string(protocol), f.rows[inside])
	}
	if len(f.rows[single]) > 1 {
		f.ahead = add(topology.Network, cost.OneWay(string(protocol)), f.rows[single])
	}
	for r := range t.NumRanks() {
		if t.NodeOf(r) != t.NodeOf(0) {
			route, err := topology.NewRouter(t).Route(0, r)
			f.line = route.Rate
			return f, err
		}
	}
	return f, nil
}

// mediumInside is what messages inside a node go over, between its first two ranks.
func mediumInside(t *topology.Topology) (topology.Medium, bool) {
	for r := 1; r < t.NumRanks(); r++ {
		if t.NodeOf(r) == t.NodeOf(0) {
			route, err := topology.NewRouter(t).Route(0, r)
			return route.Medium, err == nil
		}
	}
	return 0, false
}

// alone are rows of messages that meet no others on their way; where none were timed, of those that meet few.
func (f *engineFit) alone() []engineRow {
	if rows := f.rows[single]; len(rows) > 1 {
		return rows
	}
	return f.rows[oneByOne]
}

// segmentsOf are the sizes of rows' messages; the smallest one's costs hold for less, too.
func segmentsOf(rows []engineRow) (out []cost.Segment) {
	out = append(out, cost.Segment{Alpha: units.Microsecond, Efficiency: 1})
	for i := range rows {
		if last := out[len(out)-1].From; rows[i].message > last {
			out = append(out, cost.Segment{From: rows[i].message, Alpha: units.Microsecond, Efficiency: 1})
		}
	}
	return out
}

// all finds first what copies and messages inside a node take; then what messages between nodes do, at first by what shows each cost
// best, and then all of them by all rows.
func (f *engineFit) all() error {
	if list := f.rows[own]; len(list) > 1 && list[len(list)-1].took > list[0].took { // else launches hide what copies take
		last := list[len(list)-1]
		last.took -= list[0].took
		if err := f.rate(&f.between.Copy, last); err != nil {
			return err
		}
	}
	if f.within != nil {
		if _, err := f.ofMessages(f.within, f.within, f.rows[inside]); err != nil {
			return err
		}
	}
	costs, rows, err := f.costs()
	if err != nil {
		return err
	}
	if err := f.best(costs, rows); err != nil {
		return err
	}
	large := slices.DeleteFunc(slices.Clone(f.rows[reduced]), func(r engineRow) bool { return r.bytes < engineSizes[len(engineSizes)-2] })
	return f.rate(&f.between.Reduce, large...)
}

// best are the costs at which rows are least off, from where each cost alone was found, and from where half of α is the gap's: what goes
// both ways at once shows the two together.
func (f *engineFit) best(costs []engineCost, rows []engineRow) error {
	least, where := math.Inf(1), []float64(nil)
	for _, moved := range []float64{0, 0.5} {
		x := make([]float64, len(costs))
		for i := range costs {
			x[i] = costs[i].value
		}
		for i, c := range costs {
			if c.gap {
				x[i] += moved * costs[c.alpha].value
				x[c.alpha] *= 1 - moved
			}
		}
		sum, at, err := f.least(costs, x, rows)
		if err != nil {
			return err
		}
		if sum < least {
			least, where = sum, at
		}
	}
	_, err := f.at(costs, where, rows)
	return err
}

// slowest and fastest rates that are looked for, in bytes/s.
const slowest, fastest = 1e6, 1e14

// rate finds one, in bytes/s.
func (f *engineFit) rate(r *units.Rate, rows ...engineRow) error {
	return f.solve(rows, slowest, fastest, func(x float64) { *r = units.Rate(slowest * fastest / x) })
}

// engineCost is one that rows tell: from low to high, the larger the longer.
type engineCost struct {
	low, high, value float64
	gap              bool
	alpha            int // of a gap: which cost is α of its messages
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

// ofMessages are α, which the smallest size shows, and the rates of messages, each of a curve, as rows of some that meet no others show
// them.
func (f *engineFit) ofMessages(alpha, c *cost.Curve, rows []engineRow) (costs []engineCost, err error) {
	costs = []engineCost{alphaOf(alpha)}
	if err := f.find(&costs[0], rows[:1]); err != nil {
		return nil, err
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

// atSize are rows whose messages have a size.
func atSize(rows []engineRow, size units.Bytes) (out []engineRow) {
	for _, r := range rows {
		if r.message == size {
			out = append(out, r)
		}
	}
	return out
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

// leastShare is the least that is looked for: so many messages an adapter carries as fast as one.
const leastShare = 1. / 256

// shownBy are the rows that show a cost best.
type shownBy struct {
	cost engineCost
	rows []engineRow
}

// gapOf is that of a curve's messages behind one another, at most what one takes: α, one of the costs.
func gapOf(c *cost.Curve, costs []engineCost, alpha int) engineCost {
	return engineCost{low: soon, high: costs[alpha].value, gap: true, alpha: alpha, set: func(x float64) { c.Gap = units.Time(x) }}
}

// costs are those of messages between nodes, each as the rows have it that show it best, and all rows.
func (f *engineFit) costs() (costs []engineCost, rows []engineRow, err error) {
	c := f.between
	shared, err := f.shared()
	if err != nil {
		return nil, nil, err
	}
	if costs, err = f.ofMessages(cmp.Or(f.ahead, c), c, f.alone()); err != nil {
		return nil, nil, err
	}
	if f.ahead != nil {
		back := alphaOf(c)
		if err := f.find(&back, f.turns()); err != nil {
			return nil, nil, err
		}
		costs = slices.Insert(costs, 0, back)
	}
	adapter := engineCost{low: leastShare, high: 1, set: func(x float64) { f.share = x }}
	show := []shownBy{{adapter, f.sideBySide()}, {shared[0], slices.Concat(f.largest(toAll), f.largest(oneByOne))},
		{shared[1], f.largest(away)}, {shared[2], slices.Concat(f.largest(toAll), f.largest(sliced))},
		{furtherCost(c), f.smallest(beside)}, {partCost(c), f.smallest(beside)}, {gapOf(c, costs, 0), f.furtherMessages(toAll, sliced)}}
	if f.ahead != nil {
		patterns := []string{spread}
		if c.Channels {
			patterns = append(patterns, beside)
		}
		show = append(show, shownBy{gapOf(f.ahead, costs, 1), f.furtherMessages(patterns...)})
	}
	for _, x := range show {
		if err := f.find(&x.cost, x.rows); err != nil {
			return nil, nil, err
		}
		if x.cost.value > x.cost.low || x.cost.gap {
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
		if err := f.limit(&out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// crossing are the patterns that show what messages between nodes cost.
var crossing = []string{single, beside, spread, away, oneByOne, answered, toAll, sliced}

// limit keeps the rate of what messages share at what rows show to be possible, while nothing else costs anything.
func (f *engineFit) limit(c *engineCost) error {
	var rows []engineRow
	for _, pattern := range crossing {
		rows = append(rows, f.largest(pattern)...)
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
	c.set(c.low)
	c.high = low
	return nil
}

// largest is the row of a pattern that has the most bytes, if there is one.
func (f *engineFit) largest(pattern string) []engineRow {
	return f.rows[pattern][max(len(f.rows[pattern])-1, 0):]
}

// smallest is the row of a pattern that has the fewest bytes, if there is one.
func (f *engineFit) smallest(pattern string) []engineRow {
	return f.rows[pattern][:min(len(f.rows[pattern]), 1)]
}

// turns is the smallest row of messages of which each waits for one the other way.
func (f *engineFit) turns() []engineRow {
	if rows := f.smallest(answered); len(rows) > 0 {
		return rows
	}
	return f.smallest(oneByOne)
}

// sideBySide are rows of messages that share an adapter: large parts of one, or where these were not timed, those to all.
func (f *engineFit) sideBySide() []engineRow {
	if rows := f.rows[beside]; len(rows) > 0 {
		return rows[len(rows)-1:]
	}
	return f.rows[toAll]
}

// furtherMessages are the smallest rows of patterns that say what a message costs behind another. Of slices, layouts make fewer where
// they are smallest.
func (f *engineFit) furtherMessages(patterns ...string) (rows []engineRow) {
	for _, pattern := range patterns {
		first := 0
		if pattern == sliced {
			first = 1
		}
		if list := f.rows[pattern]; len(list) > first {
			rows = append(rows, list[first])
		}
	}
	return rows
}

// halvings of an interval in which a cost is looked for.
const halvings = 20

// solve sets a cost between two, the larger the longer, so that rows take as long as they did in the mean of the logarithms.
func (f *engineFit) solve(rows []engineRow, low, high float64, set func(float64)) error {
	if len(rows) == 0 {
		return nil
	}
	for range halvings {
		x := math.Sqrt(low * high)
		set(x)
		off, err := f.off(rows)
		if err != nil {
			return err
		}
		if mean(off) > 0 {
			high = x
		} else {
			low = x
		}
	}
	return nil
}

func mean(list []float64) (m float64) {
	for _, v := range list {
		m += v / float64(len(list))
	}
	return m
}

// off is by how much rows take longer than they did, as logarithms.
func (f *engineFit) off(rows []engineRow) (out []float64, err error) {
	f.settle()
	f.level()
	for i := range rows {
		r, err := sim.Run(f.t, rows[i].s, rows[i].bytes, f.profile, sim.Options{})
		if err != nil {
			return nil, err
		}
		out = append(out, math.Log(r.Time.Microseconds()/rows[i].took))
	}
	return out, nil
}
