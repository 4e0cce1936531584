package topology

import (
	"math"
	"slices"
)

// affinity gives the ranks that NICs are said to serve those NICs.
func (x *shaper) affinity() {
	for _, d := range x.serves {
		nics, gpus := x.lookup(d.Pos, "serves", d.ID), x.lookup(d.Pos, "serves", d.Serves)
		if nics == nil || gpus == nil {
			continue
		}
		if !inBlocks(nics, gpus, func(nic, g int32) { x.s.devices[g].nics = append(x.s.devices[g].nics, nic) }) {
			x.AddAt(d.Pos, "device %s serves %s: one side must be a multiple of the other", d.ID, d.Serves)
		}
	}
}

// nearest gives the ranks that no NIC serves all those NICs that are the fewest hops
// away over PCIe switches and CPUs: a transfer is striped over them.
func (x *shaper) nearest() {
	hasNIC := slices.ContainsFunc(x.s.devices, func(d shapeDevice) bool { return d.Kind == NIC })
	search := newHostSearch(x.s)
	for _, g := range x.s.ranks {
		own := &x.s.devices[g].nics
		if !hasNIC || *own != nil {
			continue
		}
		steps := search.from(DeviceID(g), false, true)
		for _, d := range search.met {
			if x.s.devices[d].Kind == NIC {
				*own = append(*own, int32(d))
			}
		}
		if !x.spend(x.t.Pos, steps) {
			return
		}
	}
}

// hostSearch finds the ways from a device of a node over PCIe switches, CPUs and memory,
// breadth first. It keeps its working memory between searches.
type hostSearch struct {
	s    *shape
	dist []int32    // from where the search began; −1 where it has not come
	met  []DeviceID // the others, nearest first
}

func newHostSearch(s *shape) *hostSearch {
	return &hostSearch{s: s, dist: slices.Repeat([]int32{-1}, len(s.devices))}
}

// from searches from g (back: for ways to g), no farther than to the nearest NICs where
// these are enough, and says how many links it looked at.
func (h *hostSearch) from(g DeviceID, back, nearest bool) (steps int) {
	for _, d := range h.met {
		h.dist[d] = -1
	}
	h.met = append(h.met[:0], g)
	h.dist[g] = 0
	farthest := int32(math.MaxInt32)
	for i := 0; i < len(h.met) && h.dist[h.met[i]] < farthest; i++ {
		at := h.met[i]
		if at != g && !isHostPath(h.s.devices[at].Kind) {
			continue
		}
		for _, to := range h.s.step(at, back) {
			steps++
			if h.dist[to] >= 0 {
				continue
			}
			h.dist[to] = h.dist[at] + 1
			h.met = append(h.met, to)
			if nearest && h.s.devices[to].Kind == NIC {
				farthest = h.dist[to]
			}
		}
	}
	return steps
}
