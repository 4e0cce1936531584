package topology

import "railyard/model/symmetry"

// linkClasses are the classes of the fabrics' links, from the first one on, that no route tells apart: a transfer is divided at each switch
// by the rates of the links that lead on, so those carry as much of it that lead from and to switches with the same surroundings, however
// far one looks, all the way to the devices of nodes, of which each stands for itself.
func (t *Topology) linkClasses() symmetry.Classes {
	type key struct{}
	return Once(t, key{}, func() symmetry.Classes {
		label := t.linkLabels()
		colour := t.refined(label, func(d DeviceID) uint64 { return uint64(d) })
		for i, l := range t.links[t.firstFabricLink():] {
			label[i] = symmetry.Mix(label[i], symmetry.Mix(colour[l.From], colour[l.To]))
		}
		return symmetry.Number(label)
	})
}

// surroundings are the nodes' colours: equal where nodes are the same in themselves and see the same around them in the fabrics, however
// far one looks. A link counts by its place among those of its lower end, too, as that is how permutations of nodes move it on (see
// extension).
func (t *Topology) surroundings() []uint64 {
	type key struct{}
	return Once(t, key{}, func() []uint64 {
		label := t.linkLabels()
		for d := range t.devices {
			for _, back := range []bool{false, true} {
				for k, l := range t.up(DeviceID(d), back) {
					x := &label[l-t.firstFabricLink()]
					*x = symmetry.Mix(*x, uint64(k))
				}
			}
		}
		colour := t.refined(label, func(d DeviceID) uint64 {
			n := &t.nodes[t.devices[d].Node]
			return symmetry.Mix(uint64(n.shape), uint64(d-n.firstDevice))
		})
		out := make([]uint64, len(t.nodes))
		for d := range t.firstSwitch() {
			n := t.devices[d].Node
			out[n] = symmetry.Mix(out[n], colour[d])
		}
		return out
	})
}

// linkLabels are what the fabrics' links are in themselves.
func (t *Topology) linkLabels() []uint64 {
	first, links := t.firstFabricLink(), t.links[t.firstFabricLink():]
	label := make([]uint64, len(links))
	for i, l := range links {
		label[i] = symmetry.Mix(symmetry.Mix(uint64(l.Class), uint64(l.Count)), uint64(t.Rate(first+LinkID(i))))
	}
	return label
}

// refined are the devices' colours, by their fabrics' links and what is beyond, until no more are told apart; from those that devices of
// nodes have at first.
//
// Grohe, Kersting, Mladenov, Selman, "Dimension reduction via colour refinement", 2014.
func (t *Topology) refined(label []uint64, ofNode func(DeviceID) uint64) []uint64 {
	colour := make([]uint64, len(t.devices))
	for d, x := range t.devices {
		if DeviceID(d) < t.firstSwitch() {
			colour[d] = ofNode(DeviceID(d))
		} else {
			colour[d] = symmetry.Mix(uint64(x.Kind), uint64(x.Model))
		}
	}
	for before, now := 0, len(symmetry.Number(colour).First); now > before; {
		next := make([]uint64, len(colour))
		for i, l := range t.links[t.firstFabricLink():] {
			next[l.From] += symmetry.Mix(symmetry.Mix(1, label[i]), colour[l.To])
			next[l.To] += symmetry.Mix(symmetry.Mix(2, label[i]), colour[l.From])
		}
		for d := range next {
			colour[d] = symmetry.Mix(colour[d], next[d])
		}
		before, now = now, len(symmetry.Number(colour).First)
	}
	return colour
}
