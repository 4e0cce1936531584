package topologies_test

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func load(t testing.TB, name string, o topology.Options) *topology.Topology {
	t.Helper()
	topo, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return topo
}

// facts are published figures: what a GPU's scale-up links carry out, and what one
// transfer between two ranks gets, in GB/s.
var facts = []struct {
	name        string
	ranks, nics int
	scaleUp     float64 // GB/s out of a GPU over NVLink or Infinity Fabric
	a, b        int
	pair        float64 // GB/s from rank a to rank b
	kind        topology.RouteKind
}{
	{"pcie3-server", 8, 4, 0, 0, 1, 15.75, topology.PIX},
	{"pcie4-server", 8, 4, 0, 0, 2, 31.5, topology.PHB},
	{"pcie5-server", 8, 4, 0, 0, 7, 63, topology.SYS},
	{"dgx1-p100", 8, 4, 80, 0, 3, 20, topology.Direct},
	{"dgx1-v100", 8, 4, 150, 0, 3, 50, topology.Direct},
	{"dgx1-v100", 8, 4, 150, 0, 1, 25, topology.Direct},
	{"dgx1-v100", 8, 4, 150, 0, 5, 15.75, topology.SYS},
	{"minsky", 4, 2, 80, 0, 1, 40, topology.Direct},
	{"summit-node", 6, 2, 150, 0, 2, 50, topology.Direct},
	{"summit-node", 6, 2, 150, 0, 3, 50, topology.SYS},
	{"dgx2", 16, 8, 150, 0, 1, 150, topology.Switched},
	{"dgx2", 16, 8, 150, 0, 15, 150, topology.Switched},
	{"dgx-a100", 8, 8, 300, 0, 7, 300, topology.Switched},
	{"hgx-a100", 8, 0, 300, 0, 7, 300, topology.Switched},
	{"dgx-h100", 8, 8, 450, 0, 7, 450, topology.Switched},
	{"dgx-h200", 8, 8, 450, 0, 7, 450, topology.Switched},
	{"hgx-h200-4", 4, 0, 450, 0, 3, 450, topology.Switched},
	{"dgx-b200", 8, 8, 900, 0, 7, 900, topology.Switched},
	{"gb200-nvl72", 72, 72, 1350, 0, 71, 900, topology.Switched},
	{"mi250x-node", 16, 8, 350, 0, 1, 200, topology.Direct},
	{"mi300x-node", 8, 8, 448, 0, 5, 64, topology.Direct},
	{"nvlink-network-256", 256, 0, 450, 0, 7, 450, topology.Switched},
	{"superpod-a100", 160, 160, 300, 0, 159, 25, topology.Net},
	{"superpod-h100", 256, 256, 450, 0, 255, 50, topology.Net},
	{"leaf-spine-roce", 128, 128, 450, 0, 127, 50, topology.Net},
	{"host", 64, 0, 0, 0, 3, 16000, topology.Shared},
	{"dgx-b300", 8, 8, 900, 0, 7, 900, topology.Switched},
	{"gb300-nvl72", 72, 72, 1350, 0, 71, 900, topology.Switched},
	{"hgx-h20", 8, 8, 450, 0, 7, 450, topology.Switched},
	{"hgx-h800", 8, 8, 200, 0, 7, 200, topology.Switched},
	{"gh200-quad", 4, 4, 900, 0, 3, 150, topology.Direct},
	{"a100-quad", 4, 2, 300, 0, 3, 100, topology.Direct},
	{"mi325x-node", 8, 8, 448, 0, 5, 64, topology.Direct},
	{"mi355x-node", 8, 8, 537.6, 0, 5, 76.8, topology.Direct},
	{"v100-omnipath", 4, 4, 150, 0, 3, 50, topology.Direct},
	{"rtx2080ti-server", 8, 4, 0, 0, 1, 15.75, topology.HostStaged},
	{"rtx4090-server", 8, 4, 0, 0, 7, 31.5, topology.HostStaged},
	{"rtx5090-server", 8, 4, 0, 0, 1, 63, topology.HostStaged},
	{"rtx2080ti-nvlink", 2, 2, 50, 0, 1, 50, topology.Direct},
	{"rtx3090-nvlink", 8, 4, 56.25, 0, 1, 56.25, topology.Direct},
	{"rtx3090-nvlink", 8, 4, 56.25, 0, 2, 31.5, topology.HostStaged},
	{"a100-pcie-nvlink", 8, 4, 300, 0, 1, 300, topology.Direct},
	{"h100-pcie-nvlink", 8, 4, 300, 0, 2, 63, topology.PHB},
}

func TestPublishedFigures(t *testing.T) {
	for _, f := range facts {
		topo := load(t, f.name, topology.Options{})
		nics, scaleUp := 0, units.Rate(0)
		for _, d := range topo.Devices() {
			if d.Kind == topology.NIC {
				nics++
			}
		}
		for _, l := range topo.Out(topo.Ranks()[f.a]) {
			if m := topo.Class(l).Medium; m == topology.NVLink || m == topology.XGMI || m == topology.C2C {
				scaleUp += topo.Rate(l)
			}
		}
		r, err := topology.NewRouter(topo).Route(f.a, f.b)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if topo.NumRanks() != f.ranks || nics != f.nics || scaleUp.GBps() != f.scaleUp || r.Rate.GBps() != f.pair || r.Kind != f.kind {
			t.Errorf("%s: %d ranks, %d NICs, %v GB/s out, %d→%d %v GB/s by %v; want %d, %d, %v, %v by %v",
				f.name, topo.NumRanks(), nics, scaleUp.GBps(), f.a, f.b, r.Rate.GBps(), r.Kind, f.ranks, f.nics, f.scaleUp, f.pair, f.kind)
		}
	}
}

func TestSwitchCounts(t *testing.T) {
	for _, f := range []struct {
		name              string
		nodes             int
		leaf, spine, core int
	}{
		{"superpod-h100", 32, 8, 4, 0},
		{"superpod-h100", 64, 16, 8, 0},
		{"superpod-h100", 128, 32, 16, 0},
		{"superpod-h100", 256, 64, 64, 32},
		{"superpod-h100", 2048, 512, 512, 256},
		{"superpod-a100", 20, 8, 0, 4},
		{"superpod-a100", 140, 56, 80, 28},
		{"leaf-spine-roce", 16, 4, 2, 0},
		{"gb200-nvl72", 18, 4, 2, 0},
	} {
		topo := load(t, f.name, topology.Options{Nodes: f.nodes})
		n := map[topology.Kind]int{}
		for _, d := range topo.Devices() {
			n[d.Kind]++
		}
		if n[topology.Leaf] != f.leaf || n[topology.Spine] != f.spine || n[topology.Core] != f.core {
			t.Errorf("%s, %d nodes: %d leaves, %d spines, %d core switches; want %d, %d, %d", f.name, f.nodes,
				n[topology.Leaf], n[topology.Spine], n[topology.Core], f.leaf, f.spine, f.core)
		}
	}
}

// TestEveryFileLoads loads all files as they are and, where there is a fabric, larger.
func TestEveryFileLoads(t *testing.T) {
	for _, name := range topologies.Names() {
		if load(t, name, topology.Options{}).NumRanks() > 1 {
			load(t, name, topology.Options{GPUs: 2})
		}
		switch name {
		case "host", "hgx-a100", "hgx-h200-4": // without a network
		default:
			load(t, name, topology.Options{Nodes: 4})
		}
	}
}

// NVLink Network: 36 second-level switches carry 57.6 TB/s both ways, half of what the
// GPUs' 450 GB/s would need: 225 GB/s a GPU.
func TestNVLinkNetworkIsTwoToOne(t *testing.T) {
	topo := load(t, "nvlink-network-256", topology.Options{})
	var up units.Rate
	switches := 0
	for i, d := range topo.Devices() {
		if d.Kind == topology.NVSwitch && d.Node < 0 {
			switches++
			for _, l := range topo.In(topology.DeviceID(i)) {
				up += topo.Rate(l)
			}
		}
	}
	if switches != 36 || up.GBps() != 57600 || up.GBps()/256 != 225 {
		t.Errorf("%d switches take in %v GB/s", switches, up.GBps())
	}
}

func TestUnknownNameSuggests(t *testing.T) {
	_, err := topology.Load(topologies.Source, "dgx-h10", topology.Options{})
	if err == nil || err.Error() != "unknown topology \"dgx-h10\": did you mean dgx-h100, dgx-a100, dgx-h200? (`railyard list "+
		"topologies` shows all; a file needs its .yaml)" {
		t.Errorf("%v", err)
	}
	for gpu, want := range map[string]string{"gb10": "dgx-spark", "MI355X": "mi355x-node", "h20": "hgx-h20", "rtx4090": "rtx4090-server"} {
		if _, err := topology.Load(topologies.Source, gpu, topology.Options{}); err == nil ||
			!strings.Contains(err.Error(), "did you mean "+want) {
			t.Errorf("%s: %v", gpu, err)
		}
	}
}
