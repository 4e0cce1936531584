package network

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"railyard/model/block"
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
	within  *cost.Curve // of those inside; nil: not timed
}

// engineRow is a row with the schedule that it is of.
type engineRow struct {
	s     *schedule.Schedule
	bytes units.Bytes
	took  float64 // µs
}

// message is the size of a row's messages.
func (r *engineRow) message() units.Bytes { return r.s.ChunkBytes(0, r.bytes) }

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
		if s.Protocol = protocol; r.Blocks > 1 {
			s = block.Dealt(s, r.Blocks)
		}
		f.rows[pattern] = append(f.rows[pattern], engineRow{s, r.Bytes, r.Value})
	}
	f.profile = &cost.Profile{Curves: []cost.Curve{{Medium: topology.Network.String(), Protocol: string(protocol), Smooth: true,
		Ahead: protocol == schedule.Proxied, Segments: segmentsOf(f.rows[oneByOne])}}}
	if medium, ok := mediumInside(t); ok && len(f.rows[inside]) > 1 {
		f.profile.Curves = append(f.profile.Curves, cost.Curve{Medium: medium.String(), Protocol: string(protocol), Smooth: true,
			Segments: segmentsOf(f.rows[inside])})
		f.within = &f.profile.Curves[1]
	}
	f.between = &f.profile.Curves[0]
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

// segmentsOf are the sizes of rows' messages; the smallest one's costs hold for less, too.
func segmentsOf(rows []engineRow) (out []cost.Segment) {
	out = append(out, cost.Segment{Alpha: units.Microsecond, Efficiency: 1})
	for i := range rows {
		out = append(out, cost.Segment{From: rows[i].message(), Alpha: units.Microsecond, Efficiency: 1})
	}
	return out
}

// all finds α and the gap between messages by the smallest, then of each size what a message alone reaches and what all reach together;
// and what copying and reducing take.
func (f *engineFit) all() error {
	if list := f.rows[own]; len(list) > 1 && list[len(list)-1].took > list[0].took { // else launches hide what copies take
		last := list[len(list)-1]
		last.took -= list[0].took
		if err := f.rate(&f.between.Copy, last); err != nil {
			return err
		}
	}
	if f.within != nil {
		if err := f.curve(f.within, f.rows[inside], nil, nil); err != nil {
			return err
		}
	}
	if err := f.curve(f.between, f.rows[oneByOne], f.rows[toAll], f.rows[sliced]); err != nil {
		return err
	}
	large := slices.DeleteFunc(slices.Clone(f.rows[reduced]), func(r engineRow) bool { return r.bytes < engineSizes[len(engineSizes)-2] })
	return f.rate(&f.between.Reduce, large...)
}

// rate finds one, in bytes/s.
func (f *engineFit) rate(r *units.Rate, rows ...engineRow) error {
	const slowest, fastest = 1e6, 1e14
	return f.solve(rows, slowest, fastest, func(x float64) { *r = units.Rate(slowest * fastest / x) })
}

// curve is that by which messages one by one take what rows say, and those to all others at once and slices of them.
func (f *engineFit) curve(c *cost.Curve, single, many, slice []engineRow) error {
	alpha := func(x float64) {
		for i := range c.Segments {
			c.Segments[i].Alpha = units.Time(x)
		}
	}
	gap := func(x float64) { c.Gap = units.Time(x) }
	next := f.furtherMessages(c, many, slice)
	const soon, late = 10 * float64(units.Nanosecond), 1e5 * float64(units.Microsecond)
	for range fitRounds {
		if err := f.solve(single[:1], soon, late, alpha); err != nil {
			return err
		}
		for i := 1; i < len(single); i++ {
			if err := f.size(&c.Segments[i+1], single[i], atSize(slices.Concat(many, slice), single[i].message())); err != nil {
				return err
			}
		}
		if err := f.solve(next, soon, float64(c.Segments[0].Alpha), gap); err != nil {
			return err
		}
	}
	return f.solve(single[:1], soon, late, alpha)
}

// furtherMessages are the smallest rows that say what a message costs behind another: those to several ranks of other nodes at once,
// and slices, where α passes meanwhile or streams are several; of the smallest size layouts make fewer of these.
func (f *engineFit) furtherMessages(c *cost.Curve, many, slice []engineRow) (rows []engineRow) {
	if f.t.NumRanks()-f.t.NumRanks()/f.t.NumNodes() > 1 && len(many) > 0 {
		rows = append(rows, many[0])
	}
	if len(slice) > 1 && (c.Ahead || len(slice[1].s.Channels) > 1) {
		rows = append(rows, slice[1])
	}
	return rows
}

// fitRounds is how often costs are found that depend on one another.
const fitRounds = 6

// atSize are rows whose messages have a size, or nearly.
func atSize(rows []engineRow, size units.Bytes) []engineRow {
	return slices.DeleteFunc(rows, func(r engineRow) bool { return r.message() > size+size/8 || r.message() < size-size/8 })
}

// size finds what a message of a size reaches alone, and then what many reach together.
func (f *engineFit) size(s *cost.Segment, single engineRow, many []engineRow) error {
	const least = 1 << 20 // of the line, the slowest that is looked for
	share := func(x float64) { s.Efficiency = 1 / x }
	if len(many) == 0 {
		return f.solve([]engineRow{single}, 1, least, share)
	}
	if err := f.rate(&s.Rate, single); err != nil {
		return err
	}
	return f.solve(many, 1, least, share)
}

// solve sets a cost between two, the larger the longer, so that rows take as long as they did in the mean of the logarithms.
func (f *engineFit) solve(rows []engineRow, low, high float64, set func(float64)) error {
	if len(rows) == 0 {
		return nil
	}
	const halvings = 20
	for range halvings {
		x := math.Sqrt(low * high)
		set(x)
		longer := 0.
		for i := range rows {
			r, err := sim.Run(f.t, rows[i].s, rows[i].bytes, f.profile, sim.Options{})
			if err != nil {
				return err
			}
			longer += math.Log(r.Time.Microseconds() / rows[i].took)
		}
		if longer > 0 {
			high = x
		} else {
			low = x
		}
	}
	return nil
}
