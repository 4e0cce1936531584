package topology

import (
	"slices"
	"strconv"
	"strings"
)

// checkNodes finds nodes of unknown templates, clashing names and too large numbers.
func (b *builder) checkNodes(o Options) {
	devices, links := 0, 0
	names := map[string]bool{}
	for _, n := range b.f.nodes {
		if !idPattern.MatchString(n.name) || strings.Contains(n.name, "[") {
			b.AddAt(n.pos, "nodes: %q is not a name: write letters, digits, _, . and -", n.name)
		}
		if names[n.name] {
			b.AddAt(n.pos, "nodes: the name %q is used twice: give each entry its own name", n.name)
		}
		names[n.name] = true
		s, known := b.expanded[n.template]
		switch {
		case !known && n.template != "":
			b.AddAt(n.pos, "nodes: there is no template %q", n.template)
		case s == nil: // reported where it is described
		case o.GPUs > len(s.ranks):
			b.AddAt(n.pos, "--gpus %d: a %s node has only %d", o.GPUs, n.template, len(s.ranks))
		default:
			devices += n.count * len(s.devices)
			links += n.count * len(s.links)
			if devices > maxDevices || links > maxLinks {
				b.AddAt(n.pos, "nodes: with %d × %s there are more than %d devices or %d links", n.count, n.template, maxDevices, maxLinks)
				return
			}
		}
	}
}

// addNodes instantiates a template count times.
func (b *builder) addNodes(n nodeSpec, o Options) {
	t, s := b.t, b.expanded[n.template]
	si, known := b.numbered[s]
	if !known {
		si = int32(len(t.shapes))
		b.numbered[s] = si
		t.shapes = append(t.shapes, s)
	}
	used := len(s.ranks)
	if o.GPUs > 0 {
		used = o.GPUs
	}
	t.devices = slices.Grow(t.devices, n.count*len(s.devices))
	t.links = slices.Grow(t.links, n.count*len(s.links))
	for i := range n.count {
		name := n.name + strconv.Itoa(i)
		if b.nodeNames[name] {
			b.AddAt(n.pos, "nodes: two nodes are called %q: let no entry's name be another's with a number behind", name)
			return
		}
		if len(b.f.nodes) > 1 {
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
