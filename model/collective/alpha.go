package collective

import (
	"container/heap"

	"railyard/model/topology"
	"railyard/model/units"
)

// LatencyBound is a time that no schedule can beat where links have their latencies:
// some rank's data must travel to the rank farthest from it, over whatever links and
// relays. Ranks may talk to any number of others at once, so the number of steps is no
// bound of its own.
func LatencyBound(t *topology.Topology, s Spec) units.Time {
	if s.Ranks < 2 {
		return 0
	}
	if s.Kind == SendRecv {
		return distances(t, t.Ranks()[0])[t.Ranks()[1]]
	}
	if s.Kind == AllToAllV {
		return s.farthest(t)
	}
	from := t.Ranks()[0]
	if s.Kind.Rooted() {
		from = t.Ranks()[s.Root]
	}
	dist := distances(t, from)
	var farthest units.Time
	for _, r := range t.Ranks() {
		farthest = max(farthest, dist[r])
	}
	return farthest
}

// maxSources bounds the ranks of an all_to_allv whose ways are measured: fewer are a
// bound as well.
const maxSources = 64

// farthest is the longest way of all_to_allv's messages that are not empty.
func (s Spec) farthest(t *topology.Topology) units.Time {
	var out units.Time
	sources := 0
	for src, counts := range s.Counts {
		var dist []units.Time
		for dst, c := range counts {
			if c == 0 || dst == src {
				continue
			}
			if dist == nil {
				if sources++; sources > maxSources {
					return out
				}
				dist = distances(t, t.Ranks()[src])
			}
			out = max(out, dist[t.Ranks()[dst]])
		}
	}
	return out
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
