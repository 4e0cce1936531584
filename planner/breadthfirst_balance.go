package planner

import "railyard/internal/maxflow"

// balance shares items out among links so that the load of the fullest, by its rate, is the
// least there is: for each item some links are allowed. By max-flow from items to links
// whose capacities grow with the load: a set of items that finds no room, with the links that
// they all have to use, is a cut, which says how large the load has to be at least
// (Newton's method, or Dinkelbach's).
type balance struct {
	rates []int64   // by link
	links [][]int32 // by item: where it may go
	past  []int64   // by link: what it has carried before; of equals, the one with less is taken

	share    [][]int64 // [item][link]: how much of it goes there
	load     []int64   // by link
	capacity []int64   // by link: the most that it may carry
}

// fraction is a number that is not negative; the zero value is 0.
type fraction struct{ num, den int64 }

func (a fraction) float() float64 {
	if a.num == 0 {
		return 0
	}
	return float64(a.num) / float64(a.den)
}

func (a fraction) less(b fraction) bool {
	return a.num*max(b.den, 1) < b.num*max(a.den, 1) // pieces times bytes/s: far from the largest number
}

// exact is the least load of items that may be cut anywhere.
func (b *balance) exact() fraction {
	at := b.atLeast(1)
	for {
		b.clear()
		for k, rate := range b.rates {
			b.capacity[k] = at.num * rate
		}
		items, links := b.fill(at.den)
		if items == 0 {
			return at
		}
		var rates int64
		for k, in := range links {
			if in {
				rates += b.rates[k]
			}
		}
		at = fraction{int64(items), rates}
	}
}

// deal shares out items of so many equal pieces each, and returns the load in pieces.
func (b *balance) deal(pieces int64) fraction {
	b.clear()
	at := b.atLeast(pieces)
	for k, rate := range b.rates {
		b.capacity[k] = at.num * rate / at.den
	}
	for {
		items, links := b.fill(pieces)
		if items == 0 {
			return at
		}
		need := int64(items) * pieces
		for k, in := range links {
			if in {
				need -= b.capacity[k]
			}
		}
		for ; need > 0; need-- {
			k := b.next(links)
			b.capacity[k]++
			if load := (fraction{b.capacity[k], b.rates[k]}); at.less(load) {
				at = load
			}
		}
	}
}

// atLeast is the load of all items over all links that they may use: no load is less.
func (b *balance) atLeast(pieces int64) fraction {
	at := fraction{num: int64(len(b.links)) * pieces}
	used := make([]bool, len(b.rates))
	for _, links := range b.links {
		for _, k := range links {
			if !used[k] {
				used[k] = true
				at.den += b.rates[k]
			}
		}
	}
	at.den = max(at.den, 1)
	return at
}

// next is the link of a set that is the least loaded with one piece more.
func (b *balance) next(of []bool) int {
	load := func(k int) fraction { return fraction{b.capacity[k] + 1, b.rates[k]} }
	past := func(k int) fraction { return fraction{b.past[k], b.rates[k]} }
	best := -1
	for k, in := range of {
		if in && (best < 0 || load(k).less(load(best)) || !load(best).less(load(k)) && past(k).less(past(best))) {
			best = k
		}
	}
	return best
}

func (b *balance) clear() {
	b.load, b.capacity = make([]int64, len(b.rates)), make([]int64, len(b.rates))
	b.share = make([][]int64, len(b.links))
	for i := range b.share {
		b.share[i] = make([]int64, len(b.rates))
	}
}

// fill shares out so much of every item. Where there is no room, it returns how many items are too
// many for the links that they have to use. The flow goes backwards, from links to items, so that the
// cut is that of the items that find no room.
func (b *balance) fill(amount int64) (items int, links []bool) {
	n := int32(len(b.rates))
	source, sink := n+int32(len(b.links)), n+int32(len(b.links))+1
	net := maxflow.New(int(sink) + 1)
	for k, capacity := range b.capacity {
		net.Arc(source, int32(k), capacity)
	}
	arcs := make([][]int32, len(b.links))
	for i, allowed := range b.links {
		for _, k := range allowed {
			arcs[i] = append(arcs[i], net.Arc(k, n+int32(i), amount))
		}
		net.Arc(n+int32(i), sink, amount)
	}
	if want := amount * int64(len(b.links)); net.Flow(source, sink, want) < want {
		links = make([]bool, n)
		for i := range b.links {
			if net.Beyond(n + int32(i)) {
				items++
			}
		}
		for k := range links {
			links[k] = net.Beyond(int32(k))
		}
		return items, links
	}
	clear(b.load)
	for i, allowed := range b.links {
		for j, k := range allowed {
			b.share[i][k] = net.Carried(arcs[i][j])
			b.load[k] += b.share[i][k]
		}
	}
	return 0, nil
}
