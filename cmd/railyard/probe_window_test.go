package main

import (
	"fmt"
	"testing"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim/blocks"
	"railyard/study/kernels"
	"railyard/topologies"
)

// TestFitWindow: what a thread reads before it passes any on comes back from rows that are off by
// what flags take and by a few percent; a profile without such rows knows of none.
func TestFitWindow(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := &cost.Profile{Launch: units.Microsecond, Curves: []cost.Curve{{Medium: "nvlink", Protocol: "any",
		Segments: []cost.Segment{{Alpha: 2 * units.Microsecond, Efficiency: 0.8}}}}}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 4}, "scatter_exchange", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []units.Bytes{12, 32, 77} {
		var rows []measurement.Link
		for i, part := 0, units.Bytes(64<<10); part <= 4<<20; i, part = i+1, part*2 {
			for _, d := range [][2]int{{16, 256}, {64, 256}, {132, 128}} {
				w, err := kernels.Work(topo, s, cuda.Method{Mechanism: block.Push}, kernels.Floats(3*part),
					blocks.Window(d[0], d[1], each), p)
				if err != nil {
					t.Fatal(err)
				}
				us := (w.Time(p).Microseconds() + 0.7) * (1 + 0.01*float64(i%3-1))
				rows = append(rows, measurement.Link{Kind: fmt.Sprintf("relay_t%d_overlap", d[1]), Src: "*", Dst: "*", Blocks: d[0],
					Bytes: part, Value: us, Unit: "us"})
			}
		}
		if err := fitWindow(p, rows, topo); err != nil {
			t.Fatal(err)
		}
		if p.Window < each*9/10 || p.Window > each*11/10 {
			t.Errorf("%v a thread, want %v", p.Window, each)
		}
	}
	p.Window = 0
	if err := fitWindow(p, []measurement.Link{{Kind: "relay_overlap", Bytes: 1 << 20, Value: 3, Unit: "us"},
		{Kind: "ll_cast3_overlap", Bytes: 64, Value: 2, Unit: "us"}}, topo); err != nil || p.Window != 0 {
		t.Errorf("%v a thread from no row, %v", p.Window, err)
	}
}

// TestWindowOfProfile: runs are predicted with the profile's window.
func TestWindowOfProfile(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 4}, "scatter_exchange", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	how := cuda.Method{Mechanism: block.Push, Blocks: 64, Threads: 256}
	var times []units.Time
	for _, each := range []units.Bytes{0, 32, 64} {
		took, _, err := kernels.Predict(topo, s, how, kernels.Floats(12*units.MiB), &cost.Profile{Window: each})
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, took)
	}
	if times[0] != times[1] || times[2] <= times[1] {
		t.Errorf("12 MiB take %v without a window, %v with 32 B a thread, %v with 64", times[0], times[1], times[2])
	}
}
