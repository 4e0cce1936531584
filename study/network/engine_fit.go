package network

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

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
	oneLine(curves)
	return curves, nil
}

// oneLine lets all engines know what a line sustains beyond bursts as that one reaches it which reaches most: there is one line.
func oneLine(curves []cost.Curve) {
	var between []*cost.Curve
	sustained := units.Rate(0)
	for i := range curves {
		if c := &curves[i]; c.Medium == topology.Network.String() {
			between, sustained = append(between, c), max(sustained, c.Sustained)
		}
	}
	for _, c := range between {
		c.Sustained = sustained
	}
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
		if list := f.rows[pattern]; len(list) > 0 && reflect.DeepEqual(list[len(list)-1].s, row.s) {
			row.s = list[len(list)-1].s // off compiles it once
		}
		f.rows[pattern] = append(f.rows[pattern], row)
	}
	f.profile, f.share = &cost.Profile{Curves: make([]cost.Curve, 0, 2)}, leastShare
	add := func(medium topology.Medium, protocol string, rows []engineRow) *cost.Curve {
		f.profile.Curves = append(f.profile.Curves, cost.Curve{Medium: medium.String(), Protocol: protocol, Smooth: true,
			Row: medium == topology.Network, Segments: segmentsOf(rows)})
		return &f.profile.Curves[len(f.profile.Curves)-1]
	}
	f.between = add(topology.Network, string(protocol), f.alone())
	// Each stream has a communicator of its own, which takes messages between two ranks one after the other; a proxy takes what is there.
	f.between.Channels, f.between.Ahead = protocol == schedule.Staged, protocol == schedule.Proxied
	if medium, ok := mediumInside(t); ok && len(f.rows[inside]) > 1 {
		f.within = add(medium, string(protocol), f.rows[inside])
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
	for _, r := range f.smallest(own) {
		f.between.Launch = units.Time(r.took * float64(units.Microsecond))
	}
	f.between.Copy = fastest // where launches hide what copies take; what a host's memory reaches is not it
	if list := f.rows[own]; len(list) > 1 && list[len(list)-1].took > list[0].took {
		last := list[len(list)-1]
		last.took -= list[0].took
		if err := f.rate(&f.between.Copy, last); err != nil {
			return err
		}
	}
	if f.within != nil {
		if _, err := f.ofMessages(f.within, f.rows[inside], f.rows[inside]); err != nil {
			return err
		}
		f.within.Receive = f.within.Segments[0].Alpha // receivers read
	}
	if err := f.messages(); err != nil {
		return err
	}
	return f.reduces()
}

// messages finds what messages between nodes cost, with bursts where these explain the rows by more than further costs do by chance
// (Schwarz 1978): a row's part of what is least is by Cauchy's likelihood.
func (f *engineFit) messages() error {
	before := f.state()
	plain, err := f.found(false)
	if err != nil || plain.least <= usual*usual*math.Log(float64(plain.rows))/2 || len(f.steady()) == 0 {
		return err
	}
	without := f.state()
	f.set(before)
	with, err := f.found(true)
	if by := float64(max(with.costs-plain.costs, 1)) * usual * usual * math.Log(float64(plain.rows)) / 2; plain.least-with.least < by {
		f.set(without)
	}
	return err
}

// explained is how far rows are off by some costs.
type explained struct {
	least       float64
	costs, rows int
}

// found finds the costs of messages between nodes.
func (f *engineFit) found(bursts bool) (x explained, err error) {
	costs, rows, err := f.costs(bursts)
	if err == nil {
		x.least, err = f.best(costs, rows)
	}
	x.costs, x.rows = len(costs), len(rows)
	return x, err
}

// fitState is what fits of messages between nodes change.
type fitState struct {
	between cost.Curve
	share   float64
}

func (f *engineFit) state() fitState {
	s := fitState{*f.between, f.share}
	s.between.Segments = slices.Clone(s.between.Segments)
	return s
}

func (f *engineFit) set(s fitState) { *f.between, f.share = s.between, s.share }

// reduces finds how fast large messages are reduced of how much longer they take than those that are not, where that shows: what these
// are off by would be taken for it, too.
func (f *engineFit) reduces() error {
	off, err := f.off(f.rows[oneByOne])
	if err != nil {
		return err
	}
	var large []engineRow
	for _, r := range f.rows[reduced] {
		at := slices.IndexFunc(f.rows[oneByOne], func(x engineRow) bool { return x.bytes == r.bytes })
		if at < 0 || r.bytes < engineSizes[len(engineSizes)-2] || r.took < f.rows[oneByOne][at].took*math.Exp(shown) {
			continue
		}
		r.took *= math.Exp(off[at])
		large = append(large, r)
	}
	f.between.Reduce = fastest
	if len(large) > 0 {
		err = f.rate(&f.between.Reduce, large...)
		f.between.Reduce = max(f.between.Reduce, f.between.Copy*2/3) // the same kernel moves three bytes for two of a copy
	}
	return err
}

// best are the costs at which rows are least off, from where each cost alone was found, and from where half of α is the gap's: what goes
// both ways at once shows the two together.
func (f *engineFit) best(costs []engineCost, rows []engineRow) (float64, error) {
	least, where := math.Inf(1), []float64(nil)
	for _, moved := range []float64{0, 0.5} {
		x := make([]float64, len(costs))
		for i := range costs {
			x[i] = costs[i].value
		}
		for i, c := range costs {
			if c.gap {
				x[i] += moved * costs[0].value
				x[0] *= 1 - moved
			}
		}
		sum, at, err := f.least(costs, x, rows)
		if err != nil {
			return 0, err
		}
		if sum < least {
			least, where = sum, at
		}
	}
	_, err := f.at(costs, where, rows)
	return least, err
}

// rate finds one, in bytes/s.
func (f *engineFit) rate(r *units.Rate, rows ...engineRow) error {
	return f.solve(rows, slowest, fastest, func(x float64) { *r = units.Rate(slowest * fastest / x) })
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
	plans := map[*schedule.Schedule]*sim.Plan{}
	for _, r := range rows {
		plan := plans[r.s]
		if plan == nil {
			if plan, err = sim.Compile(f.t, r.s, f.profile); err != nil {
				return nil, err
			}
			plans[r.s] = plan
		}
		time, err := plan.Time(r.bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, math.Log(time.Microseconds()/r.took))
	}
	return out, nil
}
