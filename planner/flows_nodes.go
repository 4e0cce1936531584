package planner

import (
	"maps"
	"slices"

	"railyard/model/topology"
)

// withGateways are the rates of direct links inside nodes, and of the ways from node to node:
// from the ranks next to an adapter through it and on its rail to the same one of another node.
// On one rail, messages have the same adapters at both ends and share both alike; where each
// end is shared with others, links wait for one another.
func (r *request) withGateways() (rateGraph, error) {
	nodes := r.nodes()
	w := &wires{rate: map[[2]int32]float64{}, number: int32(r.spec.Ranks)}
	var out, in [][]int32
	for i, ranks := range nodes {
		direct := directGraph(r.t, ranks)
		if direct == nil || !direct.connected() {
			return nil, notApplicable("direct links do not join the ranks of a node")
		}
		leave, enter, err := r.gatewaysOf(ranks, nodes[(i+1)%len(nodes)])
		if err != nil {
			return nil, err
		}
		w.direct(r, ranks)
		out = append(out, w.gateways(ranks, leave, func(from, to int32) [2]int32 { return [2]int32{from, to} }))
		in = append(in, w.gateways(ranks, enter, func(from, to int32) [2]int32 { return [2]int32{to, from} }))
	}
	w.rails(out, in)
	return w.graph(), nil
}

// wires are the rates of links between vertices: ranks, then what lies between them.
type wires struct {
	rate   map[[2]int32]float64
	number int32 // of vertices
}

func (w *wires) vertex() int32 {
	w.number++
	return w.number - 1
}

// direct adds the links between ranks.
func (w *wires) direct(r *request, ranks []int32) {
	for _, a := range ranks {
		for _, l := range r.t.Out(r.t.Ranks()[a]) {
			if b := r.t.RankOf(r.t.Links()[l].To); b >= 0 {
				w.rate[[2]int32{a, int32(b)}] += float64(r.t.Rate(l))
			}
		}
	}
}

// gateways adds a node's adapters between the ranks that are next to them and the network; way is
// the direction. It returns their ends there.
func (w *wires) gateways(ranks []int32, doors []gateway, way func(from, to int32) [2]int32) (ends []int32) {
	nearest := map[topology.DeviceID]int{}
	for _, d := range doors {
		if h, ok := nearest[d.nic]; !ok || d.hops < h {
			nearest[d.nic] = d.hops
		}
	}
	through := map[topology.DeviceID][2]int32{}
	for i, d := range doors {
		if d.hops > nearest[d.nic] {
			continue
		}
		x, ok := through[d.nic]
		if !ok {
			x = [2]int32{w.vertex(), w.vertex()}
			through[d.nic], ends = x, append(ends, x[1])
		}
		w.rate[way(ranks[i], x[0])] = d.rate
		w.rate[way(x[0], x[1])] = max(w.rate[way(x[0], x[1])], d.rate)
	}
	return ends
}

// rails joins adapters of the same number: networks carry whatever adapters do.
func (w *wires) rails(out, in [][]int32) {
	all := sum(slices.Sorted(maps.Values(w.rate))) // in an order of its own: the last bit decides between paths
	for i := range out {
		for j := range in {
			for k := range max(len(out[i]), len(in[j])) {
				if i != j {
					w.rate[[2]int32{out[i][k%len(out[i])], in[j][k%len(in[j])]}] = all
				}
			}
		}
	}
}

func (w *wires) graph() rateGraph {
	g := make(rateGraph, w.number)
	for v := range g {
		g[v] = make([]float64, w.number)
	}
	for link, rate := range w.rate {
		g[link[0]][link[1]] = rate
	}
	return g
}
