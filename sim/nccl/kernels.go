package nccl

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
)

// key is the kernel that a choice runs on this machine.
func (r *Runtime) key(k collective.Kind, c choice, graph bool) cost.KernelKey {
	if k == collective.AllToAllV { // the same messages
		k = collective.AllToAll
	}
	return cost.KernelKey{Collective: k.String(), Algorithm: c.algorithm, Protocol: c.protocol, Over: r.over(c), Graph: graph}
}

// over is what messages of a choice cross: what all do, but GPUs that do not reach one another's memory still have switches reduce
// and multicast over the links to these.
func (r *Runtime) over(c choice) string {
	if c.algorithm == "nvls" && r.rates.nodes == 1 {
		return r.rates.links
	}
	return r.rates.over
}

// kernel is the profile's, else that of all machines together over the same medium; launched as asked where that is known
// at this size, since launches by the host hide small kernels. The note says which, where it is not the machine's for such
// launches. Last, it is told from one by the same protocol over the same medium (alike). Kernels of other media do not stand in: on
// machines that nobody measured they are no better than the library's own estimate, corrected (docs/validation.md).
func (r *Runtime) kernel(a Ask, c choice) (*cost.Kernel, string) {
	keys := []cost.KernelKey{r.key(a.Kind, c, a.Graph), r.key(a.Kind, c, !a.Graph)}
	own, other := r.profile.Kernel(keys[0]), r.profile.Kernel(keys[1])
	if own != nil && (other == nil || a.Size >= own.MinSize || a.Size < other.MinSize) {
		return own, ""
	}
	for _, way := range r.ways(c)[1:] {
		keys = append(keys, r.key(a.Kind, way, a.Graph), r.key(a.Kind, way, !a.Graph))
	}
	for _, p := range []*cost.Profile{r.profile, r.general} {
		for _, key := range append([]cost.KernelKey{keys[1], keys[0]}, keys[2:]...) {
			if x := p.Kernel(key); x != nil && x != own {
				return x, fmt.Sprintf("profile %s has no kernel for %v by %s/%s over %s at this size: that of %s in profile %s was used",
					r.profile.Name, a.Kind, c.algorithm, c.protocol, r.over(c), kernelName(key, c), p.Name)
			}
		}
	}
	return r.alike(a, c)
}

// ways are a choice and those that cross the network like it: where its switches reduce, what they take is most of any
// of the three algorithms that need them.
func (r *Runtime) ways(c choice) []choice {
	out := []choice{c}
	through := []string{"collnet_direct", "nvls", "collnet_chain"}
	if !r.rates.reducing || r.rates.nodes < 2 || !slices.Contains(through, c.algorithm) {
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
