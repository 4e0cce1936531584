package nccl

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
)

// key is the kernel that a choice runs on this machine.
func (r *Runtime) key(k collective.Kind, c choice, graph bool) cost.KernelKey {
	return cost.KernelKey{Collective: k.String(), Algorithm: c.algorithm, Protocol: c.protocol, Over: r.rates.over, Graph: graph}
}

// kernel is the profile's, or the nearest one that moves data in the same way, which is
// said in the note.
func (r *Runtime) kernel(a Ask, c choice) (*cost.Kernel, string) {
	if x, note := r.otherLaunch(a, c); x != nil {
		return x, note
	}
	for _, over := range r.overs() {
		for _, p := range []*cost.Profile{r.profile, r.general} {
			for _, key := range r.keys(a, c) {
				key.Over = over
				switch x := p.Kernel(key); {
				case x == nil:
				case key == r.key(a.Kind, c, a.Graph) && p == r.profile:
					return x, ""
				default:
					return x, fmt.Sprintf("profile %s has no kernel for %v by %s/%s over %s: that of %s in profile %s was used",
						r.profile.Name, a.Kind, c.algorithm, c.protocol, r.rates.over, kernelName(key, c), p.Name)
				}
			}
		}
	}
	return nil, ""
}

// otherLaunch is the profile's kernel for runs that are launched in the other way, where
// only that was measured at this size: host launches hide small kernels.
func (r *Runtime) otherLaunch(a Ask, c choice) (*cost.Kernel, string) {
	own, other := r.profile.Kernel(r.key(a.Kind, c, a.Graph)), r.profile.Kernel(r.key(a.Kind, c, !a.Graph))
	if own == nil || other == nil || a.Size >= own.MinSize || a.Size < other.MinSize {
		return nil, ""
	}
	return other, fmt.Sprintf("profile %s knows %v by %s/%s from %v on: that of %s was used", r.profile.Name, a.Kind, c.algorithm,
		c.protocol, own.MinSize, kernelName(other.KernelKey, c))
}

// overs are what kernels may cross to be like this machine's: the same, then any network.
func (r *Runtime) overs() []string {
	switch {
	case r.rates.nodes > 1:
		return []string{r.rates.over, cost.AnyNetwork}
	case r.rates.over == cost.HostMemory:
		return []string{r.rates.over, topology.PCIe.String(), topology.NVLink.String()}
	}
	return []string{r.rates.over, topology.NVLink.String()}
}

// keys are the kernel's key and those of kernels that move data in the same way: first
// launched otherwise, then of other collectives.
func (r *Runtime) keys(a Ask, c choice) []cost.KernelKey {
	var out []cost.KernelKey
	for _, way := range r.ways(c) {
		for _, kind := range append([]collective.Kind{a.Kind}, similar[a.Kind]...) {
			for _, graph := range []bool{a.Graph, !a.Graph} {
				out = append(out, r.key(kind, way, graph))
			}
		}
	}
	return out
}

// ways are a choice and those that cross the network like it: where its switches reduce, what they take is most of any
// of the three algorithms that need them.
func (r *Runtime) ways(c choice) []choice {
	out := []choice{c}
	if !r.rates.reducing || r.rates.nodes < 2 {
		return out
	}
	through := []string{"collnet_direct", "nvls", "collnet_chain"}
	if !slices.Contains(through, c.algorithm) {
		return out
	}
	for _, other := range through {
		if other != c.algorithm {
			out = append(out, choice{algorithm: other, protocol: c.protocol})
		}
	}
	return out
}

// kernelName says what is special about a kernel that stands in for a choice.
func kernelName(k cost.KernelKey, c choice) string {
	name := k.Collective + " over " + k.Over
	if k.Algorithm != c.algorithm {
		name = k.Collective + " by " + k.Algorithm + " over " + k.Over
	}
	if k.Graph {
		return name + " in a CUDA graph"
	}
	return name
}

// similar are collectives whose kernels cost nearly the same a step.
var similar = map[collective.Kind][]collective.Kind{
	collective.AllGather:     {collective.ReduceScatter, collective.AllReduce},
	collective.ReduceScatter: {collective.AllGather, collective.AllReduce},
	collective.AllReduce:     {collective.ReduceScatter, collective.AllGather},
	collective.Broadcast:     {collective.Reduce},
	collective.Reduce:        {collective.Broadcast},
	collective.AllToAllV:     {collective.AllToAll},
	collective.SendRecv:      {collective.AllToAll},
}
