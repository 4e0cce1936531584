package heap

import "cmp"

// Indexed orders items, numbers from 0, each at most once, by keys that may change, equal ones by number: a four-ary heap that
// knows where each one stands, so that one whose key changes moves from there, mostly not far.
type Indexed[K cmp.Ordered] struct {
	list  []keyed[K]
	place []int32 // by item: in the list; −1: not in it
}

type keyed[K cmp.Ordered] struct {
	key  K
	item int32
}

func (a keyed[K]) before(b keyed[K]) bool { return a.key < b.key || a.key == b.key && a.item < b.item }

// Reset takes all items out; from then on there may be those below n.
func (h *Indexed[K]) Reset(n int) {
	if h.list = h.list[:0]; cap(h.place) < n {
		h.place = make([]int32, n)
	}
	h.place = h.place[:n]
	for i := range h.place {
		h.place[i] = -1
	}
}

// Len is the number of items.
func (h *Indexed[K]) Len() int { return len(h.list) }

// Least is the item of the least key.
func (h *Indexed[K]) Least() int32 { return h.list[0].item }

// Has reports whether an item is in.
func (h *Indexed[K]) Has(item int32) bool { return h.place[item] >= 0 }

// Key is that of an item; another one where it is not in.
func (h *Indexed[K]) Key(item int32, other K) K {
	if at := h.place[item]; at >= 0 {
		return h.list[at].key
	}
	return other
}

// Set gives an item a key, whether it had one or not.
func (h *Indexed[K]) Set(item int32, key K) {
	at := h.place[item]
	if at < 0 {
		at = int32(len(h.list))
		h.list = append(h.list, keyed[K]{})
	}
	h.put(at, keyed[K]{key, item})
}

// Remove takes an item out, if it is there.
func (h *Indexed[K]) Remove(item int32) {
	at, last := h.place[item], int32(len(h.list))-1
	if at < 0 {
		return
	}
	moved := h.list[last]
	h.list = h.list[:last]
	h.place[item] = -1
	if at < last {
		h.put(at, moved)
	}
}

// put puts x where it belongs, from a place on that is free.
func (h *Indexed[K]) put(at int32, x keyed[K]) {
	list := h.list
	for at > 0 && x.before(list[(at-1)/4]) {
		list[at] = list[(at-1)/4]
		h.place[list[at].item] = at
		at = (at - 1) / 4
	}
	for first := 4*at + 1; int(first) < len(list); first = 4*at + 1 {
		least := first
		for c := first + 1; c < min(first+4, int32(len(list))); c++ {
			if list[c].before(list[least]) {
				least = c
			}
		}
		if !list[least].before(x) {
			break
		}
		list[at] = list[least]
		h.place[list[at].item] = at
		at = least
	}
	list[at] = x
	h.place[x.item] = at
}
