package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
	"railyard/topologies"
)

// TestEngineFit: of what simulations of patterns take, costs are made by which the same patterns take as long.
func TestEngineFit(t *testing.T) {
	for _, gpus := range []int{1, 2} {
		topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: gpus})
		if err != nil {
			t.Fatal(err)
		}
		for protocol, streams := range map[schedule.Protocol]int{schedule.Proxied: 1, schedule.Staged: 4} {
			if !long.Every(2, gpus+streams) { // one GPU a node by proxy, two in stages
				continue
			}
			truth := &cost.Profile{Curves: []cost.Curve{
				{Medium: "network", Protocol: string(protocol), Gap: 4 * units.Microsecond, Ahead: streams == 1, Row: true, Node: 5e9, NodeWay: 3.5e9,
					Launch: 2 * units.Microsecond, Receive: 6 * units.Microsecond,
					Part: units.Time(1/streams) * 800 * units.Nanosecond, Channels: streams > 1, Carrier: 3e9,
					Further: units.Time(streams/4) * 3 * units.Microsecond,
					Reduce:  50e9, Copy: 100e9,
					Segments: []cost.Segment{{Alpha: 40 * units.Microsecond, Efficiency: 0.08, Rate: 2e9}}},
				{Medium: "nvlink", Protocol: string(protocol), Receive: 3 * units.Microsecond, Segments: []cost.Segment{{Alpha: 3 * units.Microsecond, Efficiency: 0.5}}}}}
			rows := simulated(t, topo, truth, protocol, streams)
			turned := slices.Clone(rows) // files may have them in any order
			slices.Reverse(turned)
			curves, err := engineCurves(turned, topo)
			if err != nil || len(curves) != gpus {
				t.Fatalf("%d curves, %v", len(curves), err)
			}
			found := &cost.Profile{Curves: curves}
			for _, x := range truth.Curves[:1] {
				got, want := found.Transfer(topology.Network, x.Protocol, units.KiB).Alpha, x.Segments[0].Alpha
				if math.Abs(float64(got)/float64(want)-1) > 0.05 {
					t.Errorf("%d GPUs a node, %s: α is %v, want %v", gpus, x.Protocol, got, want)
				}
			}
			sameTimes(t, fmt.Sprintf("%d GPUs a node", gpus), simulated(t, topo, found, protocol, streams), rows)
		}
	}
}

// TestBursts: where a line lets bursts go faster than what follows, the fit says what it sustains; of a line that does not, it says nothing.
func TestBursts(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, sustained := range []units.Rate{1.2e9, 0} {
		truth := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: string(schedule.Proxied), Gap: 4 * units.Microsecond, Ahead: true,
			Row: true, Launch: units.Microsecond, Receive: 4 * units.Microsecond, Part: units.Microsecond, Carrier: 6e9, Sustained: sustained,
			Reduce: 50e9, Copy: 100e9, Segments: []cost.Segment{{Alpha: 15 * units.Microsecond, Efficiency: 1, Rate: 4e9}}}}}
		rows := simulated(t, topo, truth, schedule.Proxied, 1)
		curves, err := engineCurves(rows, topo)
		if err != nil || len(curves) != 1 {
			t.Fatalf("%d curves, %v", len(curves), err)
		}
		if got := float64(curves[0].Sustained); math.Abs(got-float64(sustained)) > 0.03*float64(sustained) {
			t.Errorf("sustained are %v, want %v", units.Rate(got), sustained)
		}
		sameTimes(t, fmt.Sprintf("%v sustained", sustained), simulated(t, topo, &cost.Profile{Curves: curves}, schedule.Proxied, 1), rows)
		r := rand.New(rand.NewPCG(uint64(sustained), 5))
		for i := range rows { // as far as starts on a quiet machine are from one another
			rows[i].Value *= math.Exp(0.06 * r.NormFloat64())
		}
		if curves, err = engineCurves(rows, topo); err != nil || (curves[0].Sustained > 0) != (sustained > 0) {
			t.Errorf("%v sustained, with noise: %v, %v", sustained, curves[0].Sustained, err)
		}
		said := (&Calibration{Profile: &cost.Profile{Curves: curves}}).Lines()
		if len(said) != 1 || strings.Contains(said[0], "each way in the long run") != (sustained > 0) {
			t.Errorf("%v sustained: %q", sustained, said)
		}
	}
}

// TestOneLine: engines share a line, so that both know what it sustains, also one whose rows show less of it, or nothing.
func TestOneLine(t *testing.T) {
	curve := func(medium topology.Medium, protocol schedule.Protocol, sustained units.Rate) cost.Curve {
		return cost.Curve{Medium: medium.String(), Protocol: string(protocol), Sustained: sustained}
	}
	for _, staged := range []units.Rate{0, 1.1e9, 1.3e9} {
		curves := []cost.Curve{curve(topology.Network, schedule.Proxied, 1.2e9), curve(topology.NVLink, schedule.Proxied, 0),
			curve(topology.Network, schedule.Staged, staged)}
		oneLine(curves)
		if most := max(staged, 1.2e9); curves[0].Sustained != most || curves[2].Sustained != most || curves[1].Sustained != 0 {
			t.Errorf("%v by stages: %v, %v, inside nodes %v", staged, curves[0].Sustained, curves[2].Sustained, curves[1].Sustained)
		}
	}
}

// sameTimes wants what patterns take again within a twentieth.
func sameTimes(t *testing.T, name string, again, rows []measurement.Link) {
	t.Helper()
	for i, x := range again {
		if off := x.Value/rows[i].Value - 1; math.Abs(off) > 0.05 {
			t.Errorf("%s: %s of %v: %.1f µs, want %.1f (%.1f %%)", name, x.Kind, x.Bytes, x.Value, rows[i].Value, 100*off)
		}
	}
}

// TestCopiesHidden: where launches hide what copies take, and messages what sums do, they take no time, and not that of a host's memory.
func TestCopiesHidden(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	truth := &cost.Profile{Curves: []cost.Curve{{Medium: "network", Protocol: string(schedule.Proxied), Copy: 100e9,
		Segments: []cost.Segment{{Alpha: 20 * units.Microsecond, Efficiency: 0.08}}}}}
	rows := simulated(t, topo, truth, schedule.Proxied, 1)
	for i := range rows {
		if rows[i].Kind == "net_proxy"+own {
			rows[i].Value = 5
		}
	}
	curves, err := engineCurves(rows, topo)
	if err != nil || len(curves) != 1 {
		t.Fatalf("%v, %v", curves, err)
	}
	found := &cost.Profile{Reduce: 10e9, Copy: 10e9, Curves: curves}
	if reduce, copied := found.Local(string(schedule.Proxied)); reduce < 1e12 || copied < 1e12 {
		t.Errorf("sums at %v, copies at %v", reduce, copied)
	}
}

// TestMedians: of rounds the median rows stay, also those that only one has.
func TestMedians(t *testing.T) {
	row := func(kind string, bytes units.Bytes, took float64) measurement.Link {
		return measurement.Link{Kind: kind, Bytes: bytes, Value: took}
	}
	got := medians([]measurement.Link{row("a", 1, 5), row("a", 2, 7), row("b", 1, 3), row("a", 1, 4), row("a", 2, 8), row("c", 1, 1),
		row("a", 1, 9)})
	want := []measurement.Link{row("a", 1, 5), row("a", 2, 7), row("b", 1, 3), row("c", 1, 1)}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRowsOfBefore: what is left out of rows is said.
func TestRowsOfBefore(t *testing.T) {
	for kind, want := range map[string]int{"net_proxy": 1, "net_stages": 1, "net_stages" + oneByOne: 0} {
		c := &Calibration{Profile: &cost.Profile{}, Rows: []measurement.Link{{Kind: kind}}}
		if got := c.Lines(); len(got) != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// simulated are rows of what an engine's patterns take by a profile.
func simulated(t *testing.T, topo *topology.Topology, p *cost.Profile, protocol schedule.Protocol, streams int) (
	rows []measurement.Link) {
	t.Helper()
	for _, pattern := range patterns {
		s, err := scheduleOf(topo, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			continue
		}
		s.Protocol = protocol
		for _, size := range engineSizes {
			as, err := Carried(topo, s, size, streams)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sim.Run(topo, as, size, p, sim.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, measurement.Link{Kind: "net_" + string(protocol) + pattern, Bytes: size, Blocks: streams,
				Value: r.Time.Microseconds(), Unit: "us"})
		}
	}
	return rows
}

// TestPatternsCompile: both engines have code for what they are timed with, and messages between nodes where they are of that.
func TestPatternsCompile(t *testing.T) {
	for _, gpus := range []int{1, 2} {
		topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: gpus})
		if err != nil {
			t.Fatal(err)
		}
		nodes := make([][]int, 2)
		for r := range topo.NumRanks() {
			nodes[topo.NodeOf(r)] = append(nodes[topo.NodeOf(r)], r)
		}
		for _, pattern := range patterns {
			s, err := scheduleOf(topo, pattern)
			if err != nil || (s == nil) != (gpus == 1 && slices.Contains([]string{inside, passed, spread, away, abreast}, pattern)) {
				t.Fatalf("%s: %v, %v", pattern, s, err)
			}
			if s == nil {
				continue
			}
			o := block.Options{Count: 1 << 16, Size: 4, Instances: 1}
			staged, err := block.CompileStages(s, o, nodes, 4)
			if err != nil {
				t.Fatalf("%s by stages: %v", pattern, err)
			}
			groups := 0
			for _, stream := range staged.Streams {
				for _, st := range stream {
					groups += len(st.Group)
				}
			}
			p, err := block.CompileProxied(s, o, nodes)
			if err != nil {
				t.Fatalf("%s by proxy: %v", pattern, err)
			}
			bells := slices.Concat(p.Bells...)
			if local := pattern == inside || pattern == own; (groups == 0) != local || (len(bells) == 0) != local {
				t.Errorf("%s: %d groups, %d bells", pattern, groups, len(bells))
			}
		}
	}
}

// TestRowsWithoutMeasurement: rows that say no bytes or no time are an error that names them.
func TestRowsWithoutMeasurement(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx-h200", topology.Options{Nodes: 2, GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []measurement.Link{{Value: 5}, {Bytes: units.KiB}} {
		var rows []measurement.Link
		for range 3 {
			bad.Kind = engineKind(schedule.Proxied) + oneByOne
			rows = append(rows, bad)
		}
		if _, err := engineCurves(rows, topo); err == nil || !strings.Contains(err.Error(), bad.Kind) {
			t.Errorf("%v of %v: %v", bad.Value, bad.Bytes, err)
		}
	}
}
