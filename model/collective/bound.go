package collective

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
)

// Bound is a time that no schedule can beat on a topology at line rate, and the cut
// that says why.
type Bound struct {
	Time units.Time
	Cut  string // e.g. "node0 can take in only 400GB/s"
}

// cut is a group of ranks with what can flow in and out of it.
type cut struct {
	name         string
	ranks        int
	in, out      float64 // bytes/s; 0 where nothing can
	root         bool    // holds the root
	enter, leave float64 // of all_to_allv: in sizes, what enters and leaves
}

// LowerBound is the largest of the bounds that cuts around each rank, each node and
// each group of a tier give: the bytes that must cross, over what can cross. For
// all-reduce the sum over all groups of a tier counts too (see tierCut.least).
func LowerBound(t *topology.Topology, s Spec, size units.Bytes) Bound {
	return NewCuts(t, s).LowerBound(size)
}

// Cuts are what LowerBound looks at, measured once for many sizes.
type Cuts struct {
	spec  Spec
	tiers []tierCut
}

// tierCut is the cuts around the groups of a tier, with what the switches between them do.
type tierCut struct {
	cuts                 []cut
	multicast, reduction bool
	ownShare             bool // what the switches do for a group returns to it, or is read from it, as well
}

// minTransfers is how often an element of an all-reduce must leave the groups of a tier, all of
// them together, how often it must enter them, and both. Every element needs G−1 messages to
// be combined and G−1 to be spread (Patarasuk, Yuan 2009), unless switches between the groups
// do that. Where these address the memory of all (see topology.Router), a reduction of t
// parts takes t out of ranks and one in, as one rank's own is read as well, a multicast to t
// one out and t in. With k reductions and m multicasts an element then leaves at least
// G−1+k+m times, and all at least 2(G−1)+m where k is 0; it enters them as often backwards.
// So where switches do both, 2(G+1) is the least of leaving and entering together, from three
// ranks on.
func (t *tierCut) minTransfers() (out, in, both float64) {
	g := float64(len(t.cuts))
	direct := 2 * (g - 1) // without switches
	switch {
	case !t.ownShare:
		out = direct * (oneIf(!t.multicast) + oneIf(!t.reduction)) / 2
		return out, out, 2 * out
	case t.multicast && t.reduction:
		return g, g, 2 * min(g+1, direct)
	case t.multicast:
		return g, direct, min(g+direct+1, 2*direct)
	}
	return direct, g, min(g+direct+1, 2*direct)
}

// NewCuts measures the cuts of a topology.
func NewCuts(t *topology.Topology, s Spec) *Cuts {
	c := &Cuts{spec: s}
	if s.Ranks >= 2 && s.Kind != Barrier {
		c.tiers = cutsOf(t, s)
	}
	return c
}

// LowerBound is the bound for a size (see the function of that name).
func (c *Cuts) LowerBound(size units.Bytes) Bound {
	var best Bound
	consider := func(time float64, cut func() string) {
		if tm := units.Time(time * (1 - 1e-12)); tm > best.Time {
			best = Bound{tm, cut()}
		}
	}
	for _, t := range c.tiers {
		tier := t.cuts
		if len(tier) < 2 {
			continue
		}
		var in, out float64
		for _, k := range tier {
			in += k.in
			out += k.out
			inBytes, outBytes := c.spec.crossing(k, float64(size))
			consider(inBytes/k.in*1e12, func() string { return fmt.Sprintf("%s can take in only %v", k.name, units.Rate(k.in)) })
			consider(outBytes/k.out*1e12, func() string { return fmt.Sprintf("%s can send out only %v", k.name, units.Rate(k.out)) })
		}
		if c.spec.Kind != AllReduce {
			continue
		}
		outward, inward, both := t.minTransfers()
		for _, x := range []struct{ times, rate float64 }{{outward, out}, {inward, in}, {both / 2, (in + out) / 2}} {
			consider(x.times*float64(size)/x.rate*1e12, func() string {
				return fmt.Sprintf("the links of %s and %s like it carry only %v together", tier[0].name,
					units.Counted(len(tier)-1, "other"), units.Rate(x.rate))
			})
		}
	}
	return best
}

// crossing is how many bytes must at least enter and leave a group of c.ranks ranks.
func (s Spec) crossing(c cut, size float64) (in, out float64) {
	n := float64(s.Ranks)
	inside, outside := float64(c.ranks), n-float64(c.ranks)
	switch s.Kind {
	case AllReduce:
		return size, size
	case AllGather:
		return outside / n * size, inside / n * size
	case ReduceScatter:
		return inside / n * size, outside / n * size
	case AllToAll:
		return inside * outside / n * size, inside * outside / n * size
	case AllToAllV:
		size = math.Floor(size/n) * n
		return c.enter * size, c.leave * size
	case Broadcast, Scatter:
		share := size
		if s.Kind == Scatter {
			share = inside / n * size
		}
		if c.root {
			return 0, share/inside*outside*oneIf(s.Kind == Scatter) + size*oneIf(s.Kind == Broadcast)
		}
		return share, 0
	case Reduce, Gather:
		if c.root {
			return size*oneIf(s.Kind == Reduce) + outside/n*size*oneIf(s.Kind == Gather), 0
		}
		return 0, size*oneIf(s.Kind == Reduce) + inside/n*size*oneIf(s.Kind == Gather)
	case SendRecv: // what of a ring is not all of it has a last rank, and a first one
		return size, size
	}
	return 0, 0
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// cutsOf lists the cuts around single ranks, then around the groups of each tier.
func cutsOf(t *topology.Topology, s Spec) []tierCut {
	n := t.NumRanks()
	router := topology.NewRouter(t)
	ranks := make([]cut, n)
	for r := range ranks {
		ranks[r] = rankCut(t, router, r, r == s.Root)
	}
	s.count(ranks, identity(n))
	multicast, reduction := t.InNetwork(nil)
	forwards, adds := t.InNetwork(func(d topology.Device) bool { return d.Kind != topology.NVSwitch })
	out := []tierCut{{ranks, multicast, reduction, (multicast || reduction) && !forwards && !adds}}
	used := router.UsedNICs()
	for _, tier := range t.Tiers() {
		if tier.Groups < 2 {
			continue
		}
		cuts := tierCuts(t, tier, used, s.Root)
		s.count(cuts, tier.Of)
		outside := make([]bool, t.NumNodes())
		for node := range outside {
			outside[node] = true
		}
		for r := range n {
			outside[t.NodeOf(r)] = false
		}
		multicast, reduction = t.InNetwork(func(d topology.Device) bool { return d.Node < 0 || outside[d.Node] })
		out = append(out, tierCut{cuts: cuts, multicast: multicast, reduction: reduction})
	}
	return out
}

func identity(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// count adds up, for all_to_allv, what crosses cuts; of says which of them a rank is in.
func (s Spec) count(cuts []cut, of []int32) {
	if s.Kind != AllToAllV {
		return
	}
	row := float64(s.LargestRow())
	for src, counts := range s.Counts {
		for dst, c := range counts {
			if a, b := of[src], of[dst]; a != b {
				cuts[a].leave += float64(c) / row
				cuts[b].enter += float64(c) / row
			}
		}
	}
}

// tierCuts measures, for each group of a tier, what leaves and enters its nodes, or its nodes with the switches that are its
// own, whichever is less. Links of adapters that serve no rank do not count.
func tierCuts(t *topology.Topology, tier topology.Tier, used map[topology.DeviceID]bool, root int) []cut {
	cuts := make([]cut, tier.Groups)
	group := make([]int32, len(t.Devices())) // by device; −1: of none
	of := make([]int32, t.NumNodes())
	for n := range of {
		of[n] = -1
	}
	for r, g := range tier.Of {
		c, node := &cuts[g], t.NodeOf(r)
		if of[node] = g; c.ranks == 0 {
			if c.name = t.NodeName(node); tier.Name != "node" {
				c.name = fmt.Sprintf("the %s group of %s", tier.Name, c.name)
			}
		}
		c.ranks++
		c.root = c.root || r == root
	}
	for d := range group {
		if group[d] = -1; t.Devices()[d].Node >= 0 {
			group[d] = of[t.Devices()[d].Node]
		}
	}
	for r, g := range tier.Of {
		group[t.Ranks()[r]] = g
	}
	counted := usedLinks(t, used)
	addLinks(t, cuts, counted, group)
	own := slices.Clone(cuts)
	for g := range own {
		own[g].in, own[g].out = 0, 0
	}
	joinSwitches(t, counted, group, tier.Groups)
	addLinks(t, own, counted, group)
	for g := range cuts {
		cuts[g].in, cuts[g].out = min(cuts[g].in, own[g].in), min(cuts[g].out, own[g].out)
	}
	return cuts
}

// usedLinks says, by link, whether it is none of an adapter that serves no rank.
func usedLinks(t *topology.Topology, used map[topology.DeviceID]bool) []bool {
	idle := func(d topology.DeviceID) bool {
		return used != nil && t.Devices()[d].Kind == topology.NIC && !used[d]
	}
	out := make([]bool, len(t.Links()))
	for i, l := range t.Links() {
		out[i] = !idle(l.From) && !idle(l.To)
	}
	return out
}

// addLinks adds up the links between groups, and between these and all else.
func addLinks(t *topology.Topology, cuts []cut, used []bool, group []int32) {
	for i, l := range t.Links() {
		from, to := group[l.From], group[l.To]
		if from == to || !used[i] {
			continue
		}
		if from >= 0 {
			cuts[from].out += float64(t.Rate(topology.LinkID(i)))
		}
		if to >= 0 {
			cuts[to].in += float64(t.Rate(topology.LinkID(i)))
		}
	}
}

// joinSwitches gives groups the switches between nodes at least half of whose links lead to them, tier by tier: what
// leaves a group is then no more. Whichever it takes, what is around a group's nodes is a cut.
func joinSwitches(t *topology.Topology, used []bool, group []int32, groups int) {
	rates := make([]float64, groups)
	for joined := true; joined; {
		joined = false
		next := slices.Clone(group)
		for d := range group {
			if group[d] < 0 && t.Devices()[d].Node < 0 {
				next[d] = nearest(t, topology.DeviceID(d), used, group, rates)
				joined = joined || next[d] >= 0
			}
		}
		copy(group, next)
	}
}

// nearest is the group to which most of a device's links lead, if that is half of them; −1: none. Rates by group are 0 before and after.
func nearest(t *topology.Topology, d topology.DeviceID, used []bool, group []int32, rates []float64) int32 {
	most, all := int32(-1), 0.0
	links := slices.Concat(t.Out(d), t.In(d))
	links = slices.DeleteFunc(links, func(id topology.LinkID) bool { return !used[id] })
	other := func(id topology.LinkID) int32 { return max(group[t.Links()[id].From], group[t.Links()[id].To]) } // d's own is −1
	for _, id := range links {
		all += float64(t.Rate(id))
		if g := other(id); g >= 0 {
			if rates[g] += float64(t.Rate(id)); most < 0 || rates[g] > rates[most] {
				most = g
			}
		}
	}
	if most >= 0 && 2*rates[most] < all {
		most = -1
	}
	for _, id := range links {
		if g := other(id); g >= 0 {
			rates[g] = 0
		}
	}
	return most
}

// rankCut adds up what a rank's transfers can use: its links to other ranks and scale-up switches; its PCIe links
// where a peer of its node is reached over them; else, behind PCIe, its NICs where
// there is another box.
func rankCut(t *topology.Topology, router *topology.Router, r int, root bool) cut {
	d := t.Ranks()[r]
	c := cut{name: t.DeviceName(d), ranks: 1, root: root}
	overPCIe := peersOverPCIe(t, router, r)
	add := func(links []topology.LinkID, total *float64) {
		for _, l := range links {
			direct := t.RankOf(t.Links()[l].From) >= 0 && t.RankOf(t.Links()[l].To) >= 0
			if m := t.Class(l).Medium; overPCIe || direct || m != topology.PCIe && m != topology.C2C {
				*total += float64(t.Rate(l))
			}
		}
	}
	add(t.Out(d), &c.out)
	add(t.In(d), &c.in)
	if !overPCIe {
		rate := networkRate(t, router, r)
		c.out += rate
		c.in += rate
	}
	return c
}

// peersOverPCIe reports whether a rank reaches some rank of its node, or is reached, over PCIe, a CPU
// or memory.
func peersOverPCIe(t *topology.Topology, router *topology.Router, r int) bool {
	if !joinsHost(t, t.Ranks()[r]) {
		return false
	}
	for _, q := range neighbours(t, r) {
		for _, pair := range [2][2]int{{r, q}, {q, r}} {
			if route, err := router.Route(pair[0], pair[1]); err == nil && route.Kind >= topology.PIX && route.Kind != topology.Net {
				return true
			}
		}
	}
	return false
}

// joinsHost reports whether a link joins a device with a PCIe switch, a CPU or memory.
func joinsHost(t *topology.Topology, d topology.DeviceID) bool {
	host := func(d topology.DeviceID) bool {
		switch t.Devices()[d].Kind {
		case topology.PCIeSwitch, topology.CPU, topology.Memory:
			return true
		}
		return false
	}
	return slices.ContainsFunc(t.Out(d), func(l topology.LinkID) bool { return host(t.Links()[l].To) }) ||
		slices.ContainsFunc(t.In(d), func(l topology.LinkID) bool { return host(t.Links()[l].From) })
}

// neighbours are the other ranks of the same node.
func neighbours(t *topology.Topology, r int) []int {
	var out []int
	for q := r - 1; q >= 0 && t.NodeOf(q) == t.NodeOf(r); q-- {
		out = append(out, q)
	}
	for q := r + 1; q < t.NumRanks() && t.NodeOf(q) == t.NodeOf(r); q++ {
		out = append(out, q)
	}
	return out
}

// networkRate is what the rank's NICs carry together, at most what its PCIe link does.
func networkRate(t *topology.Topology, router *topology.Router, r int) float64 {
	other := t.RankOfNextBox(r)
	if other < 0 {
		return 0
	}
	seen := map[topology.DeviceID]bool{}
	var total float64
	route, err := router.Route(r, other)
	if err != nil {
		return 0
	}
	for i, nic := range route.NICs {
		if i%2 == 0 && !seen[nic] { // this rank's own
			seen[nic] = true
			for _, l := range t.Out(nic) {
				if t.Class(l).Medium == topology.Network {
					total += float64(t.Rate(l))
				}
			}
		}
	}
	var pcie float64
	for _, l := range t.Out(t.Ranks()[r]) {
		if m := t.Class(l).Medium; m == topology.PCIe || m == topology.C2C {
			pcie += float64(t.Rate(l))
		}
	}
	if pcie > 0 {
		total = min(total, pcie)
	}
	return total
}
