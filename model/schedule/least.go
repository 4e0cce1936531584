package schedule

import "cmp"

// pushLeast enters an element into a binary heap, least first.
func pushLeast[T cmp.Ordered](heap []T, x T) []T {
	heap = append(heap, x)
	i := len(heap) - 1
	for i > 0 && x < heap[(i-1)/2] {
		heap[i] = heap[(i-1)/2]
		i = (i - 1) / 2
	}
	heap[i] = x
	return heap
}

// popLeast takes the least element out of a heap.
func popLeast[T cmp.Ordered](heap []T) (T, []T) {
	first, last := heap[0], heap[len(heap)-1]
	heap = heap[:len(heap)-1]
	i := 0
	for c := 1; c < len(heap); c = 2*i + 1 {
		if c+1 < len(heap) && heap[c+1] < heap[c] {
			c++
		}
		if heap[c] >= last {
			break
		}
		heap[i] = heap[c]
		i = c
	}
	if len(heap) > 0 {
		heap[i] = last
	}
	return first, heap
}
