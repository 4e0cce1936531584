package topology

import "testing"

const h100 = `
schema: railyard.topology/v1
name: h100
source: test
date: 2026-11-21
classes:
  nvlink4: {medium: nvlink, rate: 25GB/s, latency: 340ns, source: t, date: 2026-11-21}
  pcie5: {medium: pcie, rate: 63GB/s, latency: 300ns, source: t, date: 2026-11-21}
  upi: {medium: socket, rate: 60GB/s, latency: 300ns, source: t, date: 2026-11-21}
  ndr: {medium: network, rate: 400Gb/s, latency: 500ns, source: t, date: 2026-11-21}
models:
  qm: {kind: leaf, ports: 64, source: t, date: 2026-11-21}
  qs: {kind: spine, ports: 64, source: t, date: 2026-11-21}
  qc: {kind: core, ports: 64, source: t, date: 2026-11-21}
templates:
  box:
    devices:
      - {id: "gpu[0-7]", kind: gpu}
      - {id: "nvswitch[0-3]", kind: nvswitch}
      - {id: "plx[0-3]", kind: pcie_switch}
      - {id: "cpu[0-1]", kind: cpu}
      - {id: "nic[0-7]", kind: nic, serves: "gpu[0-7]"}
    links:
      - {from: "gpu[0-7]", to: "nvswitch[0,3]", class: nvlink4, count: 5, how: all}
      - {from: "gpu[0-7]", to: "nvswitch[1-2]", class: nvlink4, count: 4, how: all}
      - {from: "gpu[0-7]", to: "plx[0-3]", class: pcie5, how: block}
      - {from: "nic[0-7]", to: "plx[0-3]", class: pcie5, how: block}
      - {from: "plx[0-3]", to: "cpu[0-1]", class: pcie5, how: block}
      - {from: cpu0, to: cpu1, class: upi}
nodes:
  - {template: box, count: 1}
fabrics:
  - name: ib
    endpoints: nic
    rails: 8
    class: ndr
    levels:
      - {kind: leaf, model: qm, group: 32}
      - {kind: spine, model: qs, group: 4}
      - {kind: core, model: qc}
`

func TestSmoke(t *testing.T) {
	for _, n := range []int{1, 2, 32, 64, 128, 2048} {
		topo, err := Parse("h100", []byte(h100), nil, Options{Nodes: n})
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[Kind]int{}
		for _, d := range topo.devices {
			kinds[d.Kind]++
		}
		g, ok := topo.Grid()
		t.Log(n, kinds, len(topo.links), g, ok, len(topo.Tiers()))
		r := NewRouter(topo)
		for _, p := range r.Paths(topo.ranks[0], topo.ranks[len(topo.ranks)-1]) {
			t.Log(p.Kind, p.Rate, p.Latency, p.Links, len(p.Hops), p.Medium)
		}
	}
}
func BenchmarkLoad(b *testing.B) {
	for range b.N {
		if _, err := Parse("h100", []byte(h100), nil, Options{Nodes: 16384}); err != nil {
			b.Fatal(err)
		}
	}
}
