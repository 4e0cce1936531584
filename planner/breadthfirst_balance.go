package planner

// balance shares items out among links so that the load of the fullest, by its rate, is the
// least there is: for each item some links are allowed. By max-flow from items to links
// whose capacities grow with the load: a set of items that finds no room, with the links that
// they all have to use, is a cut, which says how large the load has to be at least
// (Newton's method, or Dinkelbach's).
type balance struct {
	rates []int64   // by link
	links [][]int32 // by item: where it may go
	past  []int64   // by link: what it has carried before; of equals, the one with less is taken

	share [][]int64 // [item][link]: how much of it goes there
	load  []int64   // by link
	room  []int64   // by link: the most that it may carry
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
			b.room[k] = at.num * rate
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
		b.room[k] = at.num * rate / at.den
	}
	for {
		items, links := b.fill(pieces)
		if items == 0 {
			return at
		}
		need := int64(items) * pieces
		for k, in := range links {
			if in {
				need -= b.room[k]
			}
		}
		for ; need > 0; need-- {
			k := b.next(links)
			b.room[k]++
			if load := (fraction{b.room[k], b.rates[k]}); at.less(load) {
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
	load := func(k int) fraction { return fraction{b.room[k] + 1, b.rates[k]} }
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
	b.load, b.room = make([]int64, len(b.rates)), make([]int64, len(b.rates))
	b.share = make([][]int64, len(b.links))
	for i := range b.share {
		b.share[i] = make([]int64, len(b.rates))
	}
}

// fill shares out so much of every item, on top of what is there. Where there is no room,
// it returns how many items are too many for the links that they have to use.
func (b *balance) fill(amount int64) (items int, links []bool) {
	for i := range b.links {
		left := amount
		for _, s := range b.share[i] {
			left -= s
		}
		for _, k := range b.links[i] {
			n := min(left, b.room[k]-b.load[k])
			b.share[i][k] += n
			b.load[k] += n
			left -= n
		}
		for left > 0 {
			way := b.search(i)
			if way.end < 0 {
				return way.cut()
			}
			left -= b.push(i, way, left)
		}
	}
	return 0, nil
}

// unseen and the first item have no predecessor.
const (
	unseen = -2
	start  = -1
)

// way is how a search came to items and links, and the link with room that it found, or −1.
type way struct {
	itemFrom, linkFrom []int
	end                int
}

// cut is how many items a search came to that found no room, and the links.
func (w *way) cut() (items int, links []bool) {
	for _, from := range w.itemFrom {
		if from != unseen {
			items++
		}
	}
	links = make([]bool, len(w.linkFrom))
	for k, from := range w.linkFrom {
		links[k] = from != unseen
	}
	return items, links
}

// search looks for a link with room for an item, directly or by moving others.
func (b *balance) search(item int) way {
	w := way{itemFrom: make([]int, len(b.links)), linkFrom: make([]int, len(b.rates)), end: -1}
	for i := range w.itemFrom {
		w.itemFrom[i] = unseen
	}
	for k := range w.linkFrom {
		w.linkFrom[k] = unseen
	}
	w.itemFrom[item] = start
	for queue := []int{item}; len(queue) > 0; queue = queue[1:] {
		for _, link := range b.links[queue[0]] {
			k := int(link)
			if w.linkFrom[k] != unseen {
				continue
			}
			w.linkFrom[k] = queue[0]
			if b.load[k] < b.room[k] {
				w.end = k
				return w
			}
			for j := range b.links {
				if b.share[j][k] > 0 && w.itemFrom[j] == unseen {
					w.itemFrom[j] = k
					queue = append(queue, j)
				}
			}
		}
	}
	return w
}

// push moves up to want along a way that was found.
func (b *balance) push(item int, w way, want int64) int64 {
	amount := min(want, b.room[w.end]-b.load[w.end])
	for i := w.linkFrom[w.end]; i != item; i = w.linkFrom[w.itemFrom[i]] {
		amount = min(amount, b.share[i][w.itemFrom[i]])
	}
	b.load[w.end] += amount
	for k := w.end; ; {
		i := w.linkFrom[k]
		b.share[i][k] += amount
		if i == item {
			return amount
		}
		k = w.itemFrom[i]
		b.share[i][k] -= amount
	}
}
