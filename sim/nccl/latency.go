package nccl

import (
	"railyard/model/topology"
	"railyard/model/units"
)

// usual are the latencies of links as all shipped topologies have them (facts_test.go there): those of the machines
// that kernels were fitted on, whose hops they are part of.
var usual = map[topology.Medium]units.Time{
	topology.NVLink: 340 * units.Nanosecond, topology.XGMI: 500 * units.Nanosecond, topology.C2C: 340 * units.Nanosecond,
	topology.PCIe: 500 * units.Nanosecond, topology.Socket: 300 * units.Nanosecond, topology.Network: 600 * units.Nanosecond,
}

// beyondUsual is what a route's links take more than usual ones, ps: ten kilometres of fibre 50 µs. A share
// of the bytes that takes another way counts by that share.
func beyondUsual(t *topology.Topology, route *topology.Route) (more float64) {
	for _, h := range route.Hops {
		c := t.Class(h.Link)
		if known, ok := usual[c.Medium]; ok {
			more += float64(c.Latency-known) * float64(h.Num) / float64(h.Den)
		}
	}
	return more
}

// farther is what the links of this machine add to the latencies of kernels that were fitted elsewhere, ps;
// less than nothing where they are faster.
func (r *Runtime) farther(w *Work) float64 {
	return w.Hops*r.rates.hopMore + w.NetHops*r.rates.acrossMore
}
