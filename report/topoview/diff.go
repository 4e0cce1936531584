package topoview

import (
	"fmt"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// Aspects are what Diff compares.
var Aspects = []string{"nvlink", "pcie", "nic"}

// Diff says in what a live node falls short of, or exceeds, an intended one: numbers of
// GPUs; for each GPU its scale-up links and rate, those to each other GPU, and its PCIe
// connection; what PCIe joins each pair of GPUs; the adapters. Switches that a virtual
// machine hides do not matter, nor do names, sources and the network outside the node.
// GPUs and adapters are compared by number. Only the named aspects are compared.
func Diff(live, intended *topology.Topology, aspects []string) []string {
	d := &difference{live: live, intended: intended}
	a, b := live.NumRanks(), intended.NumRanks()
	if a != b {
		d.add("%d GPUs, intended %d", a, b)
	}
	d.ranks = min(a, b)
	for _, aspect := range aspects {
		switch aspect {
		case "nvlink":
			d.scaleUp()
		case "pcie":
			d.hosts()
			d.pairs()
		case "nic":
			d.adapters()
		}
	}
	return d.lines
}

// difference collects what is different.
type difference struct {
	live, intended *topology.Topology
	ranks          int
	lines          []string
}

func (d *difference) add(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// bundle is a number of links and what they carry together.
type bundle struct {
	links int
	rate  units.Rate
}

// bundleOf adds up the links out of a device that are wanted.
func bundleOf(t *topology.Topology, from topology.DeviceID, wanted func(m topology.Medium, to topology.DeviceID) bool) bundle {
	var b bundle
	for _, l := range t.Out(from) {
		if wanted(t.Class(l).Medium, t.Links()[l].To) {
			b.links += int(t.Links()[l].Count)
			b.rate += t.Rate(l)
		}
	}
	return b
}

func scaleUp(m topology.Medium) bool { return m == topology.NVLink || m == topology.XGMI }

// scaleUp compares each GPU's links in all, and those to each GPU where they are direct.
func (d *difference) scaleUp() {
	for r := range d.ranks {
		all := func(m topology.Medium, _ topology.DeviceID) bool { return scaleUp(m) }
		a, b := bundleOf(d.live, d.live.Ranks()[r], all), bundleOf(d.intended, d.intended.Ranks()[r], all)
		switch {
		case a.links != b.links:
			d.add("GPU %d has %d of %d links", r, a.links, b.links)
		case a.rate != b.rate:
			d.add("GPU %d: its %d links carry %v, intended %v", r, a.links, a.rate, b.rate)
		}
		for peer := r + 1; peer < d.ranks; peer++ {
			a, b := direct(d.live, r, peer), direct(d.intended, r, peer)
			if a.links != b.links {
				d.add("GPU %d has %d of %d links to GPU %d", r, a.links, b.links, peer)
			}
		}
	}
}

func direct(t *topology.Topology, a, b int) bundle {
	return bundleOf(t, t.Ranks()[a], func(m topology.Medium, to topology.DeviceID) bool { return scaleUp(m) && to == t.Ranks()[b] })
}

// hosts compares what joins each GPU to the rest of its node.
func (d *difference) hosts() {
	for r := range d.ranks {
		d.host(fmt.Sprintf("GPU %d", r), d.live.Ranks()[r], d.intended.Ranks()[r])
	}
}

func (d *difference) host(what string, live, intended topology.DeviceID) {
	host := func(m topology.Medium, _ topology.DeviceID) bool { return m == topology.PCIe || m == topology.C2C }
	a, b := bundleOf(d.live, live, host), bundleOf(d.intended, intended, host)
	if a != b {
		d.add("%s: PCIe carries %v, intended %v", what, a.rate, b.rate)
	}
}

// pairs compares the kind of route over PCIe between GPUs; pairs that differ alike
// share a line.
func (d *difference) pairs() {
	type change struct{ live, intended string }
	var order []change
	which := map[change][]string{}
	liveRouter, intendedRouter := topology.NewRouter(d.live), topology.NewRouter(d.intended)
	for a := range d.ranks {
		for b := a + 1; b < d.ranks; b++ {
			c := change{overPCIe(liveRouter, d.live, a, b), overPCIe(intendedRouter, d.intended, a, b)}
			if c.live == c.intended {
				continue
			}
			if which[c] == nil {
				order = append(order, c)
			}
			which[c] = append(which[c], fmt.Sprintf("%d-%d", a, b))
		}
	}
	for _, c := range order {
		d.add("GPUs %s: %s over PCIe, intended %s", strings.Join(which[c], " "), c.live, c.intended)
	}
}

// overPCIe is the best route between two GPUs without scale-up links, "none" where
// there is none.
func overPCIe(r *topology.Router, t *topology.Topology, a, b int) string {
	for _, p := range r.Paths(t.Ranks()[a], t.Ranks()[b]) {
		if p.Kind != topology.Direct && p.Kind != topology.Switched {
			return p.Kind.String()
		}
	}
	return "none"
}

// adapters compares how many there are and how each is joined.
func (d *difference) adapters() {
	a, b := adapters(d.live), adapters(d.intended)
	if len(a) != len(b) {
		d.add("%d network adapters, intended %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		d.host(fmt.Sprintf("network adapter %d", i), a[i], b[i])
	}
}

func adapters(t *topology.Topology) []topology.DeviceID {
	var out []topology.DeviceID
	for d, dev := range t.Devices() {
		if dev.Kind == topology.NIC {
			out = append(out, topology.DeviceID(d))
		}
	}
	return out
}
