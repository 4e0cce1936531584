package survey

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/topology"
)

// drawing is a node as it will be written.
type drawing struct {
	devices []part
	links   []link
	classes []topology.Class // in order of first use
	notes   []string
	index   map[string]int // devices by id
}

// part is a device of the node.
type part struct {
	id, model, serves, note string
	kind                    topology.Kind
	noP2P                   bool
	root                    string // of what hangs on a CPU
	cpus                    string // of a CPU
}

// link joins two devices, both ways.
type link struct {
	from, to int
	class    string
	count    int
}

func newDrawing() *drawing { return &drawing{index: map[string]int{}} }

func (d *drawing) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(d.notes, n) {
		d.notes = append(d.notes, n)
	}
}

// device adds a device once and says which it is.
func (d *drawing) device(p part) int {
	i, ok := d.index[p.id]
	if !ok {
		i = len(d.devices)
		d.index[p.id] = i
		d.devices = append(d.devices, p)
	}
	return i
}

func (d *drawing) class(c topology.Class) string {
	if !slices.ContainsFunc(d.classes, func(x topology.Class) bool { return x.Name == c.Name }) {
		d.classes = append(d.classes, c)
	}
	return c.Name
}

// join adds count links; those of one class between the same devices add up.
func (d *drawing) join(from, to int, c topology.Class, count int) {
	name := d.class(c)
	for i := range d.links {
		if l := &d.links[i]; l.from == from && l.to == to && l.class == name {
			l.count += count
			return
		}
	}
	d.links = append(d.links, link{from, to, name, count})
}

// sort puts devices in the order of their kinds and links in that of their ends, so
// that equal machines make equal files.
func (d *drawing) sort() {
	order := make([]int, len(d.devices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := d.devices[a], d.devices[b]
		return cmp.Or(cmp.Compare(rankOf(x.kind), rankOf(y.kind)), Natural(x.id, y.id))
	})
	place := make([]int, len(order))
	devices := make([]part, len(order))
	for to, from := range order {
		place[from], devices[to] = to, d.devices[from]
	}
	d.devices = devices
	for i := range d.links {
		d.links[i].from, d.links[i].to = place[d.links[i].from], place[d.links[i].to]
	}
	slices.SortStableFunc(d.links, func(a, b link) int {
		return cmp.Or(cmp.Compare(rankOf(d.devices[a.from].kind), rankOf(d.devices[b.from].kind)), cmp.Compare(a.to, b.to),
			cmp.Compare(a.from, b.from), cmp.Compare(a.class, b.class))
	})
}

// rankOf orders kinds as the shipped files do.
func rankOf(k topology.Kind) int {
	return slices.Index([]topology.Kind{topology.GPU, topology.NVSwitch, topology.PCIeSwitch, topology.CPU, topology.NIC}, k)
}
