package sim_test

import (
	"math"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

// TestAhead: of slices that follow one another on a connection, only the first one's α is waited for where it passes meanwhile; where
// their bytes take less than the gap between messages, the rest take that.
func TestAhead(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	const n = 8
	s, err := planner.Build(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 2}, "ring", planner.Options{Slices: n})
	if err != nil {
		t.Fatal(err)
	}
	const alpha, gap = 10 * units.Microsecond, 2 * units.Microsecond
	for _, c := range []struct {
		ahead bool
		size  units.Bytes
		gap   units.Time
		want  units.Time // of which the bytes, at 1 GB/s, take size
	}{
		{false, 8_000_000, 0, n*alpha + 8000*units.Microsecond},
		{true, 8_000_000, 0, alpha + 8000*units.Microsecond},
		{true, 8_000_000, gap, alpha + 8000*units.Microsecond},
		{true, 8, gap, alpha + (n-1)*gap},
		{false, 8, gap, n * alpha},
	} {
		curve := cost.Curve{Medium: "any", Protocol: "any", Ahead: c.ahead, Gap: c.gap,
			Segments: []cost.Segment{{Alpha: alpha, Efficiency: 1 / 50.}}}
		r, err := sim.Run(topo, s, c.size, &cost.Profile{Curves: []cost.Curve{curve}}, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if off := float64(r.Time)/float64(c.want) - 1; off > 0.01 || off < -0.01 {
			t.Errorf("ahead %v, %v: %v, want %v", c.ahead, c.size, r.Time, c.want)
		}
	}
}

// TestCarrier: what carries a rank's messages is busy for a gap and the bytes of each that it sends or receives; channels have theirs
// where they have.
func TestCarrier(t *testing.T) {
	const alpha, gap, rate = 10 * units.Microsecond, 2 * units.Microsecond, 4e9
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 3, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pairs  [][2]int
		apart  bool
		copies float64 // of a message, for which the busiest carrier is busy
	}{
		{[][2]int{{0, 1}}, false, 1},
		{[][2]int{{0, 1}, {1, 0}}, false, 2}, // both ways
		{[][2]int{{0, 1}, {0, 2}}, false, 2}, // to two
		{[][2]int{{0, 1}, {2, 0}}, false, 2}, // to one, from another
		{[][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}}, false, 4},
		{[][2]int{{0, 1}, {1, 0}}, true, 1}, // each on a channel of its own
	} {
		s := flows(3, c.pairs...)
		if c.apart {
			s.Channels = nil
			for _, pair := range c.pairs {
				s.Channels = append(s.Channels, flows(3, pair).Channels...)
			}
		}
		for _, size := range []units.Bytes{4, 4_000_000} {
			p := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: "any", Gap: gap, Carrier: rate, Channels: true,
				Segments: []cost.Segment{{Alpha: alpha}}}}}
			r, err := sim.Run(topo, s, size*units.Bytes(len(s.Channels)), p, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			busy := float64(gap) + float64(size)/rate*1e12
			want := alpha - gap + units.Time(c.copies*busy) // of which one alone needs no gap
			if off := float64(r.Time)/float64(want) - 1; off > 0.01 || off < -0.01 {
				t.Errorf("%v of %v, apart %v: %v, want %v", c.pairs, size, c.apart, r.Time, want)
			}
		}
	}
}

// TestCarrierBySize: a thread that carries all of a rank's messages is as much faster with smaller ones as these are alone; of carriers
// of channels that is not known.
func TestCarrierBySize(t *testing.T) {
	const alpha = 10 * units.Microsecond
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size     units.Bytes
		channels bool
		rate     float64 // of what carries
	}{{4_000_000, false, 4e9}, {400_000, false, 8e9}, {4_000_000, true, 4e9}, {400_000, true, 4e9}} {
		p := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: "any", Carrier: 4e9, Channels: c.channels,
			Segments: []cost.Segment{{Alpha: alpha, Rate: 10e9}, {From: units.MiB, Alpha: alpha, Rate: 5e9}}}}}
		r, err := sim.Run(topo, flows(2, [2]int{0, 1}, [2]int{1, 0}), c.size, p, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := alpha + units.Time(2*float64(c.size)/c.rate*1e12)
		if off := float64(r.Time)/float64(want) - 1; off > 0.01 || off < -0.01 {
			t.Errorf("%v, channels %v: %v, want %v", c.size, c.channels, r.Time, want)
		}
	}
}

// TestNodeBySize: what nodes share is as much faster with smaller messages, too, whatever these take of their carrier beside their bytes.
func TestNodeBySize(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	const size = 400_000
	for _, gap := range []units.Time{0, 50 * units.Microsecond} { // by the second, a byte takes one of the carrier's in all
		p := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: "any", Carrier: 4e9, Node: 1e9, Gap: gap,
			Segments: []cost.Segment{{Rate: 10e9}, {From: units.MiB, Rate: 5e9}}}}}
		r, err := sim.Run(topo, flows(2, [2]int{0, 1}, [2]int{1, 0}), size, p, sim.Options{})
		if want := units.Time(2 * size / 2e9 * 1e12); err != nil || math.Abs(float64(r.Time)/float64(want)-1) > 0.01 {
			t.Errorf("gap %v: %v (%v), want %v", gap, r.Time, err, want)
		}
	}
}

// TestTogether: of channels whose messages leave together, those to one rank share a gap, and those to two take one each.
func TestTogether(t *testing.T) {
	const alpha, gap, part = 10 * units.Microsecond, 2 * units.Microsecond, 500 * units.Nanosecond
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 3, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pairs       [][2]int // a channel each
		part        units.Time
		gaps, parts int // behind the first message
	}{
		{[][2]int{{0, 1}}, part, 0, 0},
		{[][2]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, part, 0, 3},
		{[][2]int{{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 0, 3, 0},
		{[][2]int{{0, 1}, {0, 1}, {0, 2}}, part, 1, 1},
		{[][2]int{{0, 1}, {1, 0}}, part, 1, 0}, // what carries them takes both
	} {
		s := flows(3, c.pairs[0])
		s.Channels = nil
		for _, pair := range c.pairs {
			s.Channels = append(s.Channels, flows(3, pair).Channels...)
		}
		p := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: "any", Gap: gap, Carrier: 100e9, Part: c.part,
			Segments: []cost.Segment{{Alpha: alpha}}}}}
		r, err := sim.Run(topo, s, units.Bytes(4*len(c.pairs)), p, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := alpha + units.Time(c.gaps)*gap + units.Time(c.parts)*part
		if off := float64(r.Time)/float64(want) - 1; off > 0.01 || off < -0.01 {
			t.Errorf("%v, %v a part: %v, want %v", c.pairs, c.part, r.Time, want)
		}
	}
}
