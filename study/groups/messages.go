package groups

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/grouptest"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/fit"
	"railyard/study/network"
)

// probed is what measures messages, as grouptest counts: they are off, and slowed, by something else than collectives.
const probed = 1

// messages are those between two nodes, of the largest size, as tests of two nodes over the adapters that their routes use. Each is held
// against what the messages in the middle reach of the rates of their routes.
func (d *diagnosis) messages() (out []grouptest.Result, err error) {
	if len(d.Messages) == 0 {
		return nil, nil
	}
	t := d.Topology
	ranks, err := network.FirstRanks(d.Messages, t)
	if err != nil {
		return nil, err
	}
	pairs, err := fit.Pairs(d.Messages, t, ranks)
	if err != nil {
		return nil, err
	}
	size := units.Bytes(0)
	for s := range pairs[0].Times {
		size = max(size, s)
	}
	took := func(p *fit.Pair) float64 { return measurement.Median(p.Times[size]) }
	pairs = slices.DeleteFunc(pairs, func(p fit.Pair) bool {
		return t.NodeOf(ranks[p.A]) == t.NodeOf(ranks[p.B]) || len(p.Times[size]) == 0 || took(&p) <= 0
	})
	if len(pairs) == 0 {
		d.doc.Notes = append(d.doc.Notes, "none of probe's messages was between two nodes: they say nothing of the network")
	}
	var all []float64
	for i := range pairs {
		all = append(all, took(&pairs[i])/size.Over(pairs[i].Line).Microseconds())
	}
	usual, router := measurement.Median(all), topology.NewRouter(t)
	for i := range pairs {
		p := &pairs[i]
		a, b := t.NodeOf(ranks[p.A]), t.NodeOf(ranks[p.B])
		x := grouptest.Test{Nodes: []int{min(a, b), max(a, b)}, Adapters: d.adaptersBetween(router, ranks[p.A], ranks[p.B])}
		out = append(out, grouptest.Result{Test: x, By: probed, Longer: math.Log(all[i] / usual)})
		should := usual * size.Over(p.Line).Microseconds()
		d.doc.Rows = append(d.doc.Rows, report.GroupRow{File: fmt.Sprintf("message %d→%d", p.A, p.B), Nodes: 2, Hosts: d.list(x.Nodes),
			Adapters: units.Ranges(x.Adapters, ","), MeasuredUS: took(p), ExpectedUS: should, Longer: all[i] / usual})
	}
	d.doc.Messages = len(out)
	return out, nil
}

// adaptersBetween are the adapters of the route between two ranks, by number within their nodes; nil where nodes have one.
func (d *diagnosis) adaptersBetween(r *topology.Router, a, b int) (out []int) {
	if d.cluster.Adapters < 2 {
		return nil
	}
	route, err := r.Route(a, b)
	if err != nil {
		return nil
	}
	for _, nic := range route.NICs {
		at := 0
		for _, x := range d.Topology.Devices()[:nic] {
			if x.Kind == topology.NIC && x.Node == d.Topology.Devices()[nic].Node {
				at++
			}
		}
		out = append(out, at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
