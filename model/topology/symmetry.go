package topology

import "slices"

// Symmetry is a group of automorphisms of a topology that move whole nodes, each node
// onto one of the same type, device by device. Routes, which depend on the graph alone,
// go along with it; so do loads.
type Symmetry struct {
	t       *Topology
	of      []int32  // by node: its orbit
	first   []int32  // by orbit of nodes: the first of them
	members []int32  // the same: how many there are
	parent  []LinkID // of the fabrics' links: orbits as trees, the least link as root
	size    []int32  // by root
}

// NewSymmetry checks that each permutation of the nodes, which together have to be
// transitive, extends to an automorphism of devices and links, and finds the orbits of
// links under the group that they generate. ok is false where one does not extend, or
// where the way that is tried here to extend it fails.
//
// Complexity: O(permutations × fabric links).
func NewSymmetry(t *Topology, permutations []func(int) int) (s *Symmetry, ok bool) {
	for i := range t.nodes {
		if t.nodes[i].shape != t.nodes[0].shape || t.nodes[i].ranks != t.nodes[0].ranks {
			return nil, false
		}
	}
	s = newSymmetry(t, make([]int32, len(t.nodes)))
	for _, p := range permutations {
		if !s.extend(p) {
			return nil, false
		}
	}
	s.count()
	return s, true
}

// newSymmetry has the orbits of nodes, and of links none but each by itself.
func newSymmetry(t *Topology, of []int32) *Symmetry {
	first := t.firstFabricLink()
	s := &Symmetry{t: t, of: of, parent: make([]LinkID, len(t.links)-int(first)), size: make([]int32, len(t.links)-int(first))}
	for i := range s.parent {
		s.parent[i] = first + LinkID(i)
	}
	s.members = make([]int32, slices.Max(of)+1)
	s.first = slices.Repeat([]int32{-1}, len(s.members))
	for n, k := range of {
		if s.members[k]++; s.first[k] < 0 {
			s.first[k] = int32(n)
		}
	}
	return s
}

// count finds the sizes of the orbits of links.
func (s *Symmetry) count() {
	first := s.t.firstFabricLink()
	for i := range s.parent {
		s.size[s.root(first+LinkID(i))-first]++
	}
}

// Turn moves every node one on in its group of size nodes, neighbours in which are step
// nodes apart.
func Turn(size, step int) func(node int) int {
	return func(n int) int {
		if n/step%size == size-1 {
			return n - (size-1)*step
		}
		return n + step
	}
}

// firstFabricLink is the first link that belongs to no node.
func (t *Topology) firstFabricLink() LinkID {
	n := len(t.nodes)
	return t.nodes[n-1].firstLink + LinkID(len(t.shapes[t.nodes[n-1].shape].links))
}

// Orbit is the least link of a link's orbit, and how many links that has.
func (s *Symmetry) Orbit(l LinkID) (LinkID, int) {
	if first := s.t.firstFabricLink(); l >= first {
		r := s.root(l)
		return r, int(s.size[r-first])
	}
	n := s.t.devices[s.t.links[l].From].Node
	k := s.of[n]
	return s.t.nodes[s.first[k]].firstLink + l - s.t.nodes[n].firstLink, int(s.members[k])
}

func (s *Symmetry) root(l LinkID) LinkID {
	first := s.t.firstFabricLink()
	for s.parent[l-first] != l {
		up := &s.parent[l-first]
		*up = s.parent[*up-first] // halve the path
		l = *up
	}
	return l
}

// join makes one orbit of two.
func (s *Symmetry) join(a, b LinkID) {
	a, b = s.root(a), s.root(b)
	if a != b {
		s.parent[max(a, b)-s.t.firstFabricLink()] = min(a, b)
	}
}

// extend extends a permutation of nodes to the fabrics' switches, from below: where the
// device at a link's lower end goes decides where its switch goes. All links then have
// to have an image.
func (s *Symmetry) extend(node func(int) int) bool {
	x := &extension{s: s, image: make([]DeviceID, len(s.t.devices)-int(s.t.firstSwitch()))}
	for i := range x.image {
		x.image[i] = -1
	}
	ends := make([][]int32, len(s.first)) // by orbit of nodes: local numbers of devices that have links to a fabric
	for k, n := range s.first {
		for local := range s.t.shapes[s.t.nodes[n].shape].devices {
			if len(s.t.up(s.t.nodes[n].firstDevice+DeviceID(local), s.t.out)) > 0 {
				ends[k] = append(ends[k], int32(local))
			}
		}
	}
	for n := range s.t.nodes {
		for _, local := range ends[s.of[n]] {
			if !x.place(s.t.nodes[n].firstDevice+DeviceID(local), s.t.nodes[node(n)].firstDevice+DeviceID(local)) {
				return false
			}
		}
	}
	for d := s.t.firstSwitch(); int(d) < len(s.t.devices); d++ { // lower levels come first
		to := x.of(d)
		if to < 0 || s.t.devices[d].Kind != s.t.devices[to].Kind || s.t.devices[d].Model != s.t.devices[to].Model || !x.place(d, to) {
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

// up are a device's links to the fabric switches of the next level: those to switches
// that were made after it. All of them come behind its other links.
func (t *Topology) up(d DeviceID, a adjacency) []LinkID {
	links := a.of(d)
	i, _ := slices.BinarySearchFunc(links, max(d, t.firstSwitch()-1), func(l LinkID, d DeviceID) int {
		if t.otherEnd(l, a) > d {
			return 1
		}
		return -1
	})
	return links[i:]
}

func (t *Topology) otherEnd(l LinkID, a adjacency) DeviceID {
	if &a.start[0] == &t.out.start[0] {
		return t.links[l].To
	}
	return t.links[l].From
}

// extension is where one permutation sends the switches.
type extension struct {
	s     *Symmetry
	image []DeviceID // by switch, −1 while unknown
}

func (x *extension) of(d DeviceID) DeviceID { return x.image[d-x.s.t.firstSwitch()] }

// place sends d to e: its links up, in order, to those of e. Where both are joined to
// the same switches, those stay where they are.
func (x *extension) place(d, e DeviceID) bool {
	t := x.s.t
	from, to := t.up(d, t.out), t.up(e, t.out)
	back, backTo := t.up(d, t.in), t.up(e, t.in)
	if len(from) != len(to) || len(back) != len(from) || len(backTo) != len(from) {
		return false
	}
	for k, l := range from {
		m := to[k]
		a, b := t.links[l], t.links[m]
		if a.Class != b.Class || a.Count != b.Count || !x.send(a.To, b.To) {
			return false
		}
		r, q := back[k], backTo[k]
		a, b = t.links[r], t.links[q]
		if a.Class != b.Class || a.Count != b.Count || !x.send(a.From, b.From) {
			return false
		}
		x.s.join(l, m)
		x.s.join(r, q)
	}
	return true
}

// send notes that switch a goes to b; false where it already goes elsewhere.
func (x *extension) send(a, b DeviceID) bool {
	at := &x.image[a-x.s.t.firstSwitch()]
	if *at < 0 {
		*at = b
	}
	return *at == b
}

func (x *extension) isPermutation() bool {
	hit := make([]bool, len(x.image))
	first := x.s.t.firstSwitch()
	for _, d := range x.image {
		if d < first || hit[d-first] {
			return false
		}
		hit[d-first] = true
	}
	return true
}
