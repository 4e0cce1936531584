package topology

import "railyard/model/symmetry"

// linkClasses are the classes of the fabrics' links, from the first one on, that no route tells apart: a transfer is divided at each switch
// by the rates of the links that lead on, so those carry as much of it that lead from and to switches with the same surroundings, however
// far one looks, all the way to the devices of nodes, of which each stands for itself.
//
// Grohe, Kersting, Mladenov, Selman, "Dimension reduction via colour refinement", 2014.
func (t *Topology) linkClasses() symmetry.Classes {
	type key struct{}
	return Once(t, key{}, func() symmetry.Classes {
		first, links := t.firstFabricLink(), t.links[t.firstFabricLink():]
		label := make([]uint64, len(links))
		for i, l := range links {
			label[i] = symmetry.Mix(symmetry.Mix(uint64(l.Class), uint64(l.Count)), uint64(t.Rate(first+LinkID(i))))
		}
		colour := make([]uint64, len(t.devices))
		for d, x := range t.devices {
			if colour[d] = uint64(d); DeviceID(d) >= t.firstSwitch() {
				colour[d] = symmetry.Mix(uint64(x.Kind), uint64(x.Model))
			}
		}
		for before, now := 0, len(symmetry.Number(colour).First); now > before; {
			next := make([]uint64, len(colour))
			for i, l := range links {
				next[l.From] += symmetry.Mix(symmetry.Mix(1, label[i]), colour[l.To])
				next[l.To] += symmetry.Mix(symmetry.Mix(2, label[i]), colour[l.From])
			}
			for d := t.firstSwitch(); int(d) < len(next); d++ {
				colour[d] = symmetry.Mix(colour[d], next[d])
			}
			before, now = now, len(symmetry.Number(colour).First)
		}
		for i, l := range links {
			label[i] = symmetry.Mix(label[i], symmetry.Mix(colour[l.From], colour[l.To]))
		}
		return symmetry.Number(label)
	})
}
