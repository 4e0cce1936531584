package pack

// dense finds maximal flows in small graphs given as matrices.
type dense struct {
	n     int
	left  [][]int64
	level []int
	next  []int
	queue []int
}

func newDense(n int) *dense {
	d := &dense{n: n, left: make([][]int64, n), level: make([]int, n), next: make([]int, n)}
	for v := range d.left {
		d.left[v] = make([]int64, n)
	}
	return d
}

func (d *dense) reset() {
	for v := range d.left {
		clear(d.left[v])
	}
}

func (d *dense) run(source, sink int, need int64) int64 {
	var total int64
	for total < need && d.search(source, sink) {
		clear(d.next)
		for total < need {
			got := d.push(source, sink, need-total)
			if got == 0 {
				break
			}
			total += got
		}
	}
	return total
}

func (d *dense) search(source, sink int) bool {
	for v := range d.level {
		d.level[v] = -1
	}
	d.level[source] = 0
	d.queue = append(d.queue[:0], source)
	for i := 0; i < len(d.queue) && d.level[sink] < 0; i++ {
		u := d.queue[i]
		for v, c := range d.left[u] {
			if c > 0 && d.level[v] < 0 {
				d.level[v] = d.level[u] + 1
				d.queue = append(d.queue, v)
			}
		}
	}
	return d.level[sink] >= 0
}

func (d *dense) push(u, sink int, want int64) int64 {
	if u == sink {
		return want
	}
	var got int64
	for ; d.next[u] < d.n; d.next[u]++ {
		v := d.next[u]
		if c := d.left[u][v]; c > 0 && d.level[v] == d.level[u]+1 {
			if m := d.push(v, sink, min(c, want-got)); m > 0 {
				d.left[u][v] -= m
				d.left[v][u] += m
				if got += m; got == want {
					return got
				}
			}
		}
	}
	return got
}
