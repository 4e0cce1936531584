package gen

import (
	"fmt"
	"strings"
)

// servers are hosts on a network: GPUs behind one or two PCIe switches, joined by bridges, links, switches or nothing else, and adapters on
// these switches, which need not be as many as GPUs, on one network, on rails or on planes.
func (g *graph) servers(n int) {
	of := []int{1, 2, 4, 5, 8}[g.rng.IntN(5)]
	hosts := max(2, min(n, 48)/of)
	switches := 1 + g.rng.IntN(min(of, 2))
	adapters := []int{1, switches, of, min(of, 3)}[g.rng.IntN(4)]
	var b strings.Builder
	fmt.Fprintf(&b, `templates:
  host:
    devices:
      - {id: "gpu[0-%d]", kind: gpu}
      - {id: cpu, kind: cpu}
      - {id: "plx[0-%d]", kind: pcie_switch}
      - {id: "nic[0-%d]", kind: nic}
`, of-1, switches-1, adapters-1)
	inside := &graph{rng: g.rng, devices: &strings.Builder{}, links: &strings.Builder{}}
	inside.devices.WriteByte('\n') // the GPUs are there
	for s := range switches {
		inside.join(fmt.Sprintf("plx%d", s), "cpu", 32)
	}
	for v := range of {
		inside.join(gpu(v), fmt.Sprintf("plx%d", v*switches/of), 32)
	}
	for i := range adapters {
		inside.join(fmt.Sprintf("nic%d", i), fmt.Sprintf("plx%d", i*switches/adapters), 32)
	}
	pcie := inside.links.String()
	inside.links = &strings.Builder{}
	inside.scaleUp(of)
	b.WriteString(strings.ReplaceAll(strings.TrimPrefix(inside.devices.String(), "\n"), "  - ", "      - "))
	b.WriteString("    links:\n")
	b.WriteString(strings.ReplaceAll(strings.ReplaceAll(pcie, "class: c", "class: pcie"), "  - ", "      - "))
	b.WriteString(strings.ReplaceAll(inside.links.String(), "  - ", "      - "))
	rails := []string{"", fmt.Sprintf("    rails: %d\n", adapters)}[g.rng.IntN(2)]
	fmt.Fprintf(&b, `nodes: [{template: host, count: %d}]
fabrics:
  - name: network
    endpoints: nic
    class: net
%s    levels: [{kind: leaf, model: leaf%s}]
`, hosts, rails, []string{"", ", planes: 2"}[g.rng.IntN(2)])
	g.hosts = b.String()
}

// scaleUp joins the GPUs of a host.
func (g *graph) scaleUp(n int) {
	if n < 2 {
		return
	}
	switch g.rng.IntN(4) {
	case 0: // bridges between pairs
		for v := 0; v+1 < n; v += 2 {
			g.join(gpu(v), gpu(v+1), 100)
		}
	case 1:
		g.tree(n, 3, g.rate)
	case 2:
		for s := range 1 + g.rng.IntN(2) {
			sw := g.device(fmt.Sprintf("nvs%d", s), "nvswitch")
			for v := range n {
				g.join(gpu(v), sw, 50)
			}
		}
	}
}
