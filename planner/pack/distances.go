package pack

import (
	"container/heap"
	"math"
)

type reach struct {
	dist int64
	v    int32
}

type distances []reach

func (d distances) Len() int           { return len(d) }
func (d distances) Less(i, j int) bool { return d[i].dist < d[j].dist }
func (d distances) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *distances) Push(x any)        { *d = append(*d, x.(reach)) }
func (d *distances) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// from measures distances from a rank and lists what it reaches, nearest first.
func (a *lengths) from(r int32) []int32 {
	for v := range a.dist {
		a.dist[v] = math.MaxInt64
	}
	a.dist[r] = 0
	a.queue = append(a.queue[:0], reach{0, r})
	order := make([]int32, 0, a.g.Vertices)
	done := make([]bool, a.g.Vertices)
	for len(a.queue) > 0 {
		q := heap.Pop(&a.queue).(reach)
		if done[q.v] {
			continue
		}
		done[q.v] = true
		order = append(order, q.v)
		for i := a.start[q.v]; i < a.start[q.v+1]; i++ {
			e := a.g.Edges[i]
			if d := q.dist + a.length[i]; d < a.dist[e.To] {
				a.dist[e.To], a.via[e.To] = d, i
				heap.Push(&a.queue, reach{d, e.To})
			}
		}
	}
	return order
}
