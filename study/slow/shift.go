package slow

import (
	"container/heap"
	"math"
	"slices"
)

// shift is the point at which a series of times changes its level for good. Whether it does says Pettitt's test (Applied Statistics 28,
// 1979), which looks at ranks alone, so that outliers move it little; the second result is how likely such a shift is where there is
// none, by
// his approximation. Where it is, the step with the least sum of absolute deviations says, of logarithms: factors count, not differences.
func shift(x []float64) (at int, chance float64) {
	n := len(x)
	if n < 2 {
		return 0, 1
	}
	ranks := midRanks(x)
	sum, most := 0.0, 0.0
	for i := range n - 1 {
		sum += ranks[i]
		most = max(most, math.Abs(2*sum-float64(i+1)*float64(n+1)))
	}
	cubic := float64(n)*float64(n)*float64(n) + float64(n)*float64(n)
	return step(x), min(2*math.Exp(-6*most*most/cubic), 1)
}

// tells reports whether so many times could show a shift: one in their middle of all of them, as unlikely by chance.
func tells(n int, chance float64) bool {
	most, cubic := float64(n*n)/4, float64(n)*float64(n)*float64(n)+float64(n)*float64(n)
	return n > 1 && 2*math.Exp(-6*most*most/cubic) < chance
}

// step is the split of a series of positive values with the least sum of absolute deviations from the medians of both sides.
func step(x []float64) (at int) {
	logs := make([]float64, len(x))
	for i, v := range x {
		logs[i] = math.Log(v)
	}
	before := deviations(logs)
	slices.Reverse(logs)
	after := deviations(logs)
	least := math.Inf(1)
	for i := 1; i < len(x); i++ {
		if sum := before[i-1] + after[len(x)-i-1]; sum < least {
			at, least = i, sum
		}
	}
	return at
}

// deviations are, for each beginning of a series, the sum of absolute deviations from its median.
func deviations(x []float64) []float64 {
	low, high := &half{sign: -1}, &half{sign: 1} // the values up to the median, and above it
	out := make([]float64, len(x))
	for i, v := range x {
		if len(low.values) > 0 && v > low.first() {
			heap.Push(high, v)
		} else {
			heap.Push(low, v)
		}
		for len(low.values) > len(high.values)+1 {
			heap.Push(high, heap.Pop(low))
		}
		for len(high.values) > len(low.values) {
			heap.Push(low, heap.Pop(high))
		}
		m := low.first()
		out[i] = high.sum - low.sum + m*float64(len(low.values)-len(high.values))
	}
	return out
}

// half is a heap of half of the values, the one next to the median first.
type half struct {
	values []float64
	sum    float64
	sign   float64 // 1: the least first, -1: the largest
}

func (h *half) first() float64     { return h.values[0] }
func (h *half) Len() int           { return len(h.values) }
func (h *half) Less(i, j int) bool { return h.sign*h.values[i] < h.sign*h.values[j] }
func (h *half) Swap(i, j int)      { h.values[i], h.values[j] = h.values[j], h.values[i] }

func (h *half) Push(v any) {
	h.values, h.sum = append(h.values, v.(float64)), h.sum+v.(float64)
}

func (h *half) Pop() any {
	last := len(h.values) - 1
	v := h.values[last]
	h.values, h.sum = h.values[:last], h.sum-v
	return v
}

// midRanks are the places of values in their order, from 1; equal ones share theirs.
func midRanks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return a - b
	})
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j+1) / 2
		}
		i = j
	}
	return out
}

// median of a list that is not empty.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// mostlyAbove is how likely it is that so many of n values lie above their median by chance: the upper tail of the binomial
// distribution of n fair coins.
func mostlyAbove(above, n int) float64 {
	sum := 0.0
	for k := above; k <= n; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	return min(sum, 1)
}
