package nccl

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func load(t testing.TB, name string, o topology.Options) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return topo
}

func newModel(t testing.TB, name string, nodes, gpus int, o Options) *Model {
	t.Helper()
	m, err := New(load(t, name, topology.Options{Nodes: nodes, GPUs: gpus}), o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPrintedTable holds the model against what NCCL printed on a real machine.
func TestPrintedTable(t *testing.T) {
	f, err := os.Open("testdata/h200-model.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	models := map[string]*Model{}
	for _, r := range rows[1:] {
		m := models[r[1]]
		if m == nil {
			gpus, _ := strconv.Atoi(r[1])
			m = newModel(t, "hgx-h200-4", 0, gpus, Options{NVLS: Off})
			models[r[1]] = m
		}
		checkRow(t, m, r)
	}
	if len(rows) != 37 {
		t.Errorf("%d rows", len(rows))
	}
}

func checkRow(t *testing.T, m *Model, r []string) {
	t.Helper()
	k, err := collective.Parse(r[0])
	if err != nil {
		t.Fatal(err)
	}
	a, p := find(algoNames[:], r[2]), find(protoNames[:], r[3])
	lat, err := m.Latency(k, Algo(a), Proto(p))
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	bw, err := m.AlgBW(k, Algo(a), Proto(p), 0)
	if err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	if got := strconv.FormatFloat(lat.Microseconds(), 'f', 1, 64); got != r[4] {
		t.Errorf("%v: latency %s µs", r, got)
	}
	if got := strconv.FormatFloat(bw.GBps(), 'f', 1, 64); got != r[5] {
		t.Errorf("%v: bandwidth %s GB/s", r, got)
	}
}

func find(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// TestRings compares the search with the rings that NCCL finds on shipped machines.
func TestRings(t *testing.T) {
	for _, c := range []struct {
		topology string
		channels int
		bw       float64
	}{
		{"dgx-a100", 12, 20},
		{"dgx-h100", 12, 30},
		{"dgx-h200", 12, 30},
		{"dgx-b200", 16, 45},
		{"dgx2", 6, 20},
		{"dgx1-p100", 4, 18},
	} {
		g := newModel(t, c.topology, 1, 0, Options{}).Ring()
		if g.Channels != c.channels || g.BWIntra != c.bw {
			t.Errorf("%s: %d channels of %g GB/s, want %d of %g", c.topology, g.Channels, g.BWIntra, c.channels, c.bw)
		}
	}
	if g := newModel(t, "dgx1-v100", 1, 0, Options{}).Ring(); g.Bandwidth() != 120 {
		t.Errorf("dgx1-v100: %+v, want 120 GB/s", g)
	}
}

func TestDump(t *testing.T) {
	for _, c := range []struct {
		n    string
		k, g int
	}{{"dgx1-p100", 1, 0}, {"dgx1-v100", 1, 0}, {"dgx2", 1, 0}, {"dgx-a100", 1, 0}, {"dgx-h100", 1, 0}, {"dgx-b200", 1, 0}, {"gb200-nvl72", 0, 0}, {"nvlink-network-256", 0, 0}, {"hgx-h200-4", 1, 4}, {"hgx-h200-4", 1, 2}, {"hgx-h200-4", 1, 3},
		{"dgx-a100", 2, 0}, {"dgx-a100", 4, 0}, {"dgx-h100", 2, 0}, {"dgx-h100", 4, 0}, {"dgx-h100", 4, 1}, {"dgx-b200", 2, 0}, {"dgx1-v100", 2, 0}, {"dgx1-p100", 2, 0}, {"dgx2", 2, 0}, {"minsky", 0, 0}, {"summit-node", 2, 0}, {"superpod-h100", 0, 0}, {"superpod-a100", 0, 0}} {
		m := newModel(t, c.n, c.k, c.g, Options{})
		show := func(g Graph) Graph { g.Order = g.Order[:min(2, len(g.Order))]; return g }
		t.Logf("%s %d %d: cc %d cpu %v nodes %d ch %d\n ring %+v\n tree %v %+v\n nvls %+v", c.n, c.k, c.g, m.ComputeCapability(), m.CPU(), m.Nodes(), m.nChannels, show(m.Ring()), m.tree.pattern, show(m.Tree()), show(m.NVLS()))
		for _, s := range []units.Bytes{1024, units.MiB, 64 * units.MiB, units.GiB} {
			e, err := m.Choose(collective.AllReduce, s)
			t.Logf("   %d %v/%v ch %d %.1f us busbw %.1f %v", s, e.Algo, e.Proto, e.Channels, e.Time.Microseconds(), collective.AllReduce.BusFactor(m.nRanks)*s.Per(e.Time).GBps(), err)
		}
	}
	_ = math.Pi
}
