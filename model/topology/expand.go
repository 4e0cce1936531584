package topology

import "strconv"

// addNodes instantiates a template count times.
func (b *builder) addNodes(n nodeSpec, o Options) {
	si, ok := b.shapeOf(n)
	if !ok {
		return
	}
	t, s := b.t, b.t.shapes[si]
	used := len(s.ranks)
	if o.GPUs > 0 {
		if o.GPUs > used {
			b.addAt(n.pos, "--gpus %d: a %s node has only %d", o.GPUs, n.template, used)
			return
		}
		used = o.GPUs
	}
	if len(t.devices)+n.count*len(s.devices) > maxDevices || len(t.links)+n.count*len(s.links) > maxLinks {
		b.addAt(n.pos, "nodes: %d × %s is more than %d devices or %d links", n.count, n.template, maxDevices, maxLinks)
		return
	}
	for _, other := range b.f.nodes {
		if other.name == n.name && other.pos != n.pos {
			b.addAt(n.pos, "nodes: the name %q is used twice: give each entry its own name", n.name)
			return
		}
	}
	t.devices = grow(t.devices, n.count*len(s.devices))
	t.links = grow(t.links, n.count*len(s.links))
	for i := range n.count {
		b.addNode(node{name: n.name + strconv.Itoa(i), shape: si}, s, used)
	}
}

func grow[T any](s []T, n int) []T { return append(make([]T, 0, len(s)+n), s...) }

func (b *builder) addNode(n node, s *shape, used int) {
	t := b.t
	n.firstDevice, n.firstLink, n.firstRank = DeviceID(len(t.devices)), LinkID(len(t.links)), int32(len(t.ranks))
	n.ranks = int32(used)
	index := int32(len(t.nodes))
	for _, d := range s.devices {
		d.Node = index
		t.devices = append(t.devices, d)
		t.rankOf = append(t.rankOf, -1)
	}
	for _, l := range s.links {
		l.From += n.firstDevice
		l.To += n.firstDevice
		t.links = append(t.links, l)
	}
	for _, local := range s.ranks[:used] {
		t.rankOf[n.firstDevice+DeviceID(local)] = int32(len(t.ranks))
		t.ranks = append(t.ranks, n.firstDevice+DeviceID(local))
	}
	t.nodes = append(t.nodes, n)
}
