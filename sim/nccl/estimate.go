package nccl

import (
	"fmt"
	"math"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// own is what the library's constants say of a way, in parts: NCCL's own estimate, or of what NCCL has no cost model
// for (sends and receives, other vendors' GPUs) its table of latencies and the rate of its protocols. So too of rings from or
// to a root over several nodes: NCCL counts one hop of them where all channels visit GPUs in the same order, else every hop as one
// across the network. Through host memory, which all messages of a node share, a ring from or to a root has one less at a time than the
// ring whose rate NCCL estimates: half as many on two GPUs.
func (r *Runtime) own(k collective.Kind, c choice, w *Work) (latency, bytes float64) {
	if c.latency > 0 && !r.longChain(k, c) { // NCCL has none for what it does not expect, as in-switch reduction without peer-to-peer
		bytes = float64(c.own-c.latency) * r.atOnce(w.Chain)
		return float64(c.latency), max(bytes, float64(r.least(w, c.protocol)))
	}
	prior := r.prior(k, c)
	l, total := r.spend(&prior, w)
	return max(float64(l)-r.farther(w), 0), float64(total - l)
}

// longChain reports whether a way is a ring from or to a root over several nodes.
func (r *Runtime) longChain(k collective.Kind, c choice) bool {
	return r.rates.nodes > 1 && c.algorithm == "ring" && !goesAround(k)
}

// estimate is the library's own, corrected by what it is off by on measured machines: hops of a long chain inside nodes by
// what they are off by inside one, since a network's correction is of few hops or none inside.
func (r *Runtime) estimate(k collective.Kind, c choice, w *Work) (latency, total float64, by *cost.Estimate) {
	l, b := r.own(k, c, w)
	if by = r.general.Estimate(r.over(c)); by != nil {
		inside, in := 0.0, r.general.Estimate(r.rates.inside)
		if in != nil && r.longChain(k, c) {
			prior := r.prior(k, c)
			inside = w.Hops * float64(prior.Hop)
		}
		if l, b = by.Corrected(l-inside, b, w.Size, c.protocol); inside > 0 {
			l += in.Latency * inside
		}
	}
	l = max(l+r.farther(w), 0)
	return l, l + b, by
}

// trust is the weight of a kernel's time against the estimate, from 0 to 1: a prediction lies between them, the nearer to
// the kernel the less far it has to be followed and, where it stands in for another, the more machines it was fitted on:
// the estimate counts for one.
func (r *Runtime) trust(a Ask, c choice, x *cost.Kernel) float64 {
	share := x.Reaches(a.Size)
	if r.basis(a, c, x) != cost.OtherKernel {
		return share
	}
	return share * float64(x.Systems) / float64(x.Systems+1)
}

// basis says where a kernel comes from.
func (r *Runtime) basis(a Ask, c choice, x *cost.Kernel) string {
	switch {
	case x != r.profile.Kernel(r.key(a.Kind, c, a.Graph)) && x != r.profile.Kernel(r.key(a.Kind, c, !a.Graph)):
		return cost.OtherKernel
	case x.Beyond(a.Size) > 1:
		return cost.Extrapolated
	}
	return cost.OwnKernel
}

// between is the geometric mean of two times with a weight of the first.
func between(a, b, weight float64) float64 {
	return math.Exp(weight*math.Log(max(a, 1)) + (1-weight)*math.Log(max(b, 1)))
}

// estimated says that no kernel was known.
func (r *Runtime) estimated(k collective.Kind, c choice, by *cost.Estimate) string {
	text := fmt.Sprintf("profile %s has no kernel for %v by %s/%s over %s: NCCL's own estimate was used", r.profile.Name, k, c.algorithm,
		c.protocol, r.over(c))
	if by == nil {
		return text
	}
	return fmt.Sprintf("%s, corrected by what it is off by over %s on %s", text, by.Over, units.Counted(by.Systems, "machine"))
}
