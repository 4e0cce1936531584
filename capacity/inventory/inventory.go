// Package inventory counts what a topology is made of, as an order list has it: nodes,
// switches, cables, and the bandwidth between its halves.
package inventory

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/topology"
	"railyard/model/units"
)

// Inventory is the order list of a topology.
type Inventory struct {
	GPUs      int
	Nodes     []Nodes
	Switches  []Switches
	Cables    []Cables
	Bisection units.Rate // between the first half of the nodes, or of one node's GPUs, and the rest, a direction
}

// Nodes are servers of one template.
type Nodes struct {
	Template string
	Count    int
	GPUs     int // each
}

// Switches are network switches of one model, outside of the nodes.
type Switches struct {
	Model string // "" where the topology does not say
	Kind  topology.Kind
	Class string // of the links that they have most of
	Ports int    // that the model has; without a model, the most that one of them uses
	Count int
}

// Cables are network links of one class (a duplex link is one cable).
type Cables struct {
	Class string
	Trunk bool // between switches, not from a node to its switch
	Count int
}

// Rename makes all of a class one of another: what faster links are bought as.
func (x *Inventory) Rename(from, to string) {
	for i := range x.Switches {
		if x.Switches[i].Class == from {
			x.Switches[i].Class = to
		}
	}
	for i := range x.Cables {
		if x.Cables[i].Class == from {
			x.Cables[i].Class = to
		}
	}
}

// Of counts a topology.
func Of(t *topology.Topology) Inventory {
	return Inventory{GPUs: t.NumRanks(), Nodes: nodes(t), Switches: switches(t), Cables: cables(t), Bisection: bisection(t)}
}

func nodes(t *topology.Topology) []Nodes {
	var out []Nodes
	gpus := make([]int, t.NumNodes())
	for r := range t.NumRanks() {
		gpus[t.NodeOf(r)]++
	}
	for n := range t.NumNodes() {
		template := t.NodeTemplate(n)
		equal := func(x Nodes) bool { return x.Template == template && x.GPUs == gpus[n] }
		kind(&out, Nodes{Template: template, GPUs: gpus[n]}, equal).Count++
	}
	return out
}

// kind is the entry of a list for all that are alike, x where there is none yet.
func kind[T any](list *[]T, x T, equal func(T) bool) *T {
	i := slices.IndexFunc(*list, equal)
	if i < 0 {
		i = len(*list)
		*list = append(*list, x)
	}
	return &(*list)[i]
}

// outside reports whether a device is a switch that is bought by itself.
func outside(d topology.Device) bool { return d.Node < 0 }

func switches(t *topology.Topology) []Switches {
	var out []Switches
	for id, d := range t.Devices() {
		if !outside(d) {
			continue
		}
		s := Switches{Kind: d.Kind}
		s.Class, s.Ports = ports(t, topology.DeviceID(id))
		if d.Model >= 0 {
			m := t.Models()[d.Model]
			s.Model, s.Ports = m.Name, max(m.Ports, s.Ports)
		}
		these := kind(&out, s, func(x Switches) bool {
			return x.Model == s.Model && x.Kind == s.Kind && x.Class == s.Class && (s.Model == "" || x.Ports == s.Ports)
		})
		these.Count++
		these.Ports = max(these.Ports, s.Ports)
	}
	return out
}

// ports is how many links a switch has, and the class of most of them.
func ports(t *topology.Topology, d topology.DeviceID) (class string, n int) {
	count := make([]int, len(t.Classes()))
	for _, l := range t.Out(d) {
		count[t.Links()[l].Class] += int(t.Links()[l].Count)
		n += int(t.Links()[l].Count)
	}
	best := 0
	for c, k := range count {
		if k > count[best] {
			best = c
		}
	}
	return t.Classes()[best].Name, n
}

// cables counts each duplex link once, by its direction away from the lower device; a
// link that has only the other direction is counted by that.
func cables(t *topology.Topology) []Cables {
	var out []Cables
	devices := t.Devices()
	for _, l := range t.Links() {
		from, to := devices[l.From], devices[l.To]
		if !outside(from) && !outside(to) || l.From > l.To && twin(t, l) {
			continue
		}
		c := Cables{Class: t.Classes()[l.Class].Name, Trunk: outside(from) && outside(to)}
		kind(&out, c, func(x Cables) bool { return x.Class == c.Class && x.Trunk == c.Trunk }).Count += int(l.Count)
	}
	slices.SortFunc(out, func(a, b Cables) int {
		return strings.Compare(fmt.Sprint(a.Trunk, a.Class), fmt.Sprint(b.Trunk, b.Class))
	})
	return out
}

// twin reports whether the other direction of a link is there too.
func twin(t *topology.Topology, l topology.Link) bool {
	return slices.ContainsFunc(t.Out(l.To), func(o topology.LinkID) bool {
		return t.Links()[o].To == l.From && t.Links()[o].Class == l.Class
	})
}
