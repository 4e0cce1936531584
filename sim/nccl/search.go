package nccl

// searcher looks for channels depth first, and gives up after a number of steps. It
// varies cur and keeps the best in best.
type searcher struct {
	s         *system
	cur, best *channels
	steps     int   // left; −1 where best cannot be beaten
	tries     []int // the GPUs to try next, of each visit under way behind those of the visit before it
}

// order says in which order a channel visits the GPUs.
type order int

const (
	anyOrder  order = iota
	pciOrder        // as numbered
	lastOrder       // as the channel before
)

// goal says where the chain of a channel has to touch base.
type goal struct {
	net   int // at this position it goes to a NIC; −1: no more
	first int // at this position it returns to its first GPU; −1: not
}

func (s *system) goal(p pattern) goal {
	last := len(s.of[vGPU]) - 1
	switch {
	case s.inter && p == ringPattern:
		return goal{net: last, first: -1}
	case s.inter:
		return goal{net: 0, first: -1}
	case p == ringPattern:
		return goal{net: -1, first: last}
	}
	return goal{net: -1, first: -1}
}

// channel adds one more channel in all ways that are worth trying.
func (x *searcher) channel() {
	want := x.s.goal(x.cur.pattern)
	if x.s.inter {
		x.fromNets(want)
		return
	}
	c := x.cur
	switch {
	case c.pattern == nvlsPattern:
		x.enter(nil, c.n, 0, want, anyOrder)
		return
	case c.n == 0:
		x.enter(nil, 0, 0, want, pciOrder)
	default:
		x.enter(nil, c.intra[c.n-1][0], 0, want, lastOrder)
	}
	if !c.same || c.n == 0 {
		for g := range x.s.of[vGPU] {
			x.enter(nil, g, 0, want, anyOrder)
		}
	}
}

// enter goes on to GPU g as the channel's member number step, if the links from the
// vertex before it (nil: none) allow.
func (x *searcher) enter(from *vertex, g, step int, want goal, o order) {
	gpu, bit := x.s.of[vGPU][g], uint64(1)<<x.cur.n
	if from != nil && !x.s.follow(x.cur, from, gpu, 1) {
		return
	}
	gpu.used ^= bit
	x.visit(gpu, step, want, o)
	gpu.used ^= bit
	if from != nil {
		x.s.follow(x.cur, from, gpu, -1)
	}
}

// visit is at a GPU; step counts the GPUs before it.
func (x *searcher) visit(gpu *vertex, step int, want goal, o order) {
	if x.steps <= 0 {
		return
	}
	x.steps--
	c, n := x.cur, len(x.s.of[vGPU])
	if step == n {
		x.complete()
		return
	}
	c.intra[c.n][step] = gpu.index
	switch {
	case step == want.net:
		x.toNet(gpu, step, want, o)
	case c.pattern == nvlsPattern:
		x.nvlsHead(gpu)
	case step < n-1:
		from := len(x.tries)
		x.next(gpu, step, want, o)
		for i, to := from, len(x.tries); i < to; i++ {
			x.enter(gpu, x.tries[i], step+1, want, o)
		}
		x.tries = x.tries[:from]
	case step == want.first:
		first := x.s.of[vGPU][c.intra[c.n][0]]
		if x.s.follow(c, gpu, first, 1) {
			x.visit(first, step+1, goal{net: want.net, first: -1}, o)
			x.s.follow(c, gpu, first, -1)
		}
	default:
		x.visit(gpu, n, goal{-1, -1}, o)
	}
}

// next adds the GPUs to try after gpu.
func (x *searcher) next(gpu *vertex, step int, want goal, o order) {
	switch o {
	case pciOrder:
		x.tries = append(x.tries, step+1)
		return
	case lastOrder:
		x.tries = append(x.tries, x.cur.intra[x.cur.n-1][step+1])
		return
	}
	towards := -1
	switch want.net {
	case -1:
		towards = 0
	case step + 1:
		towards = 1
	}
	x.candidates(gpu, towards)
}

// complete has a whole channel: it is kept where the set of channels got better, and the
// search goes on with one more.
func (x *searcher) complete() {
	c := x.cur
	c.n++
	if x.better() {
		x.best.copyFrom(c)
		if c.n == c.max {
			x.steps = -1
		}
	}
	if c.n < c.max {
		x.channel()
	}
	c.n--
}

// better compares what is found with the best (ncclTopoCompareGraphs).
func (x *searcher) better() bool {
	c, b := x.cur, x.best
	switch {
	case c.n < c.min:
		return false
	case c.pattern == nvlsPattern:
		return c.n > b.n && c.n <= len(x.s.of[vGPU]) || float64(c.n)*c.bwInter > float64(b.n)*b.bwInter
	}
	mine, theirs := float64(c.n)*c.bwIntra, float64(b.n)*b.bwIntra
	if mine != theirs {
		return mine > theirs
	}
	return c.pattern == b.pattern && c.crossNIC == b.crossNIC && c.hops < b.hops
}

// nvlsHead takes what a head of NVLS needs: each GPU sends and receives once, the head
// twice.
func (x *searcher) nvlsHead(head *vertex) {
	nvs := x.s.of[vNVS][0]
	times := func(g *vertex) float64 {
		if g == head {
			return 2
		}
		return 1
	}
	down := func(g *vertex, sign float64) bool { return x.s.follow(x.cur, nvs, g, sign*times(g)) }
	up := func(g *vertex, sign float64) bool { return x.s.follow(x.cur, g, nvs, sign*times(g)) }
	x.all(down, func() {
		x.all(up, func() { x.visit(nil, len(x.s.of[vGPU]), goal{-1, -1}, anyOrder) })
	})
}

// all takes from every GPU, and if that went well does then; it gives back what it took.
func (x *searcher) all(take func(g *vertex, sign float64) bool, then func()) {
	gpus := x.s.of[vGPU]
	n := 0
	for n < len(gpus) && take(gpus[n], 1) {
		n++
	}
	if n == len(gpus) {
		then()
	}
	for n > 0 {
		n--
		take(gpus[n], -1)
	}
}
