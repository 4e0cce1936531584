package gen

import (
	"fmt"
	"strings"
)

// servers are hosts on a network: GPUs behind one or two PCIe switches, joined by bridges, links, switches or nothing else, and adapters on
// these switches, which need not be as many as GPUs, on one network, on rails or on planes.
func (g *graph) servers(n int) {
	of := g.oneOf(1, 2, 4, 5, 8)
	hosts := max(2, min(n, 48)/of)
	host, adapters := g.host("host", of)
	rails := []string{"", fmt.Sprintf("    rails: %d\n", adapters)}[g.rng.IntN(2)]
	planes := []string{"", ", planes: 2"}[g.rng.IntN(2)]
	g.network("templates:\n"+host, fmt.Sprintf("{template: host, count: %d}", hosts), rails, planes)
}

// unlikeServers are hosts of two kinds on one network, on one switch or on leaves that share spines.
func (g *graph) unlikeServers(n int) {
	var hosts, nodes []string
	for _, name := range []string{"old", "new"} {
		of := g.oneOf(1, 2, 4, 8)
		host, _ := g.host(name, of)
		hosts = append(hosts, host)
		nodes = append(nodes, fmt.Sprintf("{template: %s, name: %s, count: %d}", name, name, max(1, min(n, 48)/2/of)))
	}
	leaves := []string{"", ", group: 2, oversubscription: 2}, {kind: spine, model: spine"}[g.rng.IntN(2)]
	g.network("templates:\n"+strings.Join(hosts, ""), strings.Join(nodes, ", "), "", leaves)
}

func (g *graph) oneOf(list ...int) int { return list[g.rng.IntN(len(list))] }

// network joins the adapters of nodes.
func (g *graph) network(templates, nodes, rails, leaves string) {
	g.hosts = fmt.Sprintf(`%snodes: [%s]
fabrics:
  - name: network
    endpoints: nic
    class: net
%s    levels: [{kind: leaf, model: leaf%s}]
`, templates, nodes, rails, leaves)
}

// host is the template of one with so many GPUs, and how many adapters it has.
func (g *graph) host(name string, of int) (text string, adapters int) {
	switches := 1 + g.rng.IntN(min(of, 2))
	adapters = g.oneOf(1, switches, of, min(of, 3))
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
	pcie := strings.ReplaceAll(inside.links.String(), "class: c", "class: pcie")
	inside.links = &strings.Builder{}
	inside.scaleUp(of)
	indented := func(s string) string { return strings.ReplaceAll(s, "  - ", "      - ") }
	return fmt.Sprintf(`  %s:
    devices:
      - {id: "gpu[0-%d]", kind: gpu}
      - {id: cpu, kind: cpu}
      - {id: "plx[0-%d]", kind: pcie_switch}
      - {id: "nic[0-%d]", kind: nic}
%s    links:
%s`, name, of-1, switches-1, adapters-1, indented(strings.TrimPrefix(inside.devices.String(), "\n")),
		indented(pcie+inside.links.String())), adapters
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
