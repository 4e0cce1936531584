package topology

import "slices"

// usableNICs says which devices of a node are NICs that still have a link each way
// into a fabric; where no NIC of the node had one, all are.
func (x *degrader) usableNICs(n int) []bool {
	t := x.t
	first, end := x.t.span(n)
	out := make([]bool, end-first)
	joined := false
	for d := first; d < end; d++ {
		var left [2]bool // a link out, one in
		for i, back := range []bool{false, true} {
			for l, other := range t.step(d, back) {
				if t.devices[d].Kind == NIC && t.devices[other].Node < 0 {
					joined = joined || !back
					left[i] = left[i] || !x.linkRemoved(l)
				}
			}
		}
		out[d-first] = left[0] && left[1]
	}
	if !joined {
		for d := first; d < end; d++ {
			out[d-first] = t.devices[d].Kind == NIC && !x.lost[d]
		}
	}
	return out
}

// shapeLeft is a node's shape without what it has lost.
func (x *degrader) shapeLeft(n int) *shape {
	s, usable := x.t.shapes[x.t.nodes[n].shape], x.usableNICs(n)
	first, end := x.t.span(n)
	local := make([]int32, end-first) // numbers in the new shape; −1: lost
	out := &shape{template: s.template}
	var use []bool
	for i, d := range s.devices {
		if local[i] = -1; x.lost[first+DeviceID(i)] {
			continue
		}
		local[i] = int32(len(out.devices))
		d.Local, d.noP2P = local[i], d.noP2P || x.staged[first+DeviceID(i)]
		out.devices = append(out.devices, d)
		use = append(use, usable[i])
		if d.Kind.HoldsRank() {
			out.ranks = append(out.ranks, d.Local)
		}
	}
	links := x.t.nodes[n].firstLink
	out.graph = newGraph(len(out.devices), x.copyLinks(nil, links, links+LinkID(len(s.links)),
		func(d DeviceID) DeviceID { return DeviceID(local[d-first]) }))
	for i := range out.devices {
		nics := &out.devices[i].nics
		if len(*nics) == 0 {
			continue
		}
		var own []int32
		for _, nic := range *nics {
			if local[nic] >= 0 {
				own = append(own, local[nic])
			}
		}
		*nics = out.nicsLeft(int32(i), own, use)
	}
	return out
}

// nicsLeft are those of a rank's own NICs that it can use; where it has lost all of
// them, the nearest that it can use.
func (s *shape) nicsLeft(g int32, own []int32, use []bool) []int32 {
	up, down := newHostSearch(s), newHostSearch(s)
	up.from(DeviceID(g), false, false)
	down.from(DeviceID(g), true, false)
	useless := func(nic int32) bool { return !use[nic] || up.dist[nic] < 0 || down.dist[nic] < 0 }
	if own = slices.DeleteFunc(own, useless); len(own) > 0 {
		return own
	}
	var out []int32
	for i := range s.devices {
		nic := int32(i)
		if useless(nic) || len(out) > 0 && up.dist[nic] > up.dist[out[0]] {
			continue
		}
		if len(out) > 0 && up.dist[nic] < up.dist[out[0]] {
			out = out[:0]
		}
		out = append(out, nic)
	}
	return out
}
