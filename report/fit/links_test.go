package fit

import (
	"math"
	"strings"
	"testing"

	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// links are rows of a machine whose messages cost α and move at a share of the line.
func links(alpha, share float64) []measurement.Link {
	rows := []measurement.Link{
		{Kind: "launch_graph", Value: 0.5, Unit: "us"},
		{Kind: "sm_pull", Blocks: 1, Value: 20, Unit: "GBps"}, {Kind: "sm_pull", Blocks: 64, Value: 400, Unit: "GBps"},
		{Kind: "sm_pull_add", Blocks: 64, Value: 200, Unit: "GBps"},
		{Kind: "local_copy", Bytes: 1 << 20, Value: 3000, Unit: "GBps"}, {Kind: "local_copy", Bytes: 1 << 28, Value: 2100, Unit: "GBps"},
		{Kind: "flag_oneway_relaxed", Value: 690, Unit: "ns"},
	}
	for pattern, peers := range map[string]float64{"pair": 1, "ring": 1, "all": 3} {
		for bytes := 1 << 10; bytes <= 1<<26; bytes *= 2 {
			us := alpha + peers*float64(bytes)/450e3/share
			for blocks, worse := range map[int]float64{1: 2, 8: 1, 64: 1.5} {
				l := measurement.Link{Kind: "simple_" + pattern, Blocks: blocks, Bytes: units.Bytes(bytes), Value: (1.5 + us) * worse, Unit: "us"}
				rows = append(rows, l)
				l.Kind, l.Value = l.Kind+"_x4", (1.5+4*us)*worse
				rows = append(rows, l)
			}
		}
	}
	return rows
}

// TestFromLinks: α, share, launch and local rates come back.
func TestFromLinks(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := FromLinks("mine", "a test", "2026-11-21", links(2.25, 0.8), topo)
	if err != nil {
		t.Fatal(err)
	}
	p := r.Profile
	x := p.Transfer(topology.NVLink, "simple", 1<<20)
	if math.Abs(x.Alpha.Microseconds()-2.25) > 0.01 || math.Abs(x.Efficiency-0.8) > 0.001 || math.Abs(p.Launch.Microseconds()-1.5) > 0.001 {
		t.Errorf("α %v, share %v, launch %v", x.Alpha, x.Efficiency, p.Launch)
	}
	if p.Reduce != 400e9 || p.Copy != 2100e9 || p.MaxSize != 256*units.MiB {
		t.Errorf("reduce %v, copy %v, up to %v", p.Reduce, p.Copy, p.MaxSize)
	}
}

func TestFromLinksRefuses(t *testing.T) {
	four, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows []measurement.Link
		want string
	}{
		{nil, "no rows of messages"},
		{append(links(1, 1), measurement.Link{Kind: "ll_star", Bytes: 8, Value: 1, Unit: "us"}), `"star" are not known`},
	} {
		if _, err := FromLinks("x", "y", "2026-11-21", c.rows, four); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
