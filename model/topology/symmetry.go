package topology

import (
	"encoding/binary"
	"slices"

	"railyard/model/symmetry"
)

// Symmetry is a group of automorphisms of a topology that move whole nodes, each node
// onto one of the same type, device by device. Routes, which depend on the graph alone,
// go along with it; so do loads. Links that no route tells apart are of one orbit, too.
type Symmetry struct {
	symmetry.Group // of nodes
	t              *Topology
	links          symmetry.Classes // of the fabrics, from the first one on
}

// NewSymmetry checks that permutations of the nodes extend to automorphisms of devices and
// links, and finds the orbits of links. ok is false where one does not extend, or where the
// way that is tried here to extend it fails.
//
// Complexity: O(generators × fabric links).
func NewSymmetry(t *Topology, nodes symmetry.Group) (s *Symmetry, ok bool) {
	s = &Symmetry{Group: nodes, t: t}
	for n := range t.nodes {
		first, _ := s.Orbit(n)
		if a, b := &t.nodes[n], &t.nodes[first]; a.shape != b.shape || a.ranks != b.ranks {
			return nil, false
		}
	}
	same := t.linkClasses()
	x := &extension{t: t, orbits: symmetry.NewOrbits(len(same.Of))}
	for _, p := range s.Generators() {
		if !x.extend(p) {
			return nil, false
		}
	}
	for l, class := range same.Of {
		x.orbits.Join(int(same.First[class]), l)
	}
	s.links = x.orbits.Classes()
	return s, true
}

// Standing moves no node: links alone are of one orbit that no route tells apart.
func (t *Topology) Standing() *Symmetry {
	type key struct{}
	return Once(t, key{}, func() *Symmetry {
		s, _ := NewSymmetry(t, symmetry.Digits{})
		return s
	})
}

// NodeTree are the nodes in the groups of their tiers, symmetric where they are so in
// themselves and in what label says.
func (t *Topology) NodeTree(label func(node int) int) *symmetry.Tree {
	return t.AxisTree([]int32{int32(len(t.nodes))}, symmetry.InPlace(len(t.nodes)), 0, nil, label)
}

// AxisTree is the same of the coordinates along an axis of a grid of the nodes, where place says which one each node has (see
// symmetry.NewProduct). Coordinates may be in other groups within these, innermost first.
func (t *Topology) AxisTree(dims, place []int32, axis int, inner [][]int32, label func(node int) int) *symmetry.Tree {
	d := symmetry.Radix(dims)[axis]
	outlines, first, colour := make([][]byte, d.Size), make([]int, d.Size), t.surroundings()
	for n := len(t.nodes) - 1; n >= 0; n-- {
		c := d.Of(place[n])
		first[c] = n
		b := &outlines[c]
		*b = binary.AppendVarint(binary.AppendVarint(*b, int64(place[n]-c*d.Stride)), int64(label(n)))
		*b = binary.LittleEndian.AppendUint64(*b, colour[n])
	}
	labels := make([]string, d.Size)
	for c := range labels {
		labels[c] = string(outlines[c])
	}
	tiers := inner
	for _, tier := range t.tiers[1:] {
		groups := make([]int32, d.Size)
		for c := range groups {
			groups[c] = tier.Of[t.nodes[first[c]].firstRank]
		}
		tiers = append(tiers[:len(tiers):len(tiers)], groups)
	}
	return symmetry.NewTree(symmetry.Number(labels).Of, tiers)
}

// firstFabricLink is the first link that belongs to no node.
func (t *Topology) firstFabricLink() LinkID {
	n := len(t.nodes)
	return t.nodes[n-1].firstLink + LinkID(len(t.shapes[t.nodes[n-1].shape].links))
}

// LinkOrbit is the least link of a link's orbit, and how many links that has.
func (s *Symmetry) LinkOrbit(l LinkID) (LinkID, int) {
	if first := s.t.firstFabricLink(); l >= first {
		orbit := s.links.Of[l-first]
		return first + LinkID(s.links.First[orbit]), int(s.links.Size[orbit])
	}
	n := s.t.devices[s.t.links[l].From].Node
	k, size := s.Orbit(int(n))
	return s.t.nodes[k].firstLink + l - s.t.nodes[n].firstLink, size
}

// extend extends a permutation of nodes to the fabrics' switches, from below: where the
// device at a link's lower end goes decides where its switch goes. All links then have
// to have an image.
func (x *extension) extend(node func(int) int) bool {
	t := x.t
	x.image = slices.Repeat([]DeviceID{-1}, len(t.devices)-int(t.firstSwitch()))
	for n := range t.nodes {
		from, to := t.nodes[n].firstDevice, t.nodes[node(n)].firstDevice
		for local := range t.shapes[t.nodes[n].shape].devices {
			if !x.place(from+DeviceID(local), to+DeviceID(local)) {
				return false
			}
		}
	}
	for d := t.firstSwitch(); int(d) < len(t.devices); d++ { // lower levels come first
		to := x.of(d)
		if to < 0 || t.devices[d].Kind != t.devices[to].Kind || t.devices[d].Model != t.devices[to].Model || !x.place(d, to) {
			return false
		}
	}
	return x.isPermutation()
}

// firstSwitch is the first device that belongs to no node.
func (t *Topology) firstSwitch() DeviceID {
	n := len(t.nodes)
	return t.nodes[n-1].firstDevice + DeviceID(len(t.shapes[t.nodes[n-1].shape].devices))
}

// up are a device's links to the fabric switches of the next level (back: those from there):
// those of switches that were made after it. All of them come behind its other links.
func (t *Topology) up(d DeviceID, back bool) []LinkID {
	links := t.at(d, back)
	i, _ := slices.BinarySearchFunc(links, max(d, t.firstSwitch()-1), func(l LinkID, d DeviceID) int {
		if t.end(l, back) > d {
			return 1
		}
		return -1
	})
	return links[i:]
}

// extension is where one permutation sends the switches, and the links that permutations have joined.
type extension struct {
	t      *Topology
	orbits *symmetry.Orbits // of the fabrics' links
	image  []DeviceID       // by switch, −1 while unknown
}

func (x *extension) of(d DeviceID) DeviceID { return x.image[d-x.t.firstSwitch()] }

// place sends d to e: its links up, in order, to those of e. Where both are joined to
// the same switches, those stay where they are.
func (x *extension) place(d, e DeviceID) bool {
	t := x.t
	for _, back := range []bool{false, true} {
		from, to := t.up(d, back), t.up(e, back)
		if len(from) != len(to) || len(from) != len(t.up(d, !back)) {
			return false
		}
		for k, l := range from {
			a, b := t.links[l], t.links[to[k]]
			if a.Class != b.Class || a.Count != b.Count || !x.send(t.end(l, back), t.end(to[k], back)) {
				return false
			}
			x.orbits.Join(int(l-t.firstFabricLink()), int(to[k]-t.firstFabricLink()))
		}
	}
	return true
}

// send notes that switch a goes to b; false where it already goes elsewhere.
func (x *extension) send(a, b DeviceID) bool {
	at := &x.image[a-x.t.firstSwitch()]
	if *at < 0 {
		*at = b
	}
	return *at == b
}

func (x *extension) isPermutation() bool {
	hit := make([]bool, len(x.image))
	first := x.t.firstSwitch()
	for _, d := range x.image {
		if d < first || hit[d-first] {
			return false
		}
		hit[d-first] = true
	}
	return true
}
