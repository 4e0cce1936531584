package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// TestGPUDirect: below one host bridge and over chip-to-chip links, not over a CPU, unless the level says so.
func TestGPUDirect(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   topology.RouteKind
		c2c    bool
		direct bool
	}{
		{"dgx-h100", topology.PIX, false, true},
		{"gb200-nvl72", topology.PHB, true, true},
		{"a100-quad", topology.PHB, false, false},
		{"summit-node", topology.PHB, false, false}, // NVLink to the CPU is no C2C
		{"rtx4090-server", topology.HostStaged, false, false},
	} {
		x, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 2})
		if err != nil {
			t.Fatal(err)
		}
		p := topology.NewRouter(x).NICs(0)[0]
		if p.Kind != c.kind || p.C2C != c.c2c || p.GPUDirect(topology.GDRLevel) != c.direct {
			t.Errorf("%s: %+v", c.name, p)
		}
		if (x.StagedNICs() == "") != c.direct {
			t.Errorf("%s: %q", c.name, x.StagedNICs())
		}
		if one, err := topology.Load(topologies.Source, c.name, topology.Options{Nodes: 1}); err != nil || one.StagedNICs() != "" {
			t.Errorf("%s, one node: %q, %v", c.name, one.StagedNICs(), err)
		}
	}
	phb := topology.NICPath{Kind: topology.PHB}
	level, ok := topology.ParseGDRLevel("PHB")
	if !ok || !phb.GPUDirect(level) || (topology.NICPath{Kind: topology.SYS}).GPUDirect(level) {
		t.Error("NCCL_NET_GDR_LEVEL=PHB")
	}
	if _, ok := topology.ParseGDRLevel("NVL"); ok || !strings.Contains(strings.Join(topology.GDRLevels, " "), "SYS") {
		t.Error("levels")
	}
}

// TestStagedRoutes: without GPUDirect RDMA a transfer to another node crosses the links up to host memory and down again at either end, and
// waits for it; where the topology or its reader says that adapters reach farther it does not, and a machine whose adapters reach all of its
// GPUs has the same routes whatever is said.
func TestStagedRoutes(t *testing.T) {
	load := func(name string, set ...string) *topology.Topology {
		x, err := topology.Load(topologies.Source, name, topology.Options{Nodes: 2, Set: set})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	route := func(r *topology.Router, x *topology.Topology) topology.Route {
		out, err := r.Route(0, x.NumRanks()-1)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, more := range map[string]int{"rtx4090-server": 8, "a100-quad": 0, "dgx-h100": 0} { // up, in, out and down at either end
		x := load(name)
		staged, direct := route(topology.NewRouter(x), x), route(topology.NewRouter(x).Reaching(topology.HostStaged), x)
		waits := staged.Latency > direct.Latency && staged.Beyond >= direct.Beyond+2650*units.Nanosecond
		if (x.StagedNICs() != "") != waits || len(staged.Hops) != len(direct.Hops)+more {
			t.Errorf("%s: %+v staged, %+v directly", name, staged, direct)
		}
	}
	farther := load("a100-quad", "gdr_level=PHB")
	if got := route(topology.NewRouter(farther), farther); farther.StagedNICs() != "" || got.Beyond != 0 || farther.Hash() == load("a100-quad").Hash() {
		t.Errorf("with gdr_level=PHB: %+v", got)
	}
	lost, err := farther.Degrade(gen.Faults("nic:node0/nic0"))
	if err != nil || lost.GDRLevel() != topology.PHB {
		t.Errorf("what is left of it reaches %v (%v)", lost.GDRLevel(), err)
	}
}

// oneCPU has a GPU and an adapter below a PCIe switch each, and one of both without.
const oneCPU = `schema: railyard.topology/v1
name: x
source: test
date: 2026-11-29
classes: {pcie: {medium: pcie, rate: 32GB/s, latency: 500ns, source: test, date: 2026-11-29}}
templates:
  n:
    devices:
      - {id: "gpu0", kind: gpu}
      - {id: "gpu[1-2]", kind: gpu%[1]s}
      - {id: "plx0", kind: pcie_switch%[1]s}
      - {id: "plx1", kind: pcie_switch%[2]s}
      - {id: cpu0, kind: cpu}
      - {id: nic0, kind: nic}
      - {id: nic1, kind: nic%[2]s}
    links:
      - {from: "gpu0", to: plx0, class: pcie}
      - {from: "nic0", to: plx1, class: pcie}
      - {from: "plx[0-1]", to: cpu0, class: pcie}
      - {from: "gpu[1-2]", to: cpu0, class: pcie}
      - {from: "nic1", to: cpu0, class: pcie}
nodes: [{template: n}]
`

// TestRoots: a host bridge joins what stands at it and parts that from all else; where it is not said of both, switches are taken to be at
// their own. It is a word for people: what NCCL decides by how far an adapter is stays.
func TestRoots(t *testing.T) {
	for said, want := range map[[2]string]string{{}: "true false false false", {", root: a", ", root: a"}: "false false false false",
		{", root: a", ", root: b"}: "true true true true", {", root: a"}: "true false false false"} {
		x, err := topology.Parse("x.yaml", fmt.Appendf(nil, oneCPU, said[0], said[1]), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := topology.NewRouter(x)
		nics := []topology.DeviceID{named(x, "nic0"), named(x, "nic1")}
		var got []bool
		for _, w := range []struct{ gpu, nic int }{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			p, ok := r.PathToNIC(x.Ranks()[w.gpu], nics[w.nic])
			if !ok || p.Kind != topology.PHB || p.GPUDirect(topology.GDRLevel) || !p.GPUDirect(topology.PHB) {
				t.Errorf("%q, %+v: %+v", said, w, p)
			}
			got = append(got, p.Bridged)
		}
		route, err := r.Route(1, 2)
		if err != nil || r.Bridged(route.Hops) {
			t.Errorf("%q: GPUs of one root are apart: %+v, %v", said, route, err)
		}
		if text := strings.Trim(fmt.Sprint(got), "[]"); text != want {
			t.Errorf("%q: %s, want %s", said, text, want)
		}
	}
}

func named(x *topology.Topology, name string) topology.DeviceID {
	for d := range x.Devices() {
		if x.DeviceName(topology.DeviceID(d)) == name {
			return topology.DeviceID(d)
		}
	}
	panic(name)
}
