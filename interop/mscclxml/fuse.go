package mscclxml

import (
	"cmp"
	"maps"
	"slices"

	"railyard/model/program"
	"railyard/model/schedule"
)

// pairFused finds sends that pass on exactly what a receive has brought, and lets the
// connections with most of them share thread blocks.
func (g *gpuBuilder) pairFused() {
	candidates := g.candidates()
	type pair struct{ in, out conn }
	count := map[pair]int{}
	for i, sends := range candidates {
		for _, j := range sends {
			count[pair{g.conn(i), g.conn(j)}]++
		}
	}
	order := slices.SortedFunc(maps.Keys(count), func(a, b pair) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), compareConn(a.in, b.in), compareConn(a.out, b.out))
	})
	for _, x := range order {
		if g.recvTB[x.in] == nil && g.sendTB[x.out] == nil && x.in.strand == x.out.strand {
			b := g.newBlock(x.in.strand, x.out.peer, x.in.peer)
			g.recvTB[x.in], g.sendTB[x.out] = b, b
		}
	}
	g.fused, g.sends = map[int]int{}, map[int]bool{}
	for i, sends := range candidates {
		for _, j := range sends {
			if _, done := g.fused[i]; !done && g.recvTB[g.conn(i)] != nil && g.recvTB[g.conn(i)] == g.sendTB[g.conn(j)] {
				g.fused[i], g.sends[j] = j, true
			}
		}
	}
}

func (g *gpuBuilder) conn(i int) conn {
	return conn{g.strandOf(&g.steps[i]), g.steps[i].Peer}
}

func compareConn(a, b conn) int {
	return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.group, b.group), cmp.Compare(a.peer, b.peer))
}

// candidates are, by receive, the sends that could be one step with it: they depend on
// it alone, and their connection has sent nothing since.
func (g *gpuBuilder) candidates() map[int][]int {
	out := map[int][]int{}
	lastSend := map[conn]int{}
	for j := range g.steps {
		s := &g.steps[j]
		if s.Kind != schedule.Send {
			continue
		}
		before, sent := lastSend[g.conn(j)]
		lastSend[g.conn(j)] = j
		if len(g.deps[j]) != 1 {
			continue
		}
		i := g.deps[j][0]
		r := &g.steps[i]
		if (r.Kind == schedule.Recv || r.Kind == schedule.RecvReduce) && r.Dst == s.Src && r.Count == s.Count && (!sent || before < i) {
			out[i] = append(out[i], j)
		}
	}
	return out
}

// readElsewhere reports whether what step i writes is read by another step than its own send, or
// is a result.
func (g *gpuBuilder) readElsewhere(i, send int) bool {
	s := &g.steps[i]
	for k := range s.Count {
		if g.readElsewhereAt(g.memory(s.Dst, k), i, send) {
			return true
		}
	}
	return false
}

// memory is the k-th chunk of a place as memory: in-place buffers are one.
func (g *gpuBuilder) memory(p program.Place, k int) program.Place {
	p.At += k
	return g.p.Memory(g.rank, p)
}

func (g *gpuBuilder) readElsewhereAt(p program.Place, i, send int) bool {
	hits := func(at program.Place, n int) bool {
		for k := range n {
			if g.memory(at, k) == p {
				return true
			}
		}
		return false
	}
	for j := i + 1; j < len(g.steps); j++ {
		s := &g.steps[j]
		if j == send {
			continue
		}
		for _, r := range s.Reads() {
			if hits(r, s.Count) {
				return true
			}
		}
		if s.Writes() && hits(s.Dst, s.Count) {
			return false
		}
	}
	return p.Buf != schedule.Scratch
}
