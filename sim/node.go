package sim

import (
	"cmp"
	"fmt"
	"math"

	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// All messages that leave or enter a node by its adapters share what the topology has no link for: memory that they cross, a switch of
// PCIe, cores that copy. A profile says what that carries (see cost.Curve), each way and both ways together. A message takes of it its
// bytes, in the node that it leaves and in the one that it enters.
//
// What carries the messages of a rank, or of each of its channels, such as a thread, is a resource too: both ways, and for a while of
// each message, however small.

// side is what messages share in a node, and which.
type side struct {
	node    int
	which   string // leave, enter, or both
	carrier bool   // of a rank
	paces   bool   // operations that follow one another, of which each may burst
	rank    int32
	channel int32
}

const both = "leave and enter"

// carried is what a rank's messages on a channel share; 0 for all.
func (c *compiler) carried(rank, channel int32) side {
	node := c.topo.NodeOf(int(rank))
	if y := c.symmetry; y != nil {
		rank = y.representative(rank)
		node = int(y.node[rank])
	}
	return side{node, fmt.Sprintf("%s at rank %d of", both, rank), true, false, rank, channel}
}

// sharers are routes that share a side.
type sharers struct {
	side
	rate units.Rate
	uses []linkUse
}

// inNodes are the rates of what messages of a protocol share.
type inNodes struct {
	node, way, sustained, carrier units.Rate
	channels                      bool // carry messages apart
}

func (p *Plan) sharedInNodes(protocol schedule.Protocol) inNodes {
	t := p.paced(p.profile.Transfer(topology.Network, string(protocol), 0))
	return inNodes{t.Node, t.NodeWay, t.Sustained, t.Carrier, t.Channels}
}

// paced is a message with what is sustained as the rate of all where operations are played once: one is taken to go no faster than many.
func (p *Plan) paced(t cost.Transfer) cost.Transfer {
	if t.Sustained > 0 && !p.rowed() {
		t.NodeWay, t.Sustained = min(cmp.Or(t.NodeWay, t.Sustained), t.Sustained), 0
	}
	return t
}

// launched is when all programs begin: the profile's launch, and what further channels of messages between nodes add to it.
func (p *Plan) launched() (at units.Time) {
	for j := range p.jobs {
		s := p.jobs[j].Schedule
		t := p.profile.Transfer(topology.Network, string(s.Protocol), 0)
		more := units.Time(len(s.Channels)-1) * t.Further
		if t.Row {
			more += t.Launch
		}
		at = max(at, more)
	}
	return p.profile.Launch + at
}

// shareNodes adds resources of nodes to the routes between them.
func (c *compiler) shareNodes() error {
	var all []*sharers // in order of routes
	index := map[side]*sharers{}
	for i := range c.routes {
		r := &c.routes[i]
		if r.full.Medium != topology.Network {
			continue
		}
		t := c.sharedInNodes(c.jobs[r.job].Schedule.Protocol)
		from, to := c.topo.NodeOf(int(r.src)), c.topo.NodeOf(int(r.dst))
		for _, x := range []sharers{{side{node: from, which: both}, t.node, nil}, {side{node: to, which: both}, t.node, nil},
			{side{node: from, which: "leave"}, t.way, nil}, {side{node: to, which: "enter"}, t.way, nil},
			{side{node: from, which: "leave", paces: true}, t.sustained, nil},
			{side{node: to, which: "enter", paces: true}, t.sustained, nil},
			{c.carried(r.src, r.strand), t.carrier, nil}, {c.carried(r.dst, r.strand), t.carrier, nil}} {
			if x.rate == 0 {
				continue
			}
			node, size := c.nodeOrbit(x.node)
			if x.carrier && t.channels { // of which one stands for others
				size *= int(c.channelsOf(r.strand))
			}
			if x.node = node; r.times%int32(size) != 0 {
				return fmt.Errorf("%w: %d routes of %d nodes", errAsymmetric, r.times, size)
			}
			if index[x.side] == nil {
				index[x.side] = &x
				all = append(all, &x)
			}
			y := index[x.side]
			y.rate, y.uses = min(y.rate, x.rate), addUse(y.uses, linkUse{int32(i), int64(r.times / int32(size)), 1, 1})
		}
	}
	for _, x := range all {
		r := &c.res[c.newResource(x.uses, x.uses[0])]
		if r.node = &x.side; x.paces {
			r.pace = float64(x.rate)
		} else {
			r.capacity, r.links = float64(x.rate), float64(x.rate)
		}
	}
	return nil
}

// nodeOrbit is the node that stands for a node, and for how many in all.
func (c *compiler) nodeOrbit(node int) (first, size int) {
	if c.symmetry != nil {
		return c.symmetry.Orbit(node)
	}
	return node, 1
}

// weight is what a byte takes of a resource in a message of some cost.
func (r *resource) weight(full float64, k *charge) float64 {
	switch {
	case r.node == nil:
		return full / k.eff
	case r.node.carrier:
		return full * k.each
	case r.node.paces:
		return full
	}
	return full * k.slower
}

// inTheLongRun is what a resource carries where operations follow one another, in bytes/s.
func (r *resource) inTheLongRun() float64 { return cmp.Or(r.pace, r.capacity) }

// NodeLoad is what all messages share that leave or enter a node by its adapters.
type NodeLoad struct {
	Node        int
	Which       string // messages: leave, enter, or both
	Rate        units.Rate
	Utilisation float64 // of rate × time
}

func (n *NodeLoad) String() string {
	return fmt.Sprintf("what messages share that %s node %d (%v): %.0f%% busy", n.Which, n.Node, n.Rate, math.Round(100*n.Utilisation))
}

// resourceLoads are the bytes that resources carry, given those of each route.
func (p *Plan) resourceLoads(perRoute []float64) []float64 {
	load := make([]float64, len(p.res))
	for i := range p.routes {
		for _, u := range p.routes[i].use {
			load[u.res] += perRoute[i] * u.weight * float64(u.count)
		}
	}
	return load
}

// busiestNode is the busiest of what nodes' messages share, nil where there is none; perRoute are the bytes of each route.
func (p *Plan) busiestNode(perRoute []float64, t units.Time) (most *NodeLoad) {
	load := p.resourceLoads(perRoute)
	for i := range p.res {
		r := &p.res[i]
		if r.node == nil || t == 0 {
			continue
		}
		x := &NodeLoad{r.node.node, r.node.which, units.Rate(r.inTheLongRun()), load[i] / (r.inTheLongRun() * t.Seconds())}
		if most == nil || x.Utilisation > most.Utilisation+1e-9 {
			most = x
		}
	}
	return most
}
