package nccl

import (
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Case is a measured run as a fit sees it: the kernel that ran, its work, and what the
// library's constants say about it.
type Case struct {
	Key            cost.KernelKey
	Work           Work
	Prior          cost.Kernel
	Latency, Bytes float64    // ps: the library's own estimate, in parts
	Farther        units.Time // what the machine's links and fabric add, which is no part of a kernel
}

// Case works out a measured run.
func (r *Runtime) Case(a Ask) (Case, error) {
	c := choice{algorithm: Plain(a.Algorithm), protocol: Plain(a.Protocol)}
	switch list := r.choices(a); {
	case len(list) > 0:
		c = list[0]
	case c.algorithm == "":
		c = choice{algorithm: "ring", protocol: "simple"}
	case c.protocol == "":
		return Case{}, unsupported("NCCL does not run %v by %s here", a.Kind, c.algorithm)
	}
	w, err := r.work(a, c)
	if err != nil {
		return Case{}, err
	}
	x := Case{Key: r.key(a.Kind, c, a.Graph), Work: w, Prior: r.prior(a.Kind, c), Farther: units.Time(r.farther(&w))}
	x.Latency, x.Bytes = r.own(a.Kind, c, &w)
	return x, nil
}

// chainChannels is how many channels a chain fills at most: on H200 a tree of NCCL 2.28.9 fills like 16 slots in the Simple protocol
// (validation/h200-nccl.csv).
const chainChannels = 16

// filled are the channels that a chain fills: where NCCL's search finds fewer, those. It gives PCIe its one ring twice.
func (r *Runtime) filled() units.Bytes {
	switch {
	case r.model != nil:
		return units.Bytes(min(chainChannels, r.model.nChannels))
	case r.overPCIe():
		return 2
	}
	return chainChannels
}

// treeDrain is the share of a step that a thread block in the middle of a chain takes to send everything both ways: the mean of what
// trees on 2 and 4 H200 show, none by LL, a fifth by LL128 and Simple (1 GiB takes 3,911, 5,713 and 6,266 µs on 2, 3 and 4).
const treeDrain = 0.15

// prior is a kernel made of the library's constants alone: its table of latencies and
// the shape of its protocols.
func (r *Runtime) prior(k collective.Kind, c choice) cost.Kernel {
	a, proto := c.names()
	out := cost.Kernel{Base: units.FromMicroseconds(baseLatency[a][proto]), Hop: units.FromMicroseconds(stepLatency[r.within(c)][a][proto]),
		NetHop: units.FromMicroseconds(stepLatency[overNet][a][proto])}
	if c.algorithm == "p2p" { // a message, which NCCL's constants of other protocols have with its flags
		out.NetHop = units.FromMicroseconds(stepLatency[overNet][Ring][LL])
	}
	slowdown := 1 / r.profile.Engine("sm").Efficiency
	if x := r.profile.Protocol(c.protocol); x != nil {
		out.Hop = units.Time(float64(x.Hop) * stepLatency[r.within(c)][a][proto] / stepLatency[overNVLink][Ring][proto])
		slowdown /= x.Efficiency
		out.Fill = r.filled() * x.Unit
		switch {
		case c.algorithm == "ring" && goesAround(k):
			out.Drain = x.Drain
		case c.algorithm == "tree" && r.rates.nodes == 1:
			out.Drain = treeDrain
		}
	}
	out.Pieces = []cost.Piece{{From: 0, Slowdown: slowdown}}
	return out
}

// names are NCCL's algorithm and protocol of a choice; a ring in the Simple protocol for
// those that NCCL's tables do not hold.
func (c choice) names() (Algo, Proto) {
	a, proto := Ring, Simple
	for i := range numAlgos {
		if Plain(i.String()) == c.algorithm {
			a = i
		}
	}
	for i := range numProtos {
		if Plain(i.String()) == c.protocol {
			proto = i
		}
	}
	return a, proto
}

// within is what a choice's steps inside a node go over: NVSwitches reduce over the links to them alone.
func (r *Runtime) within(c choice) hardware {
	if r.overPCIe() && c.algorithm != "nvls" && c.algorithm != "nvls_tree" {
		return overPCI
	}
	return overNVLink
}

// overPCIe reports whether ranks of a node are joined by PCIe, whether or not through host memory.
func (r *Runtime) overPCIe() bool {
	return r.rates.inside == topology.PCIe.String() || r.rates.inside == cost.HostMemory
}

// goesAround reports whether a ring passes every part around, and copies the last out.
func goesAround(k collective.Kind) bool {
	return k == collective.AllReduce || k == collective.AllGather || k == collective.ReduceScatter
}
