package show

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/capacity/goodput"
	"railyard/capacity/ownership"
	"railyard/model/collective"
	"railyard/model/failure"
	"railyard/model/units"
)

func TestFabrics(t *testing.T) {
	questions := []Question{Collective(collective.AllToAll, units.MiB, "direct"),
		Training("llama-3-8b", "dp80 tp1 pp1 zero3 mb1 gb160 full")}
	f, err := Fabrics(Site{Name: "superpod-h100", Nodes: 40, GPUs: 2}, []int{1, 4}, ownership.Plan{Months: 12, Utilisation: 0.5},
		questions...)
	if err != nil {
		t.Fatal(err)
	}
	if f[1].Bill.NetPart >= f[0].Bill.NetPart || f[1].Times[0] <= f[0].Times[0] {
		t.Errorf("4:1 costs %v against %v, and takes %v against %v", f[1].Bill.NetPart, f[0].Bill.NetPart, f[1].Times[0], f[0].Times[0])
	}
	rows := FabricTable(f, questions...)
	if len(rows) != 3 || len(rows[2]) != len(rows[0]) || rows[2][0] != "4:1" {
		t.Errorf("%v", rows)
	}
	l := TimeOverPrice(f, questions...)
	drawn(t, l)
	if p := l.Series[0].Points; p[0].Y != 1 || p[0].X <= p[1].X || p[1].Label != "4:1" {
		t.Errorf("%v", p)
	}
	paid := Ownership(f[0].Bill)
	drawn(t, paid)
	if p := paid.Series[0].Points; len(p) != 13 || math.Abs(p[0].Y*1e6/f[0].Bill.Purchase-1) > 1e-9 {
		t.Errorf("%v, bought for %v", p[0], f[0].Bill.Purchase)
	}
	if _, err := Fabrics(Site{Name: "superpod-h100", Nodes: 2}, []int{1}, ownership.Plan{Months: 12, Utilisation: 0.5},
		Collective(collective.AllReduce, units.MiB, "no-such")); err == nil {
		t.Error("an unknown algorithm")
	}
}

func TestLosses(t *testing.T) {
	list, err := Losses(Site{Name: "superpod-h100", Nodes: 2, GPUs: 2}, collective.AllReduce, 64*units.MiB, "nic:node0/nic1",
		"gpu:node0/gpu1")
	if err != nil {
		t.Fatal(err)
	}
	nic, gpu := list[0], list[1]
	if healthy, planned := nic.Before.Prediction.Time, nic.Prediction.Time; planned <= healthy || nic.Kept.Time < planned {
		t.Errorf("healthy %v, re-planned %v, kept %v", healthy, planned, nic.Kept.Time)
	}
	if gpu.Kept.Time != 0 {
		t.Errorf("a plan for 4 ranks runs on 3 in %v", gpu.Kept.Time)
	}
	bars := LossBars("x", list)
	drawn(t, bars)
	if a, b := bars.Bars[0].Name, bars.Bars[1].Name; a != nic.Fault || b != gpu.Fault+" (old plan fails)" {
		t.Errorf("bars %q and %q", a, b)
	}
	parts := bars.Bars[0].Parts
	if sum, want := parts[0].Value+parts[1].Value+parts[2].Value, nic.Kept.Time.Microseconds(); math.Abs(sum/want-1) > 1e-9 {
		t.Errorf("parts add up to %v of %v us", sum, want)
	}
	if _, err := Losses(Site{Name: "dgx2"}, collective.AllReduce, units.MiB, "nic:nic77"); err == nil {
		t.Error("an unknown part")
	}
}

func TestPolicies(t *testing.T) {
	stop := goodput.LlamaRates(goodput.Cluster{Parts: map[failure.Part]int{failure.GPU: 4096, failure.Node: 512, failure.NIC: 4096}})
	slow, err := Degraded(stop, 1.5, 1, "NIC")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Degraded(stop, 1.5, 1, "moon"); err == nil {
		t.Error("an unknown cause")
	}
	plan := goodput.Plan{Checkpoint: 0.05, Restart: 0.33}
	policies := []Policy{{"stop", stop, plan}, {"go on", slow, plan}}
	bars, err := Idle(policies...)
	if err != nil {
		t.Fatal(err)
	}
	drawn(t, bars)
	if s, g := bars.Bars[0].Parts, bars.Bars[1].Parts; s[2].Value != 0 || g[2].Value <= 0 || g[1].Value >= s[1].Value {
		t.Errorf("stop: %v, go on: %v", s, g)
	}
	rows, err := Played(20_000, 1, policies...)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	again := Must(Played(20_000, 1, policies...))
	for i, r := range rows[1:] {
		if !slices.Equal(r, again[i+1]) {
			t.Errorf("the same seed, %v and %v", r, again[i+1])
		}
		expected, _ := strconv.ParseFloat(strings.TrimSuffix(r[1], " %"), 64)
		played, _ := strconv.ParseFloat(strings.TrimSuffix(r[2], " %"), 64)
		if expected < 50 || math.Abs(expected-played) > 1 {
			t.Errorf("%s: expected %v %%, played %v %%", r[0], expected, played)
		}
	}
	if _, err := Idle(Policy{Name: "wrong", Causes: stop, Plan: goodput.Plan{Checkpoint: -1}}); err == nil {
		t.Error("a negative checkpoint")
	}
}
