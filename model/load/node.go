package load

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
)

// node finds the links of a topology's node that ports stand for. GPUs are the node's by their numbers. An adapter is that of its name,
// where the topology has one; else they are paired in order, those of the largest rate. Where an NVLink leads is known by the address of
// its
// other end; where that is not known, a GPU's links carry the same, as traffic is spread over them.
type node struct {
	t                *topology.Topology
	gpus             []topology.DeviceID // −1: failed
	nics, nvswitches []topology.DeviceID
	gpuAt            map[string]topology.DeviceID // by PCI address
	switches         []string                     // addresses of other ends that are no GPUs, in order
	adapter          map[string]topology.DeviceID
	sent, received   map[topology.LinkID]float64 // bytes a second, as counted at either end
	notes            []string
}

func newNode(t *topology.Topology, number int, s *health.State) (*node, error) {
	n := &node{t: t, gpuAt: map[string]topology.DeviceID{}, adapter: map[string]topology.DeviceID{},
		sent: map[topology.LinkID]float64{}, received: map[topology.LinkID]float64{}}
	whole := t.Healthy() // by which GPUs are numbered; those that failed have no links
	var at topology.DeviceID = -1
	for r, d := range whole.Ranks() {
		if whole.NodeOf(r) != number {
			continue
		}
		here, ok := t.Lookup(whole.DeviceName(d))
		if !ok {
			here = -1
		}
		n.gpus, at = append(n.gpus, here), max(at, here)
	}
	switch {
	case len(n.gpus) == 0:
		return nil, fmt.Errorf("%s has no node %d: its nodes are 0 to %d", t.Name(), number, whole.NumNodes()-1)
	case at < 0:
		return nil, fmt.Errorf("%s has no GPU left in node %d", t.Name(), number)
	}
	for d, x := range t.Devices() {
		switch {
		case x.Node != t.Devices()[at].Node:
		case x.Kind == topology.NIC:
			n.nics = append(n.nics, topology.DeviceID(d))
		case x.Kind == topology.NVSwitch:
			n.nvswitches = append(n.nvswitches, topology.DeviceID(d))
		}
	}
	for _, p := range s.Parts(health.GPU) {
		if d, ok := n.gpu(p.Name); ok && p.Text("bus") != "" {
			n.gpuAt[p.Text("bus")] = d
		}
	}
	for _, p := range s.Parts(health.NVLink) {
		to := p.Text("to")
		if _, isGPU := n.gpuAt[to]; to != "" && !isGPU && !slices.Contains(n.switches, to) {
			n.switches = append(n.switches, to)
		}
	}
	slices.Sort(n.switches)
	n.pairAdapters(s)
	return n, nil
}

func (n *node) gpu(number string) (topology.DeviceID, bool) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(n.gpus) || n.gpus[i] < 0 {
		return 0, false
	}
	return n.gpus[i], true
}

// pairAdapters finds the topology's adapters for those that count.
func (n *node) pairAdapters(s *health.State) {
	var parts []*health.Part
	for _, p := range s.Parts(health.NIC) {
		if _, counts := p.Fact("sent"); counts {
			parts = append(parts, p)
		}
	}
	for _, d := range n.nics {
		name := n.t.DeviceName(d)
		name = name[strings.LastIndexByte(name, '/')+1:]
		if i := slices.IndexFunc(parts, func(p *health.Part) bool { return p.Name == name }); i >= 0 {
			n.adapter[name] = d
		}
	}
	if len(n.adapter) > 0 || len(n.nics) == 0 {
		return
	}
	slices.SortStableFunc(parts, func(a, b *health.Part) int { // those of jobs before those of storage and management
		return cmp.Compare(b.Number("rate"), a.Number("rate"))
	})
	if len(parts) != len(n.nics) && len(parts) > 0 {
		n.notes = append(n.notes, fmt.Sprintf("%d adapters count, %s has %d in a node: the fastest are paired in order", len(parts),
			n.t.Name(), len(n.nics)))
	}
	parts = parts[:min(len(parts), len(n.nics))]
	slices.SortFunc(parts, func(a, b *health.Part) int { return survey.Natural(a.Name, b.Name) })
	for i, p := range parts {
		n.adapter[p.Name] = n.nics[i]
	}
}

// port adds what a port carries to the links that it stands for, and tells it which these are.
func (n *node) port(p *Port) {
	out := n.links(p.Part)
	into := n.reverse(out)
	n.spread(n.sent, out, p.Sent)
	n.spread(n.received, into, p.Received)
	var whole, parallel float64
	for _, l := range out {
		p.Links = append(p.Links, n.t.LinkName(l))
		whole, parallel = whole+float64(n.t.Rate(l)), parallel+float64(n.t.Links()[l].Count)
	}
	if p.Part.Kind == health.NVLink && parallel > 0 {
		whole /= parallel // a port is one of them
	}
	if whole > 0 { // drivers report the rate of signals, of which payload, which is counted, cannot take all
		p.Line = whole
	}
	if d, ok := n.adapter[p.Part.Name]; ok && p.Part.Kind == health.NIC { // what it sends comes to it over PCIe
		host := n.over(d, topology.PCIe)
		n.spread(n.sent, host, p.Received)
		n.spread(n.received, n.reverse(host), p.Sent)
		out = append(out, host...)
	}
	if len(out) == 0 && p.Sent+p.Received > 0 {
		n.notes = append(n.notes, fmt.Sprintf("%v carries traffic, and %s has no link for it", p.Part, n.t.Name()))
	}
}

// links are those out of a node's device that a part stands for.
func (n *node) links(p *health.Part) []topology.LinkID {
	switch p.Kind {
	case health.GPU:
		if d, ok := n.gpu(p.Name); ok {
			return n.over(d, topology.PCIe)
		}
	case health.NIC:
		if d, ok := n.adapter[p.Name]; ok {
			return n.over(d, topology.Network)
		}
	case health.NVLink:
		if d, ok := n.gpu(health.OfLink(p.Name)); ok {
			return n.leading(n.over(d, topology.NVLink, topology.XGMI), p.Text("to"))
		}
	}
	return nil
}

// over are a device's links of some media.
func (n *node) over(d topology.DeviceID, media ...topology.Medium) (out []topology.LinkID) {
	for _, l := range n.t.Out(d) {
		if slices.Contains(media, n.t.Class(l).Medium) {
			out = append(out, l)
		}
	}
	return out
}

// leading are those of a GPU's links that lead to an address: a GPU's, or a switch's, which are numbered by their addresses as discover
// numbers them, where the topology has as many; all of them where that says nothing.
func (n *node) leading(links []topology.LinkID, to string) []topology.LinkID {
	if to == "" {
		return links
	}
	keep := func(wanted func(topology.DeviceID) bool) (out []topology.LinkID) {
		for _, l := range links {
			if wanted(n.t.Links()[l].To) {
				out = append(out, l)
			}
		}
		return out
	}
	if d, ok := n.gpuAt[to]; ok {
		return keep(func(x topology.DeviceID) bool { return x == d })
	}
	others := keep(func(x topology.DeviceID) bool { return !slices.Contains(n.gpus, x) })
	if len(n.nvswitches) != len(n.switches) {
		return others
	}
	end := n.nvswitches[slices.Index(n.switches, to)]
	return keep(func(x topology.DeviceID) bool { return x == end })
}

// reverse are links the other way.
func (n *node) reverse(links []topology.LinkID) (out []topology.LinkID) {
	for _, l := range links {
		x := n.t.Links()[l]
		for _, back := range n.t.Out(x.To) {
			if y := n.t.Links()[back]; y.To == x.From && y.Class == x.Class {
				out = append(out, back)
			}
		}
	}
	return out
}

// spread adds what a port carries to links, by their rates; of one that carries nothing it is known that it does not.
func (n *node) spread(to map[topology.LinkID]float64, links []topology.LinkID, carry float64) {
	var whole float64
	for _, l := range links {
		whole += float64(n.t.Rate(l))
	}
	for _, l := range links {
		to[l] += carry * float64(n.t.Rate(l)) / whole
	}
}
