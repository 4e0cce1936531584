package inventory

import (
	"railyard/model/failure"
	"railyard/model/topology"
)

// Parts counts what can fail; cables are those of the network.
func Parts(t *topology.Topology) map[failure.Part]int {
	out := map[failure.Part]int{failure.GPU: t.NumRanks(), failure.Node: t.NumNodes()}
	for _, d := range t.Devices() {
		switch {
		case d.Kind == topology.NIC:
			out[failure.NIC]++
		case outside(d):
			out[failure.Switch]++
		}
	}
	for _, c := range cables(t) {
		out[failure.Cable] += c.Count
	}
	return out
}

// First names the first of a kind of part as faults do: a whole adapter, the first leaf,
// one cable between switches (or, where there is none, from a node); "" where there is none.
func First(t *topology.Topology, p failure.Part) string {
	switch p {
	case failure.GPU:
		return "gpu:" + t.DeviceName(t.Ranks()[0])
	case failure.Node:
		return "node:" + t.NodeName(0)
	case failure.Cable:
		return firstCable(t)
	}
	for i, d := range t.Devices() {
		id := topology.DeviceID(i)
		if p == failure.NIC && d.Kind == topology.NIC {
			return "nic:" + t.DeviceName(id)
		}
		if p == failure.Switch && d.Kind == topology.Leaf && outside(d) {
			return "switch:" + t.DeviceName(id)
		}
	}
	return ""
}

func firstCable(t *topology.Topology) string {
	name := ""
	for _, l := range t.Links() {
		from, to := t.Devices()[l.From], t.Devices()[l.To]
		trunk := outside(from) && outside(to)
		if !outside(from) && !outside(to) || name != "" && !trunk {
			continue
		}
		name = "link:" + t.DeviceName(l.From) + "--" + t.DeviceName(l.To) + "#1"
		if trunk {
			return name
		}
	}
	return name
}
