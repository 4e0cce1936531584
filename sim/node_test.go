package sim

import (
	"math"
	"strings"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func dgx(t *testing.T, nodes, gpus int) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: nodes, GPUs: gpus})
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

// TestNodeShared: messages of all of a node's adapters take as long as what they share takes for their bytes, whatever their efficiency,
// where that is slower than links; each way and both ways together.
func TestNodeShared(t *testing.T) {
	const gpus, bytes = 2, 64 << 20
	topo := dgx(t, 2, gpus)
	oneWay := make([][]int64, 2*gpus)
	for a := range oneWay {
		oneWay[a] = make([]int64, 2*gpus)
		if a < gpus {
			oneWay[a][a+gpus] = 1
		}
	}
	for _, c := range []struct {
		node, way units.Rate
		counts    [][]int64
		want      float64 // bytes/s of each rank's message
	}{
		{0, 0, oneWay, 25e9}, // half of the line
		{10e9, 0, oneWay, 5e9},
		{0, 8e9, oneWay, 4e9},
		{10e9, 8e9, oneWay, 4e9},
		{10e9, 0, collective.UniformCounts(2 * gpus), 10e9 / 2 / gpus * 1.5}, // both ways, two of three messages leave the node
		{0, 10e9, collective.UniformCounts(2 * gpus), 10e9 / gpus * 1.5},
	} {
		p := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: "any", Node: c.node, NodeWay: c.way,
			Segments: []cost.Segment{{Efficiency: 0.5}}}}}
		s := flat(schedule.GenDirect, collective.AllToAllV, 2*gpus, 1)
		s.Spec.Counts = c.counts
		r, err := Run(topo, s, bytes, p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sent := float64(r.SentBytes[0])
		if got := sent / r.Time.Seconds(); math.Abs(got/c.want-1) > 0.01 {
			t.Errorf("node %v, each way %v: %.3g bytes/s of a rank, want %.3g", c.node, c.way, got, c.want)
		}
		if shares := strings.Contains(r.Bottleneck, "share"); shares != (c.node+c.way > 0) {
			t.Errorf("node %v, each way %v: limited by %s", c.node, c.way, r.Bottleneck)
		}
	}
}

// TestCarriedTogether: pieces of a large message are carried no faster than half of it at once, however small; small messages are as fast as
// they are.
func TestCarriedTogether(t *testing.T) {
	curve := cost.Curve{Medium: "network", Protocol: "any", Carrier: 5e9, Smooth: true,
		Segments: []cost.Segment{{Rate: 4e9}, {From: 256 * units.KiB, Rate: 4e9}, {From: 16 * units.MiB, Rate: 2e9}}}
	p := &cost.Profile{Curves: []cost.Curve{curve}}
	for _, c := range []struct {
		size units.Bytes
		rate float64 // bytes/s
	}{{256 * units.KiB, 4e9}, {32 * units.MiB, 2e9}} {
		s := flat(schedule.GenRing, collective.Broadcast, 2, 1)
		for _, slices := range []int{1, 2, 64} {
			s.Channels[0].Slices = slices
			r, err := Run(dgx(t, 2, 1), s, c.size, p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(c.size) / r.Time.Seconds(); math.Abs(got/c.rate-1) > 0.01 {
				t.Errorf("%v in %d slices: %.2f GB/s, want %.2f", c.size, slices, got/1e9, c.rate/1e9)
			}
		}
	}
}

// TestNodeSharedFolded: plans in which nodes stand for others take as long as those where none does, and estimates are no longer.
func TestNodeSharedFolded(t *testing.T) {
	curve := cost.Curve{Medium: "network", Protocol: "any", Segments: []cost.Segment{{Alpha: 5 * units.Microsecond, Efficiency: 0.7}}}
	free := &cost.Profile{Reduce: 1e11, Curves: []cost.Curve{curve}}
	node, carried, apart := curve, curve, curve
	node.Node, node.NodeWay = 30e9, 20e9
	carried.Carrier, carried.Gap, carried.Part = 10e9, units.Microsecond, 100*units.Nanosecond
	apart.Carrier, apart.Gap, apart.Channels = 4e9, units.Microsecond, true
	equal := carried // whose carriers are as fast as what nodes share, and slower with some messages
	equal.Node, equal.Smooth = equal.Carrier, true
	equal.Segments = []cost.Segment{{Alpha: 5 * units.Microsecond, Rate: 8e9}, {From: units.MiB, Alpha: 5 * units.Microsecond, Rate: 5e9}}
	for i, curve := range []cost.Curve{node, carried, apart, equal, node, carried, apart, equal} {
		p := &cost.Profile{Reduce: 1e11, Curves: []cost.Curve{curve}}
		gpus := 4
		if i >= 4 {
			gpus = 1
		}
		for _, kind := range []collective.Kind{collective.AllToAll, collective.AllGather, collective.AllReduce, collective.Broadcast} {
			topo, gen := dgx(t, 4, gpus), schedule.GenDirect
			if kind == collective.AllReduce {
				gen = schedule.GenRing
			}
			s := flat(gen, kind, 4*gpus, 2)
			folded, err := Compile(topo, s, p)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := CompileFlat(topo, s, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []units.Bytes{units.KiB, 3 << 20, 1 << 30} {
				a, err := folded.Time(size)
				if err != nil {
					t.Fatal(err)
				}
				b, err := whole.Time(size)
				if err != nil {
					t.Fatal(err)
				}
				if least := folded.LowerEstimate(size); a != b || least > a {
					t.Errorf("%v of %v, %+v: %v folded, %v flat, estimated %v", kind, size, curve, a, b, least)
				}
				for _, most := range []units.Time{a / 3, a * 2 / 3, a - 1, a} {
					if got, err := folded.TimeWithin(size, most); err != nil || got > a || (got > most) != (a > most) {
						t.Errorf("%v of %v, %+v: within %v it takes %v (%v), and takes %v", kind, size, curve, most, got, err, a)
					}
				}
			}
			without, err := Run(topo, s, 1<<30, free, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if with, _ := whole.Time(1 << 30); with <= without.Time {
				t.Errorf("%v, %+v: %v, as long as without what nodes share (%v)", kind, curve, with, without.Time)
			}
		}
	}
}

// TestNodeInside: what a node's adapters share takes nothing from messages inside, by curves for any medium neither.
func TestNodeInside(t *testing.T) {
	p := &cost.Profile{Curves: []cost.Curve{{Medium: "any", Protocol: "any", Segments: []cost.Segment{{Efficiency: 0.5}}}}}
	for _, c := range []struct {
		nodes, gpus int
		slower      bool
	}{{1, 4, false}, {2, 2, true}} {
		topo, s := dgx(t, c.nodes, c.gpus), flat(schedule.GenDirect, collective.AllGather, 4, 1)
		var times []units.Time
		for _, rate := range []units.Rate{0, 10e9} {
			p.Curves[0].Node, p.Curves[0].NodeWay = rate, rate
			r, err := Run(topo, s, 64<<20, p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, r.Time)
		}
		if slower := times[1] > times[0]; slower != c.slower {
			t.Errorf("%d nodes: %v, with what adapters share %v", c.nodes, times[0], times[1])
		}
	}
}
