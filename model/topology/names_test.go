package topology_test

import (
	"strings"
	"testing"

	"railyard/model/topology"
)

// TestNodeNames: a range of names names nodes as they are called elsewhere; --nodes takes the first.
func TestNodeNames(t *testing.T) {
	const file = `schema: railyard.topology/v1
name: named
source: test
date: 2026-11-23
classes: {eth: {medium: network, rate: 10GB/s, latency: 1us, source: test, date: 2026-11-23}}
templates: {box: {devices: [{id: gpu0, kind: gpu}, {id: nic0, kind: nic}, {id: plx0, kind: pcie_switch}], links: [
  {from: gpu0, to: plx0, class: pcie}, {from: nic0, to: plx0, class: pcie}]}}
nodes: [{template: box, NODES}]
fabrics: [{name: net, endpoints: nic, class: eth, levels: [{kind: leaf}]}]
`
	for nodes, want := range map[string]string{
		"name: 'dgx[08-10,12]'":    "dgx08 dgx09 dgx10 dgx12",
		"name: 'c[1-2]-ib'":        "c1-ib c2-ib",
		"name: 'c[1-4]', count: 2": "c1 c2",
		"name: node, count: 2":     "node0 node1",
		"name: 'c[1-2]', count: 3": `"c[1-2]" names 2 nodes, but there are 3`,
		"name: 'c[2-1]'":           `"2-1" is not a range`,
		"name: 'c[1-2'":            "is not a name",
		"name: 'c[1-2,1]'":         `two nodes are called "c1"`,
		"name: 'c[0-104857555]'":   "is not a range",
		"name: 'c[9223372036854775806-9223372036854775807]'": "c9223372036854775806 c9223372036854775807",
	} {
		text := strings.Replace(file, "NODES", nodes, 1)
		text = strings.Replace(text, "classes: {",
			"classes: {pcie: {medium: pcie, rate: 30GB/s, latency: 1us, source: test, date: 2026-11-23}, ", 1)
		x, err := topology.Parse("named.yaml", []byte(text), nil, topology.Options{})
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", nodes, err)
			}
			continue
		}
		var got []string
		for n := range x.NumNodes() {
			got = append(got, x.NodeName(n))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", nodes, got)
		}
	}
}
