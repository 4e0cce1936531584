package blocks

import (
	"math"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// costs tell messages from flags: α 1 µs (stored: 2, pulled: 3, of which flags are 1.5), a further peer
// 0.01. Words that are taken at the end go at half the rate of all else.
func costs() *cost.Profile {
	p := &cost.Profile{Name: "test", Launch: units.Microsecond}
	for name, alpha := range map[string]float64{"ll": 1, "ll128": 1, "words": 1, "simple": 2, "pull": 3, cost.Flag: 1,
		cost.RelaxedFlag: 0.5} {
		share := 0.5
		if name == "words" {
			share = 0.25
		}
		p.Curves = append(p.Curves, cost.Curve{Medium: "nvlink", Protocol: name, Peer: units.FromMicroseconds(0.01),
			Segments: []cost.Segment{{Alpha: units.FromMicroseconds(alpha), Efficiency: share}}})
	}
	return p
}

func work(t *testing.T, kind collective.Kind, algo string, m block.Mechanism, size, window units.Bytes) Work {
	t.Helper()
	return workUnder(t, costs(), kind, algo, m, size, window)
}

func workUnder(t *testing.T, p *cost.Profile, kind collective.Kind, algo string, m block.Mechanism, size, window units.Bytes) Work {
	t.Helper()
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: kind, Ranks: 4}, algo, planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	program, err := block.Compile(s, block.Options{Count: int64(size) / 4, Size: 4, Instances: 1, Mechanism: m})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Of(topo, s, program, size, Shape{Window: window}, p)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestLatency: what messages cost that have hardly any bytes, by hand from the operations
// that block programs have for them (docs/execution.md).
func TestLatency(t *testing.T) {
	for _, c := range []struct {
		kind collective.Kind
		algo string
		m    block.Mechanism
		want float64 // µs
	}{
		{collective.AllReduce, "direct", block.Packets, 1 + 1.02},                        // one source to all, all looked at at once
		{collective.Broadcast, "direct", block.Lines, 1 + 1},                             // each hears from one
		{collective.AllGather, "direct", block.Packets, 1 + 1.02},                        // likewise
		{collective.ReduceScatter, "direct", block.Packets, 1 + 1.02},                    // three sources to three peers side by side
		{collective.AllToAll, "direct", block.Packets, 1 + 1.02},                         // likewise
		{collective.AllGather, "simple_ring", block.Packets, 1 + 3*1},                    // three hops
		{collective.AllReduce, "two_shot", block.Push, 1 + 0.5 + 1.52 + 1.02},            // begun, read, stored as it comes
		{collective.AllGather, "direct", block.Push, 1 + 0.5 + 2.02},                     // may write, stored
		{collective.ReduceScatter, "direct", block.Pull, 1 + 0.5 + 1.52 + 1},             // begun, read, has read
		{collective.Broadcast, "scatter_exchange", block.Push, 1 + 0.5 + 1.5 + 1.01 + 1}, // begun, read, stored as it comes, has read
		{collective.AllReduce, "two_shot", block.Packets, 1 + 1.02 + 1.02},               // both together
		{collective.AllReduce, "two_shot", block.WordsPush, 1 + 1.02 + 1.02},             // words, then stored as they come
		{collective.AllReduce, "doubling", block.Packets, 1 + 2*1},                       // two exchanges
		{collective.AllReduce, "two_shot", block.Pull, 1 + 0.5 + 1.52 + 1 + 3*1.5 + 1},   // three results one after the other
	} {
		if got := work(t, c.kind, c.algo, c.m, 64, 0).Time(costs()).Microseconds(); math.Abs(got-c.want) > 0.004 {
			t.Errorf("%v %s %v: %.3f µs, want %.3f", c.kind, c.algo, c.m, got, c.want)
		}
	}
}

// TestBytes: the fullest link's bytes at half of 450 GB/s. A broadcast whose pieces are read
// and passed on moves as much as the root sends, but for a window; all else both phases.
func TestBytes(t *testing.T) {
	const size = 768 * units.MiB
	line := float64(size) / 450e9 * 2 * 1e6
	for _, c := range []struct {
		kind   collective.Kind
		algo   string
		m      block.Mechanism
		window units.Bytes
		want   float64 // of line
	}{
		{collective.AllReduce, "two_shot", block.Push, 0, 1.5},
		{collective.AllReduce, "direct", block.Words, 0, 6},
		{collective.AllReduce, "two_shot", block.WordsPush, 0, 1.5},      // words that are passed on, then stored
		{collective.AllReduce, "two_shot", block.Words, 0, 0.75 + 1.5},   // the second half is taken at the end
		{collective.AllReduce, "simple_ring", block.Words, 0, 1.25 + .5}, // five quarters are passed on, one is taken
		{collective.AllGather, "direct", block.Push, 0, 0.75},
		{collective.Broadcast, "scatter_exchange", block.Push, 0, 1},
		{collective.Broadcast, "scatter_exchange", block.Push, 64 * units.MiB, 1 + 2./3/4},
		{collective.Broadcast, "scatter_exchange", block.Push, units.GiB, 1 + 2./3},
		{collective.Broadcast, "scatter_exchange", block.Packets, 0, 1 + 2./3},
	} {
		w := work(t, c.kind, c.algo, c.m, size, c.window)
		if got := (w.Time(costs()) - work(t, c.kind, c.algo, c.m, 64, 0).Time(costs())).Microseconds(); math.Abs(got/line-c.want) > 0.001 {
			t.Errorf("%v %s %v: %.4f of the bytes of the size, want %.4f", c.kind, c.algo, c.m, got/line, c.want)
		}
	}
}

// TestLoadsHide: of loads that follow one another, most of what the later ones wait for hides behind bytes that other blocks load, but no
// more than there are of these.
func TestLoadsHide(t *testing.T) {
	quick := work(t, collective.AllReduce, "two_shot", block.Pull, 64, 0).Time(costs()).Microseconds()
	hidden := func(size units.Bytes) float64 {
		line := 1.5 * float64(size) / 450e9 * 2 * 1e6
		return quick + line - work(t, collective.AllReduce, "two_shot", block.Pull, size, 0).Time(costs()).Microseconds()
	}
	// One flag and the first result, two more results.
	if got, want := hidden(768*units.MiB), pipelined*(2.5+1.5+1.5); math.Abs(got-want) > 0.01 {
		t.Errorf("%.3f µs of waiting are hidden, want %.3f", got, want)
	}
	each := 64e3 / 4 / 450e9 * 2 * 1e6
	if got, want := hidden(64000), pipelined*3*each; math.Abs(got-want) > 0.001 {
		t.Errorf("%.4f µs of waiting are hidden behind loads of %.4f each", got, each)
	}
	if got := work(t, collective.ReduceScatter, "direct", block.Pull, 768*units.MiB, 0); got[len(got)-1].Local != 0 {
		t.Errorf("one load hides %v", got[len(got)-1].Local)
	}
}

// TestFlagsOfLargeLoads: what large messages cost more than small ones but for their bytes is their blocks' flags, however many loads
// there are between two.
func TestFlagsOfLargeLoads(t *testing.T) {
	large := costs()
	for i := range large.Curves {
		if c := &large.Curves[i]; c.Protocol == "pull" {
			more := c.Segments[0]
			more.From, more.Alpha = 64*units.KiB, more.Alpha+units.Microsecond
			c.Segments = append(c.Segments, more)
		}
	}
	for algo, c := range map[string]struct {
		kind  collective.Kind
		flags float64
	}{"direct": {collective.ReduceScatter, 1}, "two_shot": {collective.AllReduce, 2}} {
		more := workUnder(t, large, c.kind, algo, block.Pull, units.MiB, 0).Time(large) -
			workUnder(t, costs(), c.kind, algo, block.Pull, units.MiB, 0).Time(costs())
		if got := more.Microseconds(); math.Abs(got-c.flags) > 0.3 { // a longer wait hides more
			t.Errorf("%s: %.3f µs more, want %v", algo, got, c.flags)
		}
	}
}

// TestTakenBesides: words that go nowhere cost as much as what is stored where there are enough of
// them for some threads to put while the others take, here five rounds of 16 bytes from three peers.
func TestTakenBesides(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.ReduceScatter, Ranks: 4}, "direct", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	const size, threads = 768 * units.MiB, 3 * 192 << 20 / 80
	p, err := block.Compile(s, block.Options{Count: int64(size) / 4, Size: 4, Instances: 1, Mechanism: block.Words})
	if err != nil {
		t.Fatal(err)
	}
	line := float64(size) / 450e9 * 2 * 1e6
	for shape, want := range map[Shape]float64{{}: 1.5, {Threads: threads}: 0.75, {Threads: threads + 1}: 1.5} {
		w, err := Of(topo, s, p, size, shape, costs())
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Time(costs()).Microseconds() / line; math.Abs(got-want) > 0.01 {
			t.Errorf("%d threads: %.3f of the bytes of the size, want %.3f", shape.Threads, got, want)
		}
	}
}

// TestRequests: what asks for bytes takes an eighth of them on the way there, where others
// come from; a root that is read alone is not asked itself.
func TestRequests(t *testing.T) {
	const size = 768 * units.MiB
	line := float64(size) / 450e9 * 2 * 1e6
	asked := costs()
	asked.Curves = append(asked.Curves, cost.Curve{Medium: "nvlink", Protocol: cost.Request, Segments: []cost.Segment{{Efficiency: 0.25}}})
	for _, c := range []struct {
		kind collective.Kind
		algo string
		m    block.Mechanism
		want float64
	}{
		{collective.ReduceScatter, "direct", block.Pull, 0.75 + 0.75*2/8},
		{collective.Broadcast, "direct", block.Pull, 3},
		{collective.AllReduce, "two_shot", block.Push, 1.5 + 0.75*2/8}, // read, then stored
		{collective.Broadcast, "scatter_exchange", block.Push, 1},
	} {
		got := (workUnder(t, asked, c.kind, c.algo, c.m, size, 0).Time(asked) - workUnder(t, asked, c.kind, c.algo, c.m, 64,
			0).Time(asked)).Microseconds()
		if math.Abs(got/line-c.want) > 0.001 {
			t.Errorf("%v %s %v: %.4f of the bytes of the size, want %.4f", c.kind, c.algo, c.m, got/line, c.want)
		}
	}
}

// TestOneWay: from a root that hears of nobody to ranks that hear of it alone and send nothing, messages
// are of protocols of their own; others are what they were.
func TestOneWay(t *testing.T) {
	const size = 768 * units.MiB
	line := float64(size) / 450e9 * 1e6
	p := costs()
	for name, alpha := range map[string]float64{"ll": 0.7, "ll128": 0.8, "simple": 1.6, "pull": 2.5} {
		p.Curves = append(p.Curves, cost.Curve{Medium: "nvlink", Protocol: cost.OneWay(name), Peer: units.FromMicroseconds(0.1),
			Segments: []cost.Segment{{Alpha: units.FromMicroseconds(alpha), Efficiency: 0.8}}})
	}
	for _, c := range []struct {
		kind         collective.Kind
		algo         string
		m            block.Mechanism
		alpha, bytes float64 // µs; of a size at line rate
	}{
		{collective.Broadcast, "direct", block.Packets, 1 + 0.7 + 0.2, 3 / 0.8},
		{collective.Broadcast, "direct", block.Lines, 1 + 0.8 + 0.2, 3 / 0.8},
		{collective.Broadcast, "direct", block.Push, 1 + 0.5 + 1.6 + 0.2, 3 / 0.8},
		{collective.Broadcast, "direct", block.Pull, 1 + 2.5 + 0.2, 3 / 0.8},
		{collective.Scatter, "direct", block.Packets, 1 + 0.7 + 0.2, 0.75 / 0.8},
		{collective.Broadcast, "simple_ring", block.Packets, 1 + 3, 3 * 2}, // each phase waits for the one before
		{collective.Gather, "direct", block.Packets, 1 + 1.02, 0.75 * 2},   // one hears of several
		{collective.AllGather, "direct", block.Packets, 1 + 1.02, 0.75 * 2},
	} {
		alone := workUnder(t, p, c.kind, c.algo, c.m, 64, 0).Time(p)
		if got := alone.Microseconds(); math.Abs(got-c.alpha) > 0.004 {
			t.Errorf("%v %s %v: %.3f µs, want %.3f", c.kind, c.algo, c.m, got, c.alpha)
		}
		if got := (workUnder(t, p, c.kind, c.algo, c.m, size, 0).Time(p) - alone).Microseconds(); math.Abs(got/line-c.bytes) > 0.001 {
			t.Errorf("%v %s %v: %.4f of the bytes of the size, want %.4f", c.kind, c.algo, c.m, got/line, c.bytes)
		}
	}
}

// TestLocalOperations: copies in a rank's own memory take their time where messages wait for them or come before them (Bruck's
// algorithm moves blocks to their places at the end), and hide where they do not.
func TestLocalOperations(t *testing.T) {
	p := costs()
	p.LocalOp = units.FromMicroseconds(0.1)
	for algo, copies := range map[string]float64{"direct": 0, "bruck": 1} {
		free := work(t, collective.AllGather, algo, block.Packets, 1<<10, 0)
		longer := (workUnder(t, p, collective.AllGather, algo, block.Packets, 1<<10, 0).Time(p) - free.Time(costs())).Microseconds() / 0.1
		if copies == 0 && longer != 0 || longer < copies || math.Abs(longer-math.Round(longer)) > 1e-6 {
			t.Errorf("%s: %v copies, want %v or more", algo, longer, copies)
		}
	}
}

// TestWayHides: words that are passed on are on the way for 0.5 µs behind the bytes that are put besides,
// three messages at half of 450 GB/s: as long as these take longer than the way itself.
func TestWayHides(t *testing.T) {
	for _, c := range []struct{ bytes, hidden float64 }{ // µs that a rank's words take
		{0.3, 0}, {0.5, 0}, {0.75, 0.25}, {1, 0.5}, {4, 0.5},
	} {
		size := units.Bytes(c.bytes*225e3/3/4) * 16
		bytes := float64(size) / 4 * 3 / 225e3
		for m, want := range map[block.Mechanism]float64{block.WordsPush: 2 * bytes, block.Words: 3 * bytes} {
			want += 1 + 1.02 + 1.02 - c.hidden
			if got := work(t, collective.AllReduce, "two_shot", m, size, 0).Time(costs()).Microseconds(); math.Abs(got-want) > 0.002 {
				t.Errorf("%v, %v: %.3f µs, want %.3f", m, size, got, want)
			}
		}
	}
}

// TestProgramsThatHang: a wait that nobody ends is an error, not an endless loop.
func TestProgramsThatHang(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 4}, "direct", planner.Options{Slices: 1})
	if err != nil {
		t.Fatal(err)
	}
	p := &block.Program{Ranks: 4, Instances: 1, Lanes: make([][]block.Lane, 4)}
	p.Lanes[1] = []block.Lane{{Body: []block.Op{{Kind: block.Wait, Peers: 1}}, Slices: 1}}
	if _, err := Of(topo, s, p, units.KiB, Shape{}, costs()); err == nil {
		t.Error("no error")
	}
}
