// Package gen makes seeded random topologies for property tests.
package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"railyard/model/topology"
)

// YAML is a random topology of 2 to 32 GPUs: switched, meshed, ring-shaped or of
// several nodes behind a network, with uneven rates. The same seed gives the same text.
func YAML(seed int64) string {
	rng := rand.New(rand.NewPCG(uint64(seed), 20261121))
	var b strings.Builder
	fmt.Fprintf(&b, "schema: railyard.topology/v1\nname: random%d\nsource: seed %d\ndate: 2026-11-21\nclasses:\n", seed, seed)
	for i := range 3 {
		medium := []string{"nvlink", "pcie", "network"}[i]
		fmt.Fprintf(&b, "  c%d: {medium: %s, rate: %dMB/s, latency: %dns, source: random, date: 2026-11-21}\n", i, medium,
			1000+rng.IntN(99000), rng.IntN(3000))
	}
	switch rng.IntN(4) {
	case 0:
		switched(&b, rng)
	case 1:
		meshed(&b, rng)
	case 2:
		serverOnPCIe(&b, rng)
	default:
		cluster(&b, rng)
	}
	return b.String()
}

func switched(b *strings.Builder, rng *rand.Rand) {
	n, s := 2+rng.IntN(15), 1+rng.IntN(3)
	fmt.Fprintf(b, "devices:\n  - {id: \"gpu[0-%d]\", kind: gpu}\n  - {id: \"sw[0-%d]\", kind: nvswitch}\nlinks:\n", n-1, s-1)
	for i := range s {
		fmt.Fprintf(b, "  - {from: \"gpu[0-%d]\", to: sw%d, class: c0, count: %d}\n", n-1, i, 1+rng.IntN(4))
	}
}

func meshed(b *strings.Builder, rng *rand.Rand) {
	n := 2 + rng.IntN(7)
	fmt.Fprintf(b, "devices:\n  - {id: \"gpu[0-%d]\", kind: gpu}\nlinks:\n", n-1)
	for i := range n {
		for j := i + 1; j < n; j++ {
			fmt.Fprintf(b, "  - {from: gpu%d, to: gpu%d, class: c0, count: %d}\n", i, j, 1+rng.IntN(3))
		}
	}
}

func serverOnPCIe(b *strings.Builder, rng *rand.Rand) {
	per := 1 + rng.IntN(4)
	fmt.Fprintf(b, `devices:
  - {id: "gpu[0-%d]", kind: gpu}
  - {id: "plx[0-1]", kind: pcie_switch}
  - {id: cpu0, kind: cpu, p2p: %t}
links:
  - {from: "gpu[0-%d]", to: "plx[0-1]", class: c1, how: block}
  - {from: "plx[0-1]", to: cpu0, class: c1}
`, 2*per-1, rng.IntN(2) == 0, 2*per-1)
}

func cluster(b *strings.Builder, rng *rand.Rand) {
	gpus, nodes := 1+rng.IntN(4), 2+rng.IntN(5)
	rails := 1
	if rng.IntN(2) == 0 {
		rails = gpus
	}
	fmt.Fprintf(b, `models: {leaf: {kind: leaf, ports: %d, source: random, date: 2026-11-21}}
templates:
  box:
    devices:
      - {id: "gpu[0-%d]", kind: gpu}
      - {id: sw, kind: nvswitch}
      - {id: "nic[0-%d]", kind: nic, serves: "gpu[0-%d]"}
    links:
      - {from: "gpu[0-%d]", to: sw, class: c0, count: %d}
      - {from: "gpu[0-%d]", to: "nic[0-%d]", class: c1, how: each}
nodes: [{template: box, count: %d}]
fabrics:
  - name: net
    endpoints: nic
    class: c2
    rails: %d
    levels:
      - {kind: leaf, model: leaf, oversubscription: %d}
      - {kind: spine}
`, 8+4*rng.IntN(3), gpus-1, gpus-1, gpus-1, gpus-1, 1+rng.IntN(4), gpus-1, gpus-1, nodes, rails, 1+rng.IntN(3))
}

// Topology is YAML(seed) loaded; it panics where that fails, which a test of this
// package rules out.
func Topology(seed int64) *topology.Topology {
	t, err := topology.Parse(fmt.Sprintf("random%d.yaml", seed), []byte(YAML(seed)), nil, topology.Options{})
	if err != nil {
		panic(fmt.Sprintf("gen: seed %d: %v\n%s", seed, err, YAML(seed)))
	}
	return t
}
