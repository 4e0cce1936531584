package topology

import (
	"railyard/internal/heap"
	"railyard/model/units"
)

// Full is all of a link's latency.
func (c *Class) Full() units.Time { return c.Latency }

// Distances are the least latencies from the nearest of some devices to every device over any links, of each
// of which latency says what counts, nothing negative (Dijkstra's algorithm from all of them at once), and which of them that
// is, by its place among them: units.MaxTime and −1 where none gets there.
func (t *Topology) Distances(latency func(*Class) units.Time, from ...DeviceID) (dist []units.Time, nearest []int32) {
	type reached struct {
		device DeviceID
		time   units.Time
	}
	dist, nearest = make([]units.Time, len(t.devices)), make([]int32, len(t.devices))
	for d := range dist {
		dist[d], nearest[d] = units.MaxTime, -1
	}
	next := heap.New(func(a, b reached) bool { return a.time < b.time || a.time == b.time && a.device < b.device })
	for i, d := range from {
		dist[d], nearest[d] = 0, int32(i)
		next.Push(reached{d, 0})
	}
	for next.Len() > 0 {
		at := next.Pop()
		if at.time > dist[at.device] {
			continue
		}
		for _, l := range t.Out(at.device) {
			to, d := t.links[l].To, at.time+latency(t.Class(l))
			if d < dist[to] {
				dist[to], nearest[to] = d, nearest[at.device]
				next.Push(reached{to, d})
			}
		}
	}
	return dist, nearest
}
