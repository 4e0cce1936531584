package gen

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"railyard/model/topology"
)

// family is a kind of graphs: build makes one of n GPUs or so, and says which parts it lacks.
type family struct {
	name  string
	build func(g *graph, n int) (faults []string)
}

// whole is a family that lacks nothing.
func whole(name string, build func(g *graph, n int)) family {
	return family{name, func(g *graph, n int) []string { build(g, n); return nil }}
}

var (
	unseen = []family{
		whole("links", func(g *graph, n int) { g.tree(n, 3, func() int { return 50 }) }),
		whole("rated links", func(g *graph, n int) { g.tree(n, 2, g.rate) }),
		whole("planes", (*graph).planes),
		whole("mixed", func(g *graph, n int) { g.planes(n); g.tree(n, 1, g.rate) }),
		whole("dragonfly", (*graph).dragonfly),
		whole("cores", (*graph).cores),
		{"one-way", func(g *graph, n int) []string { g.tree(n, 3, g.rate); return g.lose("->", 1+n/16) }},
		whole("two kinds", (*graph).kinds),
		{"degraded", func(g *graph, n int) []string { g.planes(n); g.tree(n, 2, g.rate); return g.lose("--", 1+n/16) }},
		whole("directed", func(g *graph, n int) { g.directed(min(n, 32)) }),
		{"torus", func(g *graph, _ int) []string { g.torus(); return g.lose("--", g.rng.IntN(4)) }},
		whole("regular", (*graph).regular),
		whole("groups", (*graph).direct),
		whole("bridges", (*graph).bridges),
		whole("buses", (*graph).buses),
		whole("unlike ways", func(g *graph, n int) { g.twoWays(min(n, 48)) }),
		whole("boxes", func(g *graph, n int) { g.boxes(max(2, n/8), 8, 4*g.rate(), 1+g.rng.IntN(2), g.rate()) }),
		whole("servers", (*graph).servers),
		whole("unlike servers", (*graph).unlikeServers),
	}
	// flatBoxes are of 128 GPUs in one graph, as of DGX H100 on rails and of DGX-2.
	flatBoxes = []family{
		whole("16 boxes", func(g *graph, _ int) { g.boxes(16, 8, 450, 1, 50) }),
		whole("8 boxes", func(g *graph, _ int) { g.boxes(8, 16, 150, 2, 12) }),
	}
)

// Families are the kinds of graphs that Unseen makes, of 4 to 96 GPUs.
func Families() (names []string) {
	for _, f := range unseen {
		names = append(names, f.name)
	}
	return names
}

// Unseen is a graph of a family, which no algorithm was made for: random direct links of like and of unlike rates; planes of switches
// with a rate for each link; switches and links between the same GPUs; groups on switches of which each has a link to each
// other group; boxes of switches behind switches; links of which some are lost one way; two kinds of GPUs that a slow
// switch joins; a box of switches and links that has lost parts; a ring and more links that lead one way; hosts on a network, of one
// kind and of two. The same seed gives the same graph.
func Unseen(name string, seed int64) *topology.Topology {
	all := slices.Concat(unseen, flatBoxes)
	at := slices.IndexFunc(all, func(f family) bool { return f.name == name })
	if at < 0 {
		panic("gen: no family " + name)
	}
	g := &graph{rng: rand.New(rand.NewPCG(uint64(seed), 815+uint64(slices.Index(Families(), name))))}
	g.devices, g.links = &strings.Builder{}, &strings.Builder{}
	n := []int{4, 6, 8, 12, 16, 24, 32, 48, 64, 96}[g.rng.IntN(10)]
	faults := all[at].build(g, n)
	t := g.parse(fmt.Sprintf("%s %d", name, seed), seed)
	for _, f := range faults { // one that parts the graph stays whole
		if left, err := t.Degrade(Faults(f)); err == nil && left.NumRanks() == t.NumRanks() {
			t = left
		}
	}
	return t
}

// parse is the topology that its devices and links are.
func (g *graph) parse(name string, seed int64) *topology.Topology {
	text := fmt.Sprintf(`schema: railyard.topology/v1
name: %q
source: seed %d
date: 2026-11-23
classes:
  c: {medium: nvlink, rate: 1GB/s, latency: 500ns, source: random, date: 2026-11-23}
  pcie: {medium: pcie, rate: 1GB/s, latency: 500ns, source: random, date: 2026-12-01}
  net: {medium: network, rate: 12500MB/s, latency: 2us, source: random, date: 2026-12-01}
models:
  leaf: {kind: leaf, ports: 1024, source: random, date: 2026-12-01}
  spine: {kind: spine, ports: 1024, source: random, date: 2026-12-01}
%s`, name, seed, cmp.Or(g.hosts, fmt.Sprintf("devices:\n%slinks:\n%s", g.devices, g.links)))
	t, err := topology.Parse(name, []byte(text), nil, topology.Options{})
	if err != nil {
		panic(fmt.Sprintf("gen: %s: %v", name, err))
	}
	return t
}

// graph is devices and links as a topology file has them.
type graph struct {
	rng            *rand.Rand
	devices, links *strings.Builder
	pairs          [][2]string // what links join
	hosts          string      // instead: templates, nodes and fabrics
}

// rate is one of those that links have, in GB/s.
func (g *graph) rate() int { return []int{12, 25, 50, 100}[g.rng.IntN(4)] }

func (g *graph) device(id, kind string) string {
	fmt.Fprintf(g.devices, "  - {id: %s, kind: %s}\n", id, kind)
	return id
}

// join links two devices at a rate in GB/s.
func (g *graph) join(a, b string, rate int) {
	fmt.Fprintf(g.links, "  - {from: %s, to: %s, class: c, count: %d}\n", a, b, rate)
	g.pairs = append(g.pairs, [2]string{a, b})
}

func (g *graph) gpus(n int) {
	if g.devices.Len() == 0 {
		fmt.Fprintf(g.devices, "  - {id: \"gpu[0-%d]\", kind: gpu}\n", n-1)
	}
}

func gpu(i int) string { return fmt.Sprintf("gpu%d", i) }

// tree is a random tree of direct links, and more links up to about degree/2 for each GPU.
func (g *graph) tree(n, degree int, rate func() int) {
	g.gpus(n)
	joined := map[[2]int]bool{}
	for v := 1; v < n*(1+degree)/2; v++ {
		a, b := g.rng.IntN(n), g.rng.IntN(n)
		if v < n {
			a, b = g.rng.IntN(v), v
		}
		if pair := [2]int{min(a, b), max(a, b)}; a != b && !joined[pair] {
			joined[pair] = true
			g.join(gpu(pair[0]), gpu(pair[1]), rate())
		}
	}
}

// planes are switches to which GPUs have links, each with its own rate.
func (g *graph) planes(n int) {
	g.gpus(n)
	for s := range 1 + g.rng.IntN(4) {
		sw := g.device(fmt.Sprintf("plane%d", s), "nvswitch")
		for v := range n {
			g.join(gpu(v), sw, g.rate())
		}
	}
}

// groups are switches with GPUs on them, at a rate; the switches' names.
func (g *graph) groups(n, of int, rate func() int) []string {
	g.gpus(n)
	var out []string
	for v := range n {
		if v%of == 0 {
			out = append(out, g.device(fmt.Sprintf("group%d", v/of), "nvswitch"))
		}
		g.join(gpu(v), out[v/of], rate())
	}
	return out
}

// dragonfly joins each two groups by a direct link of a GPU of each.
func (g *graph) dragonfly(n int) {
	of := max(2, n/(2+g.rng.IntN(4)))
	groups := len(g.groups(n, of, func() int { return 100 }))
	rate := g.rate()
	for a := range groups {
		for b := a + 1; b < groups; b++ {
			g.join(gpu(a*of+b%of), gpu(min(b*of+a%of, n-1)), rate)
		}
	}
}

// cores are switches that join groups.
func (g *graph) cores(n int) {
	rate := g.rate()
	groups := g.groups(n, []int{2, 4, 8}[g.rng.IntN(3)], func() int { return rate })
	for c := range 1 + g.rng.IntN(2) {
		core := g.device(fmt.Sprintf("core%d", c), "nvswitch")
		for _, s := range groups {
			g.join(s, core, 2*g.rate())
		}
	}
}

// kinds are two halves, each on switches of its own, which a slow one joins.
func (g *graph) kinds(n int) {
	rates := []int{g.rate(), g.rate()}
	at := 0
	g.groups(n, (n+1)/2, func() int { at++; return 4 * rates[(at-1)*2/n] })
	slow := g.device("slow", "nvswitch")
	for v := range n {
		g.join(gpu(v), slow, 6+g.rng.IntN(2)*6)
	}
}

// directed is a ring one way and half as many links more, each one way.
func (g *graph) directed(n int) {
	g.gpus(n)
	ring := g.rng.Perm(n)
	for i := range n + n/2 {
		a, b := ring[i%n], ring[(i+1)%n]
		if i >= n {
			a, b = g.rng.IntN(n), g.rng.IntN(n)
		}
		if pair := [2]string{gpu(a), gpu(b)}; a != b && !slices.Contains(g.pairs, pair) {
			fmt.Fprintf(g.links, "  - {from: %s, to: %s, class: c, count: %d, duplex: false}\n", pair[0], pair[1], g.rate())
			g.pairs = append(g.pairs, pair)
		}
	}
}

// lose are faults of so many links.
func (g *graph) lose(way string, count int) []string {
	var out []string
	for range count {
		p := g.pairs[g.rng.IntN(len(g.pairs))]
		out = append(out, "link:"+p[0]+way+p[1])
	}
	return out
}
