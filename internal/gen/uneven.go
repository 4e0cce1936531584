package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"railyard/model/topology"
)

// UnevenYAML is a random graph of 8 to 64 GPUs, most of them small, whose links differ in
// rate: GPUs joined by direct links alone; several planes of switches to which GPUs have
// links of their own rates; groups of GPUs on switches, joined by direct links; nodes of
// unequal NICs. The same seed gives the same text.
func UnevenYAML(seed int64) string {
	rng := rand.New(rand.NewPCG(uint64(seed), 4711))
	n := 8 + rng.IntN(3)
	switch rng.IntN(50) {
	case 0:
		n = 17 + rng.IntN(48)
	case 1, 2, 3:
		n = 11 + rng.IntN(6)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "schema: railyard.topology/v1\nname: uneven%d\nsource: seed %d\ndate: 2026-11-21\nclasses:\n", seed, seed)
	for i, rate := range []int{12, 25, 50, 100} {
		fmt.Fprintf(&b, "  c%d: {medium: nvlink, rate: %dGB/s, latency: 500ns, source: random, date: 2026-11-21}\n", i, rate)
	}
	b.WriteString("  pcie: {medium: pcie, rate: 64GB/s, latency: 500ns, source: random, date: 2026-11-21}\n")
	for i, rate := range []int{100, 200, 400} {
		fmt.Fprintf(&b, "  n%d: {medium: network, rate: %dGb/s, latency: 700ns, source: random, date: 2026-11-21}\n", i, rate)
	}
	switch rng.IntN(4) {
	case 0:
		directLinks(&b, rng, n)
	case 1:
		planes(&b, rng, n)
	case 2:
		islands(&b, rng, n)
	default:
		unequalNodes(&b, rng, n)
	}
	return b.String()
}

// Uneven is UnevenYAML(seed) loaded; it panics where that fails, which a test of this
// package rules out.
func Uneven(seed int64) *topology.Topology {
	t, err := topology.Parse(fmt.Sprintf("uneven%d.yaml", seed), []byte(UnevenYAML(seed)), nil, topology.Options{})
	if err != nil {
		panic(fmt.Sprintf("gen: seed %d: %v\n%s", seed, err, UnevenYAML(seed)))
	}
	return t
}

// directLinks are a random tree and some more links, one for each pair.
func directLinks(b *strings.Builder, rng *rand.Rand, n int) {
	fmt.Fprintf(b, "devices:\n  - {id: \"gpu[0-%d]\", kind: gpu}\nlinks:\n", n-1)
	joined := map[[2]int]bool{}
	join := func(u, v int) {
		if u, v = min(u, v), max(u, v); u != v && !joined[[2]int{u, v}] {
			joined[[2]int{u, v}] = true
			fmt.Fprintf(b, "  - {from: gpu%d, to: gpu%d, class: c%d, count: %d}\n", u, v, rng.IntN(4), 1+rng.IntN(2))
		}
	}
	for v := 1; v < n; v++ {
		join(rng.IntN(v), v)
	}
	for range n + rng.IntN(n) {
		join(rng.IntN(n), rng.IntN(n))
	}
}

// planes are switches to which all GPUs are linked, each GPU by its own rate.
func planes(b *strings.Builder, rng *rand.Rand, n int) {
	s := 1 + rng.IntN(3)
	fmt.Fprintf(b, "devices:\n  - {id: \"gpu[0-%d]\", kind: gpu}\n  - {id: \"sw[0-%d]\", kind: nvswitch}\nlinks:\n", n-1, s-1)
	for v := range n {
		class := rng.IntN(4)
		for i := range s {
			fmt.Fprintf(b, "  - {from: gpu%d, to: sw%d, class: c%d}\n", v, i, class)
		}
	}
}

// islands are GPUs on a switch each, with direct links from island to island.
func islands(b *strings.Builder, rng *rand.Rand, n int) {
	s := 2 + rng.IntN(2)
	fmt.Fprintf(b, "devices:\n  - {id: \"gpu[0-%d]\", kind: gpu}\n  - {id: \"sw[0-%d]\", kind: nvswitch}\nlinks:\n", n-1, s-1)
	for v := range n {
		fmt.Fprintf(b, "  - {from: gpu%d, to: sw%d, class: c%d}\n", v, v%s, 1+rng.IntN(3))
	}
	for v := range n {
		if v%s+1 < s && (v < s || rng.IntN(2) == 0) && v+1 < n {
			fmt.Fprintf(b, "  - {from: gpu%d, to: gpu%d, class: c%d}\n", v, v+1, rng.IntN(4))
		}
	}
}

// unequalNodes are boxes of GPUs with NICs, of two kinds that differ in rates.
func unequalNodes(b *strings.Builder, rng *rand.Rand, n int) {
	gpus := 2 + rng.IntN(3)
	nodes := (n + gpus - 1) / gpus // 8 GPUs at least
	if nodes*gpus > 64 {
		nodes--
	}
	first := 1 + rng.IntN(nodes-1)
	b.WriteString("templates:\n")
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(b, `  %s:
    devices:
      - {id: "gpu[0-%d]", kind: gpu}
      - {id: sw, kind: nvswitch}
      - {id: "nic[0-%d]", kind: nic, serves: "gpu[0-%d]"}
    links:
      - {from: "gpu[0-%d]", to: sw, class: c%d, count: %d}
      - {from: "gpu[0-%d]", to: "nic[0-%d]", class: pcie, how: each}
`, name, gpus-1, gpus-1, gpus-1, gpus-1, 1+rng.IntN(3), 1+rng.IntN(2), gpus-1, gpus-1)
	}
	fmt.Fprintf(b, "nodes: [{template: a, count: %d, name: a}, {template: b, count: %d, name: b}]\n", first, nodes-first)
	fmt.Fprintf(b, "fabrics:\n  - {name: net, endpoints: nic, class: n%d, levels: [{kind: leaf}]}\n", rng.IntN(3))
}
