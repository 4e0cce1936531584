package sim

import "railyard/model/topology"

// Fluid sharing leaves nothing of a link unused. Where messages come faster than a port of a switch takes them away, a queue
// builds up before it, and what keeps that short, pauses (PFC) or rates that senders cut and raise again (DCQCN), leaves part of
// the port unused: while it has several messages at once, it carries CompileOptions.Congested of its rate. Messages that all
// come over one link no faster than the port do not queue there: that link and the port are one resource, since the same
// messages load both.
//
// Y. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015. What published runs show is in
// docs/simulation.md.

// isPort reports whether a link leaves a switch of a network.
func (c *compiler) isPort(l topology.LinkID) bool {
	return c.topo.Devices()[c.topo.Links()[l].From].Kind.NetworkSwitch()
}

// add adds a link, which may be a port, to those that a resource stands for.
func (r *resource) add(capacity float64, port bool) {
	if r.capacity = min(r.capacity, capacity); !port {
		r.links = min(r.links, capacity)
	}
}

// sameRate is by how much capacities may differ by rounding alone.
const sameRate = 1 + 1e-9

// setCongestedRates says what resources carry while several messages cross them.
func (c *compiler) setCongestedRates() {
	for i := range c.res {
		r := &c.res[i]
		if r.congestedRate = r.capacity; c.options.Congested > 0 && r.links > r.capacity*sameRate {
			r.congestedRate *= c.options.Congested
		}
	}
}

// congestionKey is what congestion depends on.
type congestionKey struct {
	unused   amount // of a resource's capacity, while several messages cross it
	messages int32  // that do, those that one stands for counted
}

// enter notes that so many messages more, or fewer, cross a resource.
func (s *sharing) enter(r, messages int32) {
	if s.crowds == nil {
		return
	}
	x, y := &s.res[r], &s.crowds[r]
	was := y.messages > 1
	y.messages += messages
	switch is := y.messages > 1; {
	case is && !was:
		x.left = x.left.less(y.unused)
	case was && !is:
		x.left = x.left.more(y.unused)
	}
}
