package fit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/model/cost"
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
		{Kind: "local_copy", Bytes: 1 << 20, Value: 500, Unit: "GBps"}, {Kind: "local_copy", Bytes: 1 << 28, Value: 2100, Unit: "GBps"},
		{Kind: "local_add", Bytes: 1 << 20, Value: 900, Unit: "GBps"}, {Kind: "local_add", Bytes: 1 << 28, Value: 1300, Unit: "GBps"},
		{Kind: "flag_oneway_relaxed", Value: 690, Unit: "ns"},
	}
	for pattern, peers := range map[string]float64{"pair": 1, "ring": 1, "all": 3} {
		for bytes := 1 << 10; bytes <= 1<<26; bytes *= 2 {
			us := alpha + peers*float64(bytes)/450e3/share
			for _, x := range []struct {
				blocks int
				worse  float64
			}{{1, 2}, {8, 1}, {64, 1.5}} {
				blocks, worse := x.blocks, x.worse
				l := measurement.Link{Kind: "simple_" + pattern, Blocks: blocks, Bytes: units.Bytes(bytes), Value: (1.5 + us) * worse,
					Unit: "us"}
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
	if p.Reduce != 400e9 || p.Copy != 2100e9 || p.Sum != 1300e9 || p.MaxSize != 256*units.MiB {
		t.Errorf("reduce %v, copy %v, sum %v, up to %v", p.Reduce, p.Copy, p.Sum, p.MaxSize)
	}
	if want := float64(1<<20)/500e3 - p.Launch.Microseconds(); math.Abs(p.LocalOp.Microseconds()-want) > 0.001 {
		t.Errorf("an operation in local memory takes %v, want %.3f µs", p.LocalOp, want)
	}
}

// TestFromLinksTellsPeersApart: each further peer costs more.
func TestFromLinksTellsPeersApart(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []measurement.Link{{Kind: "flag_oneway_relaxed", Value: 690, Unit: "ns"}, {Kind: "flag_oneway_acqrel", Value: 1250, Unit: "ns"}}
	for _, c := range []struct {
		pattern string
		peers   float64
	}{{"pair", 1}, {"spread", 3}, {"sum", 3}, {"dealsum", 3}} {
		for bytes := 64; bytes <= 1<<22; bytes *= 2 {
			alpha := 0.9 + 0.05*math.Log2(float64(bytes)/64)
			us := 1 + alpha + c.peers*float64(bytes)/450e3/0.4 + 0.03*(c.peers-1)
			rows = append(rows, measurement.Link{Kind: "ll_" + c.pattern + "_overlap", Blocks: 8, Bytes: units.Bytes(bytes), Value: us,
				Unit: "us"})
			if c.pattern == "pair" {
				rows = append(rows, measurement.Link{Kind: "ll_pair_x4_overlap", Blocks: 8, Bytes: units.Bytes(bytes), Value: 4*us - 3,
					Unit: "us"})
			}
		}
	}
	r, err := FromLinks("mine", "a test", "2026-11-22", rows, topo)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []units.Bytes{64, 3000, 100_000, 1 << 22} {
		x := r.Profile.Transfer(topology.NVLink, "ll", bytes)
		alpha := 0.9 + 0.05*math.Log2(float64(bytes)/64)
		if math.Abs(x.Alpha.Microseconds()-alpha) > 0.08 || math.Abs(x.Peer.Microseconds()-0.03) > 0.01 ||
			math.Abs(x.Efficiency-0.4) > 0.02 {
			t.Errorf("%v: %+v, want α %.3f µs", bytes, x, alpha)
		}
	}
	for name, want := range map[string]float64{cost.Flag: 1.25, cost.RelaxedFlag: 0.69} {
		if x := r.Profile.Transfer(topology.NVLink, name, 0); math.Abs(x.Alpha.Microseconds()-want) > 0.001 {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// TestFromLinksTellsRequestsApart: loads both ways are slowed by what asks for them, those one
// way are not.
func TestFromLinksTellsRequestsApart(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []measurement.Link{
		{Kind: "sm_pull", Blocks: 1, Bytes: 1 << 28, Value: 30, Unit: "GBps"}, {Kind: "sm_pull", Blocks: 64, Bytes: 1 << 28,
			Value: 0.8 * 450, Unit: "GBps"}}
	for pattern, peers := range map[string]float64{"pair": 1, "sum": 3} {
		for bytes := 1 << 10; bytes <= 1<<26; bytes *= 2 {
			us := peers * float64(bytes) / 450e3 * (1/0.8 + 0.125/0.5)
			rows = append(rows, measurement.Link{Kind: "pull_" + pattern + "_overlap", Blocks: 8, Bytes: units.Bytes(bytes), Value: 1 + 4 +
				us, Unit: "us"})
			if pattern == "pair" {
				rows = append(rows, measurement.Link{Kind: "pull_pair_x4_overlap", Blocks: 8, Bytes: units.Bytes(bytes),
					Value: 1 + 4*(4+us), Unit: "us"})
			}
		}
	}
	r, err := FromLinks("mine", "a test", "2026-11-22", rows, topo)
	if err != nil {
		t.Fatal(err)
	}
	pull, request := r.Profile.Transfer(topology.NVLink, "pull", 64*units.MiB), r.Profile.Transfer(topology.NVLink, cost.Request, 0)
	if math.Abs(pull.Efficiency-0.8) > 0.005 || math.Abs(request.Efficiency-0.5) > 0.01 || math.Abs(pull.Alpha.Microseconds()-4) > 0.05 {
		t.Errorf("pull %+v, request %+v", pull, request)
	}
}

// TestFromLinksTellsMessagesOneWay: from one root to one, two and three, beside messages both ways
// that cost more; of stored ones, a flag that lets the root begin is apart.
func TestFromLinksTellsMessagesOneWay(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []measurement.Link{{Kind: "flag_oneway_relaxed", Value: 690, Unit: "ns"}, {Kind: "flag_oneway_acqrel", Value: 1250, Unit: "ns"}}
	type of struct{ alpha, peer, share, flag float64 }
	casts := map[string]of{"ll": {0.8, 0.05, 0.45, 0}, "simple": {1.5, 0.1, 0.82, 0.69}, "pull": {2.5, 0, 0.83, 0}}
	for bytes := units.Bytes(1 << 10); bytes <= 1<<24; bytes *= 2 {
		line := float64(bytes) / 450e3
		for _, protocol := range []string{"ll", "simple", "pull"} {
			row := func(kind string, us float64) {
				rows = append(rows, measurement.Link{Kind: protocol + "_" + kind + "_overlap", Blocks: 8, Bytes: bytes, Value: us,
					Unit: "us"})
			}
			row("pair", 1+4+line/0.4)
			row("pair_x4", 1+4*(4+line/0.4))
			c := casts[protocol]
			for n := 1.; n <= 3; n++ {
				row("cast"+string('0'+rune(n)), 1+c.flag+c.alpha+c.peer*(n-1)+n*line/c.share)
			}
		}
	}
	r, err := FromLinks("mine", "a test", "2026-11-22", rows, topo)
	if err != nil {
		t.Fatal(err)
	}
	for protocol, c := range casts {
		for _, bytes := range []units.Bytes{1 << 10, 1 << 20, 1 << 24} {
			x := r.Profile.Transfer(topology.NVLink, cost.OneWay(protocol), bytes)
			if math.Abs(x.Alpha.Microseconds()-c.alpha) > 0.05 || math.Abs(x.Peer.Microseconds()-c.peer) > 0.02 ||
				math.Abs(x.Efficiency-c.share) > 0.01 {
				t.Errorf("%s one way, %v: %+v, want %+v", protocol, bytes, x, c)
			}
		}
	}
	if both := r.Profile.Transfer(topology.NVLink, "ll", 1<<10); math.Abs(both.Alpha.Microseconds()-4) > 0.05 {
		t.Errorf("both ways: %+v", both)
	}
	three, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromLinks("mine", "a test", "2026-11-22", rows, three); err == nil {
		t.Error("rows of four ranks are taken for three")
	}
}

// TestMessagesBelieve: what cases do not tell stays what it was believed to be.
func TestMessagesBelieve(t *testing.T) {
	believed := &cost.Profile{Launch: units.Microsecond, Curves: []cost.Curve{
		{Medium: "nvlink", Protocol: "simple", Segments: []cost.Segment{{Alpha: 2 * units.Microsecond, Efficiency: 0.8}}},
		{Medium: "nvlink", Protocol: cost.Flag, Segments: []cost.Segment{{Alpha: units.FromMicroseconds(1.25)}}}}}
	var cases []Case
	for bytes := units.Bytes(1 << 20); bytes <= 1<<26; bytes *= 2 { // a flag and a message always come together
		us := 1 + 3.25 + float64(bytes)/450e3/0.7
		cases = append(cases, Case{Launched: true, Size: bytes, Time: units.FromMicroseconds(us), Parts: []Part{
			{Medium: topology.NVLink, Protocol: "simple", Bytes: bytes, Messages: 1, Line: units.FromMicroseconds(float64(bytes) / 450e3)},
			{Medium: topology.NVLink, Protocol: cost.Flag, Messages: 1}}})
	}
	cases = append(cases, cases...)
	r, err := Messages("x", "a test", "2026-11-22", cases, believed)
	if err != nil {
		t.Fatal(err)
	}
	x, flag := r.Profile.Transfer(topology.NVLink, "simple", units.MiB), r.Profile.Transfer(topology.NVLink, cost.Flag, 0)
	if math.Abs(x.Efficiency-0.7) > 0.02 || math.Abs(x.Alpha.Microseconds()-2) > 0.2 || math.Abs(flag.Alpha.Microseconds()-1.25) > 0.2 ||
		math.Abs(r.Profile.Launch.Microseconds()-1) > 0.2 {
		t.Errorf("simple %+v, flag %+v, launch %v", x, flag, r.Profile.Launch)
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

// TestMessagesIntervals: with noise of one part in a hundred the true α lie within twice
// their intervals, which are small, and twice the noise doubles them.
func TestMessagesIntervals(t *testing.T) {
	width := [2]float64{}
	for k, noise := range []float64{0.01, 0.02} {
		rng := rand.New(rand.NewPCG(7, 1))
		rows := links(2.25, 0.8)
		for i := range rows {
			if rows[i].Unit == "us" {
				rows[i].Value *= 1 + noise*(2*rng.Float64()-1)
			}
		}
		topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := FromLinks("mine", "a test", "2026-11-21", rows, topo)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Profile.Curves[0].Segments {
			alpha, ci := s.Alpha.Microseconds(), s.AlphaCI.Microseconds()
			if s.From <= units.MiB && (math.Abs(alpha-2.25) > 2*ci || ci < 0.005 || ci > 0.5) {
				t.Errorf("noise %v, from %v: α %.3f ± %.3f µs", noise, s.From, alpha, ci)
			}
			width[k] += ci
		}
	}
	if r := width[1] / width[0]; r < 1.8 || r > 2.2 {
		t.Errorf("twice the noise makes intervals %.2f times as wide", r)
	}
}
