package pack

import "math"

// reach is a vertex and how far away it is.
type reach struct {
	dist int64
	v    int32
}

// from measures distances from a rank and lists what it reaches, nearest first.
func (a *lengths) from(r int32) []int32 {
	for v := range a.dist {
		a.dist[v] = math.MaxInt64
	}
	a.dist[r] = 0
	a.queue.Clear()
	a.queue.Push(reach{0, r})
	order := make([]int32, 0, a.g.Vertices)
	done := make([]bool, a.g.Vertices)
	for a.queue.Len() > 0 {
		q := a.queue.Pop()
		if done[q.v] {
			continue
		}
		done[q.v] = true
		order = append(order, q.v)
		for i := a.start[q.v]; i < a.start[q.v+1]; i++ {
			e := a.g.Edges[i]
			if d := q.dist + a.length[i]; d < a.dist[e.To] {
				a.dist[e.To], a.via[e.To] = d, i
				a.queue.Push(reach{d, e.To})
			}
		}
	}
	return order
}
