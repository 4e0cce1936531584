// Package heap has priority queues of values, which need no methods of their own.
package heap

// Heap gives back the least of what it holds. Values that are equally small come in an order that
// depends on what was put in and taken out before, and on nothing else.
type Heap[T any] struct {
	items []T
	less  func(a, b T) bool
}

// New is a heap in an order.
func New[T any](less func(a, b T) bool) *Heap[T] { return &Heap[T]{less: less} }

// Len is the number of values.
func (h *Heap[T]) Len() int { return len(h.items) }

// Least is the value that Pop takes next.
func (h *Heap[T]) Least() T { return h.items[0] }

// Clear takes all values out and keeps their room.
func (h *Heap[T]) Clear() { h.items = h.items[:0] }

// Push puts a value in.
func (h *Heap[T]) Push(x T) {
	h.items = append(h.items, x)
	at := len(h.items) - 1
	for at > 0 {
		up := (at - 1) / 2
		if !h.less(x, h.items[up]) {
			break
		}
		h.items[at] = h.items[up]
		at = up
	}
	h.items[at] = x
}

// Pop takes the least value out.
func (h *Heap[T]) Pop() T {
	last := len(h.items) - 1
	out, x := h.items[0], h.items[last]
	h.items = h.items[:last]
	if last == 0 {
		return out
	}
	at := 0
	for {
		next := 2*at + 1
		if next >= last {
			break
		}
		if next+1 < last && h.less(h.items[next+1], h.items[next]) {
			next++
		}
		if !h.less(h.items[next], x) {
			break
		}
		h.items[at] = h.items[next]
		at = next
	}
	h.items[at] = x
	return out
}
