package topology

import (
	"fmt"
	"strconv"
)

// DeviceName is the name of a device: gpu3, node2/gpu3 where there are several nodes,
// leaf0 for a switch of the fabric, ib/leaf0 where there are several fabrics.
func (t *Topology) DeviceName(d DeviceID) string {
	dev := t.devices[d]
	if dev.Node < 0 {
		f := t.fabricOf(d)
		return f.prefix + dev.Kind.String() + strconv.Itoa(int(dev.Local))
	}
	id := t.described(d).id
	if t.lone {
		return id
	}
	return t.nodes[dev.Node].name + "/" + id
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

// described is what the template of its node says of a device; nothing of switches outside of nodes.
func (t *Topology) described(d DeviceID) *shapeDevice {
	x := t.devices[d]
	if x.Node < 0 {
		return new(shapeDevice)
	}
	return &t.shapes[t.nodes[x.Node].shape].devices[x.Local]
}

// span are a node's devices, from the first to behind the last.
func (t *Topology) span(n int) (first, end DeviceID) {
	first = t.nodes[n].firstDevice
	return first, first + DeviceID(len(t.shapes[t.nodes[n].shape].devices))
}

// NodeName is the name of a node.
func (t *Topology) NodeName(n int) string { return t.nodes[n].name }

// Lookup finds a device by its name.
func (t *Topology) Lookup(name string) (DeviceID, bool) {
	type key struct{}
	d, ok := Once(t, key{}, t.names)[name]
	return d, ok
}

// names are the devices by name; of a lone node's, also with the node before it.
func (t *Topology) names() map[string]DeviceID {
	out := make(map[string]DeviceID, len(t.devices))
	for i := range t.devices {
		d := DeviceID(len(t.devices) - 1 - i) // nodes' names go before those of fabrics
		out[t.DeviceName(d)] = d
		if n := t.devices[d].Node; t.lone && n >= 0 {
			out[t.nodes[n].name+"/"+t.DeviceName(d)] = d
		}
	}
	return out
}
