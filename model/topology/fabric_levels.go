package topology

import (
	"cmp"
	"railyard/model/symmetry"
	"railyard/model/units"
)

// firstLevel joins the endpoints to leaves: one leaf (or planes of them) for each rail
// of each group of nodes; without rails and groups, a leaf fills up in node order.
func (x *fabricBuilder) firstLevel(ends []endpoint) []switchGroup {
	l := &x.spec.Levels[0]
	class := x.classes[x.spec.Class]
	down, _ := x.ports(l, true)
	unit := x.unitOf(ends, l, down)
	if top := x.groupCount(ends, unit) == 1 || len(x.spec.Levels) == 1; !top {
		down, _ = x.ports(l, false)
		unit = x.unitOf(ends, l, down)
	}
	if x.Total() > 0 {
		return nil
	}
	x.setTier(l.Kind.String(), ends, unit)
	var groups []switchGroup
	var index symmetry.Numbering[[2]int]
	uplink := map[int]int{} // per node: endpoint links placed so far
	for _, e := range ends {
		key := [2]int{unit(e), e.index % x.spec.Rails}
		g := index.Of(key)
		if g == len(groups) {
			switches := x.newSwitches(l, max(l.Count, l.Planes))
			groups = append(groups, switchGroup{unit: key[0], rail: key[1], switches: switches})
			for range switches {
				x.info.switchUnit = append(x.info.switchUnit, int32(key[0]))
			}
		}
		if x.Total() > 0 {
			return nil
		}
		if !x.linksFit(len(groups[g].switches)) {
			return nil
		}
		x.attach(e, groups[g].switches, class, l.Count > 0, uplink)
	}
	return groups
}

// attach joins an endpoint to every plane, or, where the level has a fixed count of
// switches, spreads its links over them in turn.
func (x *fabricBuilder) attach(e endpoint, switches []DeviceID, class int32, spread bool, placed map[int]int) {
	if spread {
		x.connectInTurn(e.device, switches, placed[e.node], x.linksOf(e), class)
		placed[e.node] += x.linksOf(e)
		return
	}
	for _, s := range switches {
		x.join(e.device, s, class, x.linksOf(e))
	}
}

// unitOf says which group of nodes an endpoint belongs to.
func (x *fabricBuilder) unitOf(ends []endpoint, l *levelSpec, down int) func(endpoint) int {
	group := sizes(l.Group)
	switch {
	case group != nil:
	case down == 0:
		group = sizes{len(x.t.nodes)}
	case x.spec.Rails == 1:
		return x.fillInOrder(ends, down)
	default:
		perNode := 0 // ports that one node takes on a rail's leaf, at most
		count := map[[2]int]int{}
		for _, e := range ends {
			k := [2]int{e.node, e.index % x.spec.Rails}
			count[k] += x.linksOf(e)
			perNode = max(perNode, count[k])
		}
		group = sizes{max(1, down/perNode)}
	}
	stride := l.Stride
	return func(e endpoint) int { return e.node%stride + stride*group.of(e.node/stride) }
}

func (x *fabricBuilder) fillInOrder(ends []endpoint, down int) func(endpoint) int {
	unit := make(map[DeviceID]int, len(ends))
	leaf, used := 0, 0
	for _, e := range ends {
		if used+x.linksOf(e) > down && used > 0 {
			leaf, used = leaf+1, 0
		}
		used += x.linksOf(e)
		unit[e.device] = leaf
	}
	return func(e endpoint) int { return unit[e.device] }
}

func (x *fabricBuilder) groupCount(ends []endpoint, unit func(endpoint) int) int {
	seen := map[[2]int]bool{}
	for _, e := range ends {
		seen[[2]int{unit(e), e.index % x.spec.Rails}] = true
	}
	return len(seen)
}

// setTier remembers which nodes share first-level switches.
func (x *fabricBuilder) setTier(name string, ends []endpoint, unit func(endpoint) int) {
	of := make([]int32, len(x.t.nodes))
	for i := len(ends) - 1; i >= 0; i-- { // the first endpoint of a node decides
		of[ends[i].node] = int32(unit(ends[i]))
	}
	x.info.nodeUnit, x.info.levels = of, []tierLevel{{name, sizes{1}}}
}

// nextLevel joins the groups of the level below, unless there is nothing to join.
func (x *fabricBuilder) nextLevel(i int, below []switchGroup) []switchGroup {
	if len(below) == 1 {
		return below
	}
	l, lower := &x.spec.Levels[i], &x.spec.Levels[i-1]
	members := map[[2]int][]switchGroup{}
	var order [][2]int
	for _, g := range below {
		key := [2]int{0, 0}
		if l.Group != nil {
			key[0] = sizes(l.Group).of(g.unit)
		}
		if l.Scope == "rail" {
			key[1] = g.rail
		}
		if members[key] == nil {
			order = append(order, key)
		}
		members[key] = append(members[key], g)
	}
	if len(order) == len(below) {
		if i+1 < len(x.spec.Levels) {
			x.spec.Levels[i] = *lower // skipped: the next level joins what this one would not
		}
		return below
	}
	down, _ := x.ports(l, len(order) == 1 || i == len(x.spec.Levels)-1)
	up := x.uplinks(lower, below)
	class := x.classes[cmp.Or(lower.Uplink, x.spec.Class)]
	count := x.upperSwitches(l, members, up, down)
	var out []switchGroup
	for _, key := range order {
		var switches []DeviceID
		for _, g := range members[key] {
			switches = append(switches, g.switches...)
		}
		upper := x.newSwitches(l, count[key])
		if x.Total() > 0 {
			return nil
		}
		// One to each switch above where the model sets no ports, or as the file says.
		if up := cmp.Or(up, len(upper)); x.linksFit(len(switches) * min(up, len(upper))) {
			x.spread(switches, upper, up, class)
		}
		out = append(out, switchGroup{unit: key[0], rail: key[1], switches: upper})
	}
	if l.Group != nil { // its groups are a tier
		x.info.levels = append(x.info.levels, tierLevel{l.Kind.String(), l.Group})
	}
	return out
}

// upperSwitches is how many switches the uplinks of each group of lower ones need, by group. So
// that are all equivalent, a group has as many above it as the largest has, and where a lower switch
// does not reach them all, each group loads them evenly: else some pairs would have none in
// common. Neither where it took twice as many.
func (x *fabricBuilder) upperSwitches(l *levelSpec, groups map[[2]int][]switchGroup, up, down int) map[[2]int]int {
	most, common := 1, 0 // what the numbers of uplinks of all lower groups have in common
	out := map[[2]int]int{}
	for key, lower := range groups {
		links := 0
		for _, g := range lower {
			links += len(g.switches) * up
			common = units.GCD(common, len(g.switches)*up)
		}
		switch {
		case l.Count > 0:
			out[key] = l.Count
		case down > 0:
			out[key] = (links + down - 1) / down
		}
		out[key] = max(out[key], 1)
		most = max(most, out[key])
	}
	even := most
	for even > up && up > 0 && common%even != 0 && even < 2*most {
		even++
	}
	for key, n := range out {
		switch {
		case l.Count > 0 || 2*n <= most:
		case even < 2*most:
			out[key] = even
		default:
			out[key] = most
		}
	}
	return out
}
