package gen

import (
	"fmt"
	"slices"
)

// torus is a mesh or torus of two or three dimensions, each with a rate of its own.
func (g *graph) torus() {
	dims, n := make([]int, 2+g.rng.IntN(2)), 1
	for i := range dims {
		dims[i] = 2 + g.rng.IntN([]int{8, 3}[len(dims)-2])
		n *= dims[i]
	}
	g.gpus(n)
	for stride, k := 1, 0; k < len(dims); stride, k = stride*dims[k], k+1 {
		rate, open := g.rate(), g.rng.IntN(3) == 0
		for v := range n {
			at := v / stride % dims[k]
			if at+1 < dims[k] {
				g.join(gpu(v), gpu(v+stride), rate)
			} else if dims[k] > 2 && !open {
				g.join(gpu(v), gpu(v-at*stride), rate)
			}
		}
	}
}

// regular gives every GPU as many links of one rate, to random others; a few that would be double are missing.
func (g *graph) regular(n int) {
	g.gpus(n)
	degree, rate := min(n-1, 3+g.rng.IntN(3)), g.rate()
	for {
		ends := make([]int, n*degree/2*2)
		for i := range ends {
			ends[i] = i % n
		}
		g.rng.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		var pairs [][2]int
		for i := 0; i < len(ends); i += 2 {
			pair := [2]int{min(ends[i], ends[i+1]), max(ends[i], ends[i+1])}
			if pair[0] != pair[1] && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
		if connected(n, pairs) {
			for _, p := range pairs {
				g.join(gpu(p[0]), gpu(p[1]), rate)
			}
			return
		}
	}
}

// connected says whether links join all of n.
func connected(n int, links [][2]int) bool {
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	for _, l := range links {
		from, to := group[l[0]], group[l[1]]
		for i := range group {
			if group[i] == from {
				group[i] = to
			}
		}
	}
	return len(slices.Compact(group)) == 1
}

// direct is a dragonfly without switches: groups whose GPUs are all joined, and a link or two between each two groups.
func (g *graph) direct(n int) {
	of := min(8, max(2, n/(2+g.rng.IntN(8))))
	n = max(2, n/of) * of
	g.gpus(n)
	for rate, v := g.rate(), 0; v < n; v++ {
		for u := v + 1; u < (v/of+1)*of; u++ {
			g.join(gpu(v), gpu(u), rate)
		}
	}
	used, rate, each := make([]int, n/of), g.rate(), 1+g.rng.IntN(2)
	for a := range used {
		for b := a + 1; b < len(used); b++ {
			for range each {
				g.join(gpu(a*of+used[a]%of), gpu(b*of+used[b]%of), rate)
				used[a]++
				used[b]++
			}
		}
	}
}

// bridges joins each two groups by a link of their switches, or by a few of random GPUs.
func (g *graph) bridges(n int) {
	of, rate, access := max(2, n/(2+g.rng.IntN(5))), g.rate(), g.rate()
	switches := g.groups(n, of, func() int { return access })
	over := g.rng.IntN(2) == 0
	for a := range switches {
		for b := a + 1; b < len(switches); b++ {
			if over {
				g.join(switches[a], switches[b], rate)
				continue
			}
			for range 1 + g.rng.IntN(3) {
				g.join(gpu(a*of+g.rng.IntN(min(of, n-a*of))), gpu(b*of+g.rng.IntN(min(of, n-b*of))), rate)
			}
		}
	}
}

// buses are PCIe switches on one or two processors, which a bus joins.
func (g *graph) buses(n int) {
	n = min(n, 16)
	g.gpus(n)
	rate, of, cpus := g.rate(), max(2, n/(2+g.rng.IntN(3))), 1+g.rng.IntN(2)
	for c := range cpus {
		g.device(fmt.Sprintf("cpu%d", c), "cpu")
	}
	if cpus == 2 {
		g.join("cpu0", "cpu1", g.rate())
	}
	for v := range n {
		plx := fmt.Sprintf("plx%d", v/of)
		if v%of == 0 {
			g.join(g.device(plx, "pcie_switch"), fmt.Sprintf("cpu%d", v*cpus/n), rate)
		}
		g.join(gpu(v), plx, rate)
	}
}

// twoWays is random links, each of which has another rate each way.
func (g *graph) twoWays(n int) {
	g.tree(n, 3, g.rate)
	for i, p := range g.pairs {
		if i%2 == 0 {
			fmt.Fprintf(g.links, "  - {from: %s, to: %s, class: c, count: %d, duplex: false}\n", p[0], p[1], g.rate())
		}
	}
}

// boxes are so many of some GPUs on a switch each, at a rate, and rails between boxes, over each of which several GPUs of a box share an
// adapter: a cluster written as one graph.
func (g *graph) boxes(count, of, rate, each, rail int) {
	n := count * of
	inside := g.groups(n, of, func() int { return rate })
	for r := range of / each {
		spine := g.device(fmt.Sprintf("rail%d", r), "nvswitch")
		for b := range inside {
			port := gpu(b*of + r)
			if each > 1 { // the adapter
				port = g.device(fmt.Sprintf("port%d-%d", b, r), "nvswitch")
				for i := range each {
					g.join(gpu(b*of+r*each+i), port, rail)
				}
			}
			g.join(port, spine, rail)
		}
	}
}
