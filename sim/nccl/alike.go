package nccl

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// source is a kernel that others by the same protocol over the same medium can be told from.
type source struct {
	kind      collective.Kind
	algorithm string
}

// sources are what rings and trees can be told from, the best known first.
var sources = []source{{collective.AllReduce, "ring"}, {collective.AllGather, "ring"}, {collective.ReduceScatter, "ring"},
	{collective.AllReduce, "tree"}, {collective.Broadcast, "ring"}, {collective.Reduce, "ring"}}

// alike tells a ring or tree inside nodes from a kernel by the same protocol over the same medium, of this machine or else of all: the
// same loads and stores of the same thread blocks start it, make a hop and move a byte. What of that the library's constants say is
// different is as different. Across networks proxies and adapters make the hops, which cost trees and rings differently
// (docs/evidence/predictions.md), and nothing is told so.
func (r *Runtime) alike(a Ask, c choice) (*cost.Kernel, string) {
	if c.algorithm != "ring" && c.algorithm != "tree" || cost.ClassOf(r.rates.over) == cost.Across {
		return nil, ""
	}
	for _, p := range []*cost.Profile{r.profile, r.general} {
		for _, s := range sources {
			like := choice{algorithm: s.algorithm, protocol: c.protocol}
			x := cmp.Or(p.Kernel(r.key(s.kind, like, a.Graph)), p.Kernel(r.key(s.kind, like, !a.Graph)))
			if x == nil {
				continue
			}
			return r.told(a, c, x, s), fmt.Sprintf("profile %s has no kernel for %v by %s/%s over %s: it was told from that of %v by %s "+
				"in profile %s", r.profile.Name, a.Kind, c.algorithm, c.protocol, r.rates.over, s.kind, s.algorithm, p.Name)
		}
	}
	return nil, ""
}

// told is a kernel as that of a source says.
func (r *Runtime) told(a Ask, c choice, x *cost.Kernel, s source) *cost.Kernel {
	to, from := r.prior(a.Kind, c), r.prior(s.kind, choice{algorithm: s.algorithm, protocol: c.protocol})
	k := *x
	k.KernelKey = r.key(a.Kind, c, a.Graph)
	k.Base, k.Hop = scaled(x.Base, to.Base, from.Base), scaled(x.Hop, to.Hop, from.Hop)
	k.Drain, k.Fill, k.Pieces = to.Drain, to.Fill, slices.Clone(x.Pieces)
	share := r.atOnce(chained(a.Kind, c.algorithm)) / r.atOnce(chained(s.kind, s.algorithm))
	for i := range k.Pieces {
		k.Pieces[i].Slowdown *= share
	}
	return &k
}

// scaled is a time in the proportion of two others.
func scaled(t, to, from units.Time) units.Time {
	return units.Time(float64(t) * float64(to) / float64(max(from, 1)))
}

// chained reports whether an algorithm passes everything down a chain.
func chained(k collective.Kind, algorithm string) bool { return algorithm == "tree" || !goesAround(k) }

// atOnce is the share of a ring's messages that are on the way at a time, where that decides: through host memory, which all messages of
// a node share, a chain from or to a root has one less, half as many on two GPUs.
func (r *Runtime) atOnce(chain bool) float64 {
	if n := float64(r.rates.ranks); chain && r.rates.over == cost.HostMemory {
		return (n - 1) / n
	}
	return 1
}
