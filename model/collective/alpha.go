package collective

import (
	"fmt"
	"math/bits"

	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat where links have their latencies:
// some rank's data must travel to the rank farthest from it, over whatever links and
// relays. Ranks may talk to any number of others at once, so the number of steps is no
// bound of its own. Of each link what latency says counts. Time is in picoseconds; Cut names the two ranks.
func LatencyBound(t *topology.Topology, s Spec, latency func(*topology.Class) units.Time) Bound {
	var best Bound
	budget := maxLooks
	for i, src := range s.sources() {
		if budget -= len(t.Devices()); budget < 0 && i > 0 {
			break
		}
		dist, nearest := t.Distances(latency, t.Ranks()[src])
		for dst, d := range t.Ranks() {
			if nearest[d] < 0 || dist[d] <= best.Time || !s.travels(src, dst) {
				continue
			}
			best = Bound{dist[d], fmt.Sprintf("data must travel between %s and %s", t.DeviceName(t.Ranks()[src]), t.DeviceName(d))}
		}
	}
	return best
}

// maxLooks bounds the devices that are looked at: the ways of fewer ranks are a bound as
// well.
const maxLooks = 1 << 17

// sources are the ranks whose ways are measured: where no root says which, the first one,
// then others far from it; where each sends to the next, the last one first, whose next
// is the first.
func (s Spec) sources() []int {
	switch {
	case s.Ranks < 2:
		return nil
	case s.Kind.Rooted():
		return []int{s.Root}
	}
	out := make([]int, s.Ranks)
	if s.Kind == SendRecv {
		for i := range out {
			out[i] = (s.Ranks - 1 + i) % s.Ranks
		}
		return out
	}
	width := bits.Len(uint(s.Ranks - 1))
	k := 0
	for i := range 1 << width { // by turns from all over
		if r := int(bits.Reverse64(uint64(i)) >> (64 - width)); r < s.Ranks {
			out[k] = r
			k++
		}
	}
	return out
}

// travels reports whether something has to get from one rank to the other, or back.
func (s Spec) travels(src, dst int) bool {
	switch s.Kind {
	case SendRecv:
		return dst == (src+1)%s.Ranks
	case AllToAllV:
		return s.Counts[src][dst] > 0
	}
	return true
}
