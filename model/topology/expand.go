package topology

import (
	"cmp"
	"slices"
	"strconv"
)

// checkNodes finds nodes of unknown templates, clashing names and too large numbers.
func (b *builder) checkNodes(o Options) {
	devices, links := 0, 0
	names := map[string]bool{}
	for _, n := range b.f.Nodes {
		if list, err := nodeNames(n); err != nil {
			b.AddAt(n.Pos, "nodes: %v", err)
		} else if list != nil && n.Count > len(list) {
			b.AddAt(n.Pos, "nodes: %q names %d nodes, but there are %d", n.Name, len(list), n.Count)
		}
		if names[n.Name] {
			b.AddAt(n.Pos, "nodes: the name %q is used twice: give each entry its own name", n.Name)
		}
		names[n.Name] = true
		s, known := b.expanded[n.Template]
		switch {
		case !known && n.Template != "":
			b.AddAt(n.Pos, "nodes: there is no template %q", n.Template)
		case s == nil: // reported where it is described
		case o.GPUs > len(s.ranks):
			b.AddAt(n.Pos, "--gpus %d: a %s node has only %d", o.GPUs, n.Template, len(s.ranks))
		default:
			devices += n.Count * len(s.devices)
			links += n.Count * len(s.links)
			if devices > maxDevices || links > maxLinks {
				b.AddAt(n.Pos, "nodes: with %d × %s there are more than %d devices or %d links", n.Count, n.Template, maxDevices, maxLinks)
				return
			}
		}
	}
}

// addNodes instantiates a template count times.
func (b *builder) addNodes(n nodeSpec, o Options) {
	t, s := b.t, b.expanded[n.Template]
	si := int32(b.numbered.Of(s))
	if int(si) == len(t.shapes) {
		t.shapes = append(t.shapes, s)
	}
	used := cmp.Or(o.GPUs, len(s.ranks))
	t.devices = slices.Grow(t.devices, n.Count*len(s.devices))
	t.links = slices.Grow(t.links, n.Count*len(s.links))
	list, _ := nodeNames(n) // checked before
	for i := range n.Count {
		name := n.Name + strconv.Itoa(i)
		if list != nil {
			name = list[i]
		}
		if b.nodeNames[name] {
			b.AddAt(n.Pos, "nodes: two nodes are called %q: let no entry's name be another's with a number behind", name)
			return
		}
		if len(b.f.Nodes) > 1 || list != nil {
			b.nodeNames[name] = true
		}
		t.addNode(name, si, used)
	}
}

// addNode adds a node of a shape, of whose ranks so many are used.
func (t *Topology) addNode(name string, shape int32, used int) {
	n := node{name, shape, DeviceID(len(t.devices)), LinkID(len(t.links)), int32(len(t.ranks)), int32(used)}
	s, index := t.shapes[shape], int32(len(t.nodes))
	for _, d := range s.devices {
		d.Node = index
		t.devices = append(t.devices, d.Device)
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
