package planner

import (
	"railyard/internal/maxflow"
	"railyard/planner/pack"
)

// balance shares items out among links so that the load of the fullest, by its rate, is the
// least there is: for each item some links are allowed. By max-flow from items to links
// whose capacities grow with the load: a set of items that finds no room, with the links that
// they all have to use, is a cut, which says how large the load has to be at least
// (as in Newton's method, or Dinkelbach's).
type balance struct {
	rates []int64   // by link
	links [][]int32 // by item: where it may go
	past  []int64   // by link: what it has carried before; of equals, the one with less is taken

	share    [][]int64 // [item][link]: how much of it goes there
	load     []int64   // by link
	capacity []int64   // by link: the most that it may carry
}

// deal shares out items of so many equal pieces each, and returns the load in pieces.
func (b *balance) deal(pieces int64) pack.Fraction {
	b.clear()
	at := b.atLeast(pieces)
	for k, rate := range b.rates {
		b.capacity[k] = at.Num * rate / at.Den
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
			if load := (pack.Fraction{Num: b.capacity[k], Den: b.rates[k]}); at.Cmp(load) < 0 {
				at = load
			}
		}
	}
}

// atLeast is the load of all items over all links that they may use: no load is less.
func (b *balance) atLeast(pieces int64) pack.Fraction {
	at := pack.Fraction{Num: int64(len(b.links)) * pieces}
	used := make([]bool, len(b.rates))
	for _, links := range b.links {
		for _, k := range links {
			if !used[k] {
				used[k] = true
				at.Den += b.rates[k]
			}
		}
	}
	at.Den = max(at.Den, 1)
	return at
}

// next is the link of a set that is the least loaded with one piece more.
func (b *balance) next(of []bool) int {
	load := func(k int) pack.Fraction { return pack.Fraction{Num: b.capacity[k] + 1, Den: b.rates[k]} }
	past := func(k int) pack.Fraction { return pack.Fraction{Num: b.past[k], Den: b.rates[k]} }
	best := -1
	for k, in := range of {
		if in && (best < 0 || load(k).Cmp(load(best)) < 0 || load(best).Cmp(load(k)) >= 0 && past(k).Cmp(past(best)) < 0) {
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
