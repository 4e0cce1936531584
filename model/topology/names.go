package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// DeviceName is the name of a device: gpu3, node2/gpu3 where there are several nodes,
// leaf0 for a switch of the fabric, ib/leaf0 where there are several fabrics.
func (t *Topology) DeviceName(d DeviceID) string {
	dev := t.devices[d]
	if dev.Node < 0 {
		f := t.fabricOf(d)
		return f.prefix + dev.Kind.String() + strconv.Itoa(int(dev.Local))
	}
	n := &t.nodes[dev.Node]
	id := t.shapes[n.shape].ids[dev.Local]
	if t.lone {
		return id
	}
	return n.name + "/" + id
}

func (t *Topology) fabricOf(d DeviceID) *fabricInfo {
	for i := range t.fabrics {
		if f := &t.fabrics[i]; d >= f.firstDevice && int(d-f.firstDevice) < f.devices {
			return f
		}
	}
	panic(fmt.Sprintf("topology: device %d belongs to no fabric", d))
}

// LinkName is from->to.
func (t *Topology) LinkName(l LinkID) string {
	return t.DeviceName(t.links[l].From) + "->" + t.DeviceName(t.links[l].To)
}

// NodeTemplate is the name of the template that a node was made from.
func (t *Topology) NodeTemplate(n int) string { return t.shapes[t.nodes[n].shape].template }

// NodeName is the name of a node.
func (t *Topology) NodeName(n int) string { return t.nodes[n].name }

// Lookup finds a device by its name.
func (t *Topology) Lookup(name string) (DeviceID, bool) {
	if t.lone {
		if local, ok := t.shapes[t.nodes[0].shape].local[name]; ok {
			return t.nodes[0].firstDevice + DeviceID(local), true
		}
	}
	if head, id, ok := strings.Cut(name, "/"); ok {
		for i := range t.nodes {
			if n := &t.nodes[i]; n.name == head {
				local, ok := t.shapes[n.shape].local[id]
				return n.firstDevice + DeviceID(local), ok
			}
		}
	}
	for _, f := range t.fabrics {
		for d := f.firstDevice; int(d-f.firstDevice) < f.devices; d++ {
			if t.DeviceName(d) == name {
				return d, true
			}
		}
	}
	return 0, false
}
