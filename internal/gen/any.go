package gen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"railyard/model/topology"
)

// Any is a random topology of up to 64 ranks, which may have lost parts, one way or both: that of YAML, of Uneven, or GPUs or
// threads and switches of all kinds in one node, joined at random, so that some ranks reach others only over third ones,
// or not at all. The same seed gives the same topology.
func Any(seed int64) *topology.Topology {
	rng := rand.New(rand.NewPCG(uint64(seed), 99))
	var t *topology.Topology
	switch seed % 4 {
	case 0:
		t = Topology(seed)
	case 1:
		t = Uneven(seed)
	default:
		t = flat(rng)
	}
	for range rng.IntN(3) {
		l := t.Links()[rng.IntN(len(t.Links()))]
		a, b := t.DeviceName(l.From), t.DeviceName(l.To)
		text := []string{"link:" + a + "->" + b, "link:" + a + "--" + b, t.Devices()[l.From].Kind.String() + ":" + a}[rng.IntN(3)]
		f, err := topology.ParseFault(text)
		if err != nil {
			continue // nothing that can be lost
		}
		if left, err := t.Degrade([]topology.Fault{f}); err == nil && left.NumRanks() > 1 {
			t = left
		}
	}
	return t
}

// flat is ranks and switches in one node: a random tree of links both ways, or a ring of links one way, and more links.
func flat(rng *rand.Rand) *topology.Topology {
	var b strings.Builder
	b.WriteString("schema: railyard.topology/v1\nname: flat\nsource: random\ndate: 2026-11-23\nclasses:\n")
	for _, medium := range []string{"nvlink", "pcie", "network"} {
		for i := range 3 {
			fmt.Fprintf(&b, "  %s%d: {medium: %s, rate: %dGB/s, latency: 500ns, source: random, date: 2026-11-23}\n", medium, i, medium,
				10+rng.IntN(90))
		}
	}
	rank := []string{"gpu", "thread"}[rng.IntN(2)]
	kinds := []string{"nvswitch", "leaf", "spine", "pcie_switch", "cpu"}[rng.IntN(5):]
	var kind []string
	b.WriteString("devices:\n")
	for i := range 2 + rng.IntN(8) + rng.IntN(5) {
		if kind = append(kind, rank); i > 1 && rng.IntN(3) == 0 {
			kind[i] = kinds[rng.IntN(len(kinds))]
		}
		fmt.Fprintf(&b, "  - {id: d%d, kind: %s}\n", i, kind[i])
	}
	b.WriteString("links:\n")
	oneWay := rng.IntN(3) == 0
	for i := range len(kind) + rng.IntN(len(kind)) {
		from, to, duplex := i, (i+1)%len(kind), !oneWay
		switch {
		case i >= len(kind):
			from, to, duplex = rng.IntN(len(kind)), rng.IntN(len(kind)), rng.IntN(2) == 0
		case !oneWay && i > 0:
			to = rng.IntN(i)
		}
		if from == to {
			continue
		}
		medium := "nvlink"
		for _, end := range []int{from, to} {
			switch kind[end] {
			case "pcie_switch", "cpu":
				medium = "pcie"
			case "leaf", "spine":
				medium = "network"
			}
		}
		fmt.Fprintf(&b, "  - {from: d%d, to: d%d, class: %s%d, duplex: %t}\n", from, to, medium, rng.IntN(3), duplex)
	}
	t, err := topology.Parse("flat.yaml", []byte(b.String()), nil, topology.Options{})
	if err != nil {
		panic(fmt.Sprintf("gen: %v\n%s", err, b.String()))
	}
	return t
}
