package topology

import "slices"

// Reaches reports whether there is a route from one rank to another, as Route would find.
func (r *Router) Reaches(src, dst int) bool { return r.Reach(src, dst) == nil }

// Reach is the error that Route would have from one rank to another. Between ranks whose NICs are all on one connected network it need not
// look for the route, and on scale-up switches only for the part of it that alike ranks share: it can be asked for millions of pairs.
func (r *Router) Reach(src, dst int) error {
	if src == dst {
		return nil
	}
	if a, b := r.network(src), r.network(dst); a != noNetwork && a == b && r.t.NodeOf(src) != r.t.NodeOf(dst) {
		return nil
	}
	a, b := r.t.ranks[src], r.t.ranks[dst]
	if r.t.devices[a].Node == r.t.devices[b].Node {
		if c, known := r.inNode[r.pairIn(a, b)]; known && c.ok {
			return nil
		}
	} else if _, _, ok := r.alikeOverSwitches(a, b); ok {
		return nil
	}
	_, err := r.Route(src, dst)
	return err
}

// ReachesAll reports whether it is easily seen that all ranks reach one another: over one
// network, and inside each node.
func (r *Router) ReachesAll() bool {
	for rank := range r.t.ranks {
		if r.network(rank) == noNetwork || r.network(rank) != r.network(0) {
			return false
		}
	}
	known := map[NodeShape]bool{}
	for n, node := range r.t.nodes {
		if known[r.t.Shape(n)] {
			continue
		}
		known[r.t.Shape(n)] = true
		for a := range node.ranks {
			for b := range node.ranks {
				if !r.Reaches(int(node.firstRank+a), int(node.firstRank+b)) {
					return false
				}
			}
		}
	}
	return true
}

// UsedNICs are the adapters that routes between nodes go through: those that serve ranks,
// where all of these are on one network. nil: others of a node may be taken as well.
func (r *Router) UsedNICs() map[DeviceID]bool {
	used := map[DeviceID]bool{}
	for rank, d := range r.t.ranks {
		if n := r.network(rank); n == noNetwork || n != r.network(0) || len(r.nicsOf(d)) == 0 {
			return nil
		}
		for _, nic := range r.nicsOf(d) {
			used[nic] = true
		}
	}
	return used
}

func (r *Router) pairIn(a, b DeviceID) nodePair {
	da, db := r.t.devices[a], r.t.devices[b]
	return nodePair{r.t.nodes[da.Node].shape, da.Local, db.Local}
}

// noNetwork is the network of ranks on none, or on several.
const noNetwork = -1

// network is the connected part of the network's switches that all NICs of a rank send
// to and hear from, or the rank itself where it sits on switches without NICs: those are a network of their own.
func (r *Router) network(rank int) int32 {
	if r.networks == nil {
		r.findNetworks()
	}
	return r.networks[rank]
}

func (r *Router) findNetworks() {
	part := r.networkParts()
	r.networks = make([]int32, len(r.t.ranks))
	for rank, d := range r.t.ranks {
		r.networks[rank] = r.networkOf(d, part)
	}
}

// networkParts numbers the connected parts of the switches outside of nodes, from the number of
// devices on; −1 is all else.
func (r *Router) networkParts() []int32 {
	part := Components(len(r.t.devices), r.t.links, func(d DeviceID) bool {
		return r.t.devices[d].Kind.fabricKind() && r.t.devices[d].Node < 0
	})
	for d, p := range part {
		if p >= 0 {
			part[d] += int32(len(part))
		}
	}
	return part
}

// addParts adds the parts that a device has links to (back: from) to a list that lacks them.
func (t *Topology) addParts(list []int32, d DeviceID, back bool, part []int32) []int32 {
	for _, end := range t.step(d, back) {
		if p := part[end]; p >= 0 && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func (r *Router) networkOf(d DeviceID, part []int32) int32 {
	var all []int32
	ends, apart := r.nicsOf(d), int32(0)
	if len(ends) == 0 {
		ends, apart = []DeviceID{d}, int32(len(part))
	}
	for _, end := range ends {
		to, from := r.t.addParts(nil, end, false, part), r.t.addParts(nil, end, true, part)
		if len(to) == 0 || len(from) == 0 || end != d && (!r.onHostPath(d, end) || !r.onHostPath(end, d)) {
			return noNetwork
		}
		all = append(append(all, to...), from...)
	}
	if slices.Min(all) != slices.Max(all) {
		return noNetwork
	}
	return all[0] + apart
}
