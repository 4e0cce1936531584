package ibnet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/model/survey"
	"railyard/model/units"
)

// host is a node with the leaves of its adapters, by the adapters' names.
type host struct {
	name   string
	leaves []string
}

// Network is the fabric as leaves, spines and cores. Nodes whose adapters are at the same leaves share these.
func (f *Fabric) Network(n *survey.Network) (*survey.Network, error) {
	x := &layout{f: f, n: n, tier: map[string]int{}, rates: map[units.Rate]int{}}
	hosts := x.hosts()
	if len(hosts) == 0 {
		return nil, errors.New("no switch leads to an adapter whose name says its host, such as \"node1 mlx5_0\"")
	}
	x.tiers()
	if err := x.joined(hosts); err != nil {
		return nil, err
	}
	if err := x.group(hosts); err != nil {
		return nil, err
	}
	return n, x.levels()
}

// layout sorts a fabric into levels.
type layout struct {
	f     *Fabric
	n     *survey.Network
	tier  map[string]int // by switch: 1 for those with adapters; 0: not reached
	rates map[units.Rate]int
	sets  [][]string // leaves of each group of nodes
}

func (x *layout) note(format string, args ...any) {
	x.n.Notes = append(x.n.Notes, fmt.Sprintf(format, args...))
}

// hosts are the nodes by name, with their leaves in the order of their adapters.
func (x *layout) hosts() []host {
	type end struct{ adapter, leaf string }
	ends := map[string][]end{}
	nameless := 0
	for _, s := range x.f.Switches {
		for _, p := range s.Ports {
			name, adapter, ok := strings.Cut(p.PeerName, " ")
			switch {
			case p.Switch || strings.Contains(p.PeerName, "Aggregation Node"):
				continue
			case !ok || strings.Contains(p.PeerName, "Technologies"):
				nameless++
				continue
			}
			x.tier[s.ID] = 1
			x.rates[p.Rate]++
			ends[name] = append(ends[name], end{adapter, s.ID})
		}
	}
	if nameless > 0 {
		x.note("%d adapters do not say to which host they belong: they are left out", nameless)
	}
	var out []host
	for _, name := range slices.SortedFunc(maps.Keys(ends), survey.Natural) {
		list := ends[name]
		slices.SortStableFunc(list, func(a, b end) int { return survey.Natural(a.adapter, b.adapter) })
		h := host{name: name}
		for _, e := range list {
			h.leaves = append(h.leaves, e.leaf)
		}
		out = append(out, h)
	}
	return out
}

// tiers are how far switches are from adapters.
func (x *layout) tiers() {
	for tier := 1; ; tier++ {
		found := false
		for _, s := range x.f.Switches {
			for _, p := range s.Ports {
				if x.tier[s.ID] == tier && p.Switch && x.tier[p.Peer] == 0 {
					x.tier[p.Peer], found = tier+1, true
				}
			}
		}
		if !found {
			return
		}
	}
}

// joined is an error where some hosts cannot reach the first one over any switch.
func (x *layout) joined(hosts []host) error {
	beside := map[string][]string{} // switches by those that they are linked to, either way
	for _, s := range x.f.Switches {
		for _, p := range s.Ports {
			if p.Switch {
				beside[s.ID], beside[p.Peer] = append(beside[s.ID], p.Peer), append(beside[p.Peer], s.ID)
			}
		}
	}
	reached := map[string]bool{}
	reach := func(from ...string) {
		for len(from) > 0 {
			at := from[0]
			if from = from[1:]; !reached[at] {
				reached[at] = true
				from = append(from, beside[at]...)
			}
		}
	}
	reach(hosts[0].leaves...)
	for _, h := range hosts {
		if !slices.ContainsFunc(h.leaves, func(leaf string) bool { return reached[leaf] }) {
			return fmt.Errorf("no switch joins %s and %s: give each network's output by itself", hosts[0].name, h.name)
		}
		reach(h.leaves...)
	}
	return nil
}

// group puts nodes with the same leaves together, which all have as many adapters.
func (x *layout) group(hosts []host) error {
	adapters := map[int]int{}
	for _, h := range hosts {
		adapters[len(h.leaves)]++
	}
	usual := slices.MaxFunc(slices.Sorted(maps.Keys(adapters)), func(a, b int) int { return cmp.Compare(adapters[a], adapters[b]) })
	at := map[string]int{}
	for _, h := range hosts {
		if len(h.leaves) != usual {
			x.note("%s has %d adapters, most nodes have %d: it is left out", h.name, len(h.leaves), usual)
			continue
		}
		set := slices.Compact(slices.Sorted(slices.Values(h.leaves)))
		key := strings.Join(set, " ")
		if _, ok := at[key]; !ok {
			at[key] = len(x.sets)
			x.sets, x.n.Leaves = append(x.sets, set), append(x.n.Leaves, nil)
		}
		x.n.Leaves[at[key]] = append(x.n.Leaves[at[key]], h.name)
	}
	x.n.Adapters, x.n.Rails = usual, len(x.sets[0])
	seen := map[string]bool{}
	for i, set := range x.sets {
		if len(set) != x.n.Rails || usual%x.n.Rails != 0 {
			return fmt.Errorf("%s is at %d leaves with %d adapters, %s at %d: in a topology file all nodes are spread over as many",
				x.n.Leaves[i][0],
				len(set), usual, x.n.Leaves[0][0], x.n.Rails)
		}
		for _, leaf := range set {
			if seen[leaf] {
				return fmt.Errorf("leaf %s serves nodes that share other leaves with other nodes: %s and others", leaf, x.n.Leaves[i][0])
			}
			seen[leaf] = true
		}
	}
	return x.rate()
}

// rate is that of most ports.
func (x *layout) rate() error {
	usual := slices.MaxFunc(slices.Sorted(maps.Keys(x.rates)), func(a, b units.Rate) int { return cmp.Compare(x.rates[a], x.rates[b]) })
	if len(x.rates) > 1 {
		x.note("ports run at %d speeds: all are drawn with that of most, %v", len(x.rates), usual)
	}
	x.n.Rate, x.n.RateSource = usual, "the speed that the ports report"
	return nil
}

// levels are those above the nodes.
func (x *layout) levels() error {
	sizes := make([]int, len(x.n.Leaves))
	for i, l := range x.n.Leaves {
		sizes[i] = len(l)
	}
	x.n.Levels = []survey.Level{{Group: survey.Groups(sizes)}}
	top := 0
	for _, tier := range x.tier {
		top = max(top, tier)
	}
	if top == 1 && len(x.sets) > 1 {
		return fmt.Errorf("leaves %s and %s are linked to one another, with no switch above them: a topology file has trees of switches",
			strings.Join(x.sets[0], " "), strings.Join(x.sets[1], " "))
	}
	if top > 2 {
		x.note("%d tiers of switches: what is above the spines is drawn as part of these", top)
	}
	if top > 1 {
		up, spines := x.uplinks(), x.count(2)
		if spines > up {
			x.note("%d spines, of which a leaf reaches %d: as many are drawn", spines, up)
		}
		x.n.Levels[0].Uplinks = up
		x.n.Levels = append(x.n.Levels, survey.Level{Count: min(spines, up)})
	}
	return nil
}

// uplinks are the links of most leaves to the switches above.
func (x *layout) uplinks() int {
	counts := map[int]int{}
	for _, s := range x.f.Switches {
		up := 0
		for _, p := range s.Ports {
			if p.Switch && x.tier[p.Peer] == 2 {
				up++
			}
		}
		if x.tier[s.ID] == 1 {
			counts[up]++
		}
	}
	usual := slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b int) int { return cmp.Compare(counts[a], counts[b]) })
	if len(counts) > 1 {
		x.note("leaves have from %d to %d uplinks: all are drawn with those of most, %d", slices.Min(slices.Collect(maps.Keys(counts))),
			slices.Max(slices.Collect(maps.Keys(counts))), usual)
	}
	return max(usual, 1)
}

func (x *layout) count(tier int) (n int) {
	for _, t := range x.tier {
		if t == tier {
			n++
		}
	}
	return n
}
