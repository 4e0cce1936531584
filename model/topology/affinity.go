package topology

import "slices"

// affinity gives the ranks that NICs are said to serve those NICs.
func (x *shaper) affinity() {
	x.s.nics = make([][]int32, len(x.s.devices))
	for _, d := range x.serves {
		nics, gpus := x.lookup(d.pos, "serves", d.ids), x.lookup(d.pos, "serves", d.serves)
		if nics == nil || gpus == nil {
			continue
		}
		if !divides(len(nics), len(gpus)) {
			x.AddAt(d.pos, "device %s serves %s: one side must be a multiple of the other", d.ids, d.serves)
			continue
		}
		for i, n := 0, max(len(nics), len(gpus)); i < n; i++ {
			g := gpus[i*len(gpus)/n]
			x.s.nics[g] = append(x.s.nics[g], nics[i*len(nics)/n])
		}
	}
}

// nearest gives the ranks that no NIC serves all those NICs that are the fewest hops
// away over PCIe switches and CPUs: a transfer is striped over them.
func (x *shaper) nearest() {
	hasNIC := slices.ContainsFunc(x.s.devices, func(d Device) bool { return d.Kind == NIC })
	search := nicSearch{s: x.s, seen: make([]int32, len(x.s.devices))}
	for i, g := range x.s.ranks {
		if !hasNIC || x.s.nics[g] != nil {
			continue
		}
		search.round = int32(i) + 1
		found, steps := search.from(g)
		x.s.nics[g] = found
		if !x.spend(x.t.pos, steps) {
			return
		}
	}
}

// nicSearch is a breadth-first search that is repeated from many ranks.
type nicSearch struct {
	s     *shape
	seen  []int32 // round in which a device was met
	round int32
}

// from finds the NICs nearest to g, and says how many links it looked at.
func (n *nicSearch) from(g int32) (found []int32, steps int) {
	n.seen[g] = n.round
	for frontier := []int32{g}; len(frontier) > 0 && len(found) == 0; {
		var next []int32
		for _, v := range frontier {
			steps += len(n.s.out[v])
			for _, l := range n.s.out[v] {
				to := int32(n.s.links[l].To)
				k := n.s.devices[to].Kind
				if n.seen[to] == n.round || k.HoldsRank() || k == NVSwitch {
					continue
				}
				n.seen[to] = n.round
				next = append(next, to)
				if k == NIC {
					found = append(found, to)
				}
			}
		}
		frontier = next
	}
	return found, steps
}
