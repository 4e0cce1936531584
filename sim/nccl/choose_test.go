package nccl

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// TestCandidates: sorted, complete, and each the sum of latency and bytes over bandwidth.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		name        string
		nodes, gpus int
		want        [5]int // by kinds
	}{
		{"dgx1-p100", 1, 0, [5]int{4, 2, 2, 2, 2}}, // no LL128 before Volta
		{"dgx-a100", 1, 0, [5]int{6, 3, 3, 3, 3}},
		{"dgx-h100", 1, 0, [5]int{7, 4, 4, 3, 3}},
		{"dgx-h100", 4, 0, [5]int{7, 3, 3, 3, 3}}, // NVLSTree; NVLS would need CollNet
		{"dgx-h100", 4, 1, [5]int{6, 4, 4, 3, 3}}, // PAT
		{"gb200-nvl72", 0, 0, [5]int{7, 3, 3, 3, 3}},
	} {
		m := newModel(t, c.name, c.nodes, c.gpus, Options{})
		for i, k := range kinds {
			for size := units.Bytes(1); size <= 16*units.GiB; size *= 4 {
				all, err := m.Candidates(k, size)
				if err != nil {
					t.Fatal(err)
				}
				if len(all) != c.want[i] {
					t.Fatalf("%s ×%d: %d candidates for %v: %+v", c.name, c.nodes, len(all), k, all)
				}
				checkEstimates(t, all, size)
			}
		}
	}
}

func checkEstimates(t *testing.T, all []Estimate, size units.Bytes) {
	t.Helper()
	for i, e := range all {
		if i > 0 && e.Time < all[i-1].Time {
			t.Fatalf("not sorted: %+v", all)
		}
		diff := e.Time - e.Latency - size.Over(e.AlgBW)
		if diff < -e.Time/1e6-2 || diff > e.Time/1e6+2 || e.Channels < 1 || e.Channels > maxChannels {
			t.Fatalf("%d bytes: %+v", size, e)
		}
	}
}

// TestSizeCorrections: trees lose bandwidth at medium sizes, rings across nodes gain
// latency.
func TestSizeCorrections(t *testing.T) {
	m := newModel(t, "dgx-a100", 2, 0, Options{})
	full := bandwidth(t, m, collective.AllReduce, Tree, LL)
	for size, factor := range map[units.Bytes]float64{
		63: 1, 64: 1, 64 << 12: .4, 1<<19 - 1: .4, 1 << 19: .4, 1 << 20: .5, 64 << 22: 1, 64 << 30: 1,
	} {
		bw, err := m.AlgBW(collective.AllReduce, Tree, LL, size)
		if err != nil {
			t.Fatal(err)
		}
		near(t, size.String(), bw.GBps(), full*factor)
	}
	simple := bandwidth(t, m, collective.AllReduce, Tree, Simple)
	bw, _ := m.AlgBW(collective.AllReduce, Tree, Simple, 64<<23)
	near(t, "beyond the table", bw.GBps(), simple)
	lat, err := m.Latency(collective.AllReduce, Ring, Simple)
	if err != nil {
		t.Fatal(err)
	}
	edge := units.Bytes(64 * m.nChannels * m.nRanks)
	for size, factor := range map[units.Bytes]float64{edge - 1: 1, edge: 1.4} {
		all, err := m.Candidates(collective.AllReduce, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Algo == Ring && e.Proto == Simple {
				near(t, size.String(), e.Latency.Microseconds(), lat.Microseconds()*factor)
			}
		}
	}
}

// TestChannels: as many channels as give each thread its share.
func TestChannels(t *testing.T) {
	m := newModel(t, "dgx-h100", 1, 0, Options{})
	for _, c := range []struct {
		a    Algo
		p    Proto
		size units.Bytes
		want int
	}{
		{Ring, LL, 1, 1},
		{Ring, LL, 2*512*64 - 1, 1},
		{Ring, LL, 2 * 512 * 64, 2},
		{Ring, LL, units.GiB, 24},
		{Tree, LL, 3 * 512 * 8, 3},
		{Tree, LL128, 3*640*8 - 1, 2},
		{Ring, Simple, 24*512*64 - 1, 23},
		{Ring, Simple, 24 * 512 * 64, 24},
		{NVLS, Simple, 1, 16},
	} {
		if got := m.channelsAt(c.a, c.p, c.size); got != c.want {
			t.Errorf("%v/%v, %d bytes: %d channels, want %d", c.a, c.p, c.size, got, c.want)
		}
	}
}

// TestParallelTrees: with one GPU a node PAT is bound by its NIC.
func TestParallelTrees(t *testing.T) {
	near(t, "PAT on one NIC of a node",
		bandwidth(t, newModel(t, "dgx-h100", 3, 1, Options{}), collective.AllGather, PAT, Simple), 48*0.75)
}

func BenchmarkNew(b *testing.B) {
	topo := load(b, "dgx-h100", topology.Options{Nodes: 2})
	for b.Loop() {
		if _, err := New(topo, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
