package collective

import (
	"container/heap"
	"fmt"
	"math/bits"

	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat where links have their latencies:
// some rank's data must travel to the rank farthest from it, over whatever links and
// relays. Ranks may talk to any number of others at once, so the number of steps is no
// bound of its own. Time is in picoseconds; Cut names the two ranks.
func LatencyBound(t *topology.Topology, s Spec) Bound {
	var best Bound
	budget := maxLooks
	for i, src := range s.sources() {
		if budget -= len(t.Devices()); budget < 0 && i > 0 {
			break
		}
		dist := distances(t, t.Ranks()[src])
		for dst, d := range t.Ranks() {
			if dist[d] <= best.Time || !s.travels(src, dst) {
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

// distances is Dijkstra's algorithm over link latencies; devices that cannot be
// reached are at 0, which keeps the bound valid.
func distances(t *topology.Topology, from topology.DeviceID) []units.Time {
	dist := make([]units.Time, len(t.Devices()))
	done := make([]bool, len(t.Devices()))
	for i := range dist {
		dist[i] = units.MaxTime
	}
	dist[from] = 0
	q := &nearest{{from, 0}}
	for q.Len() > 0 {
		at := heap.Pop(q).(reached)
		if done[at.device] {
			continue
		}
		done[at.device] = true
		for _, l := range t.Out(at.device) {
			to, d := t.Links()[l].To, at.time+t.Class(l).Latency
			if d < dist[to] {
				dist[to] = d
				heap.Push(q, reached{to, d})
			}
		}
	}
	for i := range dist {
		if dist[i] == units.MaxTime {
			dist[i] = 0
		}
	}
	return dist
}

// reached is a device and when data can be there.
type reached struct {
	device topology.DeviceID
	time   units.Time
}

// nearest is a heap of devices, nearest first; ties by device.
type nearest []reached

func (q nearest) Len() int { return len(q) }
func (q nearest) Less(i, j int) bool {
	return q[i].time < q[j].time || q[i].time == q[j].time && q[i].device < q[j].device
}
func (q nearest) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *nearest) Push(x any)   { *q = append(*q, x.(reached)) }
func (q *nearest) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
