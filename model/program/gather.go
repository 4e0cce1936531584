package program

import (
	"slices"

	"railyard/model/schedule"
)

// gathering makes one operation of several on neighbouring chunks that different thread blocks do, where nothing between them has to do
// with these chunks. What one thread block does one after the other stays apart: its plan may want a pipeline.
type gathering struct {
	w       *writer
	out     []*operation // nil: became part of another
	at      map[*operation]int
	blocks  map[*operation][]int // whose parts an operation has
	ends    map[end]*operation   // those whose last chunk is before this
	readers map[cellKey][]*operation
	writers map[cellKey][]*operation
}

// end is where an operation's next chunk would be; of messages of the receiver.
type end struct {
	rank int
	kind schedule.OpKind
	dst  Place
}

func (x *strand) gather(w *writer) {
	g := &gathering{w: w, at: map[*operation]int{}, blocks: map[*operation][]int{}, ends: map[end]*operation{},
		readers: map[cellKey][]*operation{}, writers: map[cellKey][]*operation{}}
	for _, o := range x.ops {
		if a := g.ends[end{o.rank, o.kind, o.dst}]; a != nil && !o.kind.Sends() && g.joins(a, o) {
			g.join(a, o)
			continue
		}
		g.add(o)
	}
	x.ops = g.out
	x.compact()
}

func (g *gathering) add(o *operation) {
	g.out = append(g.out, o)
	g.at[o], g.blocks[o] = len(g.out)-1, []int{o.block}
	g.note(o, o)
	if !o.kind.Sends() {
		g.ends[end{o.rank, o.kind, o.dst.plus(o.n)}] = o
	}
}

// note says that what an operation uses is used by that which it is part of.
func (g *gathering) note(o, by *operation) {
	g.w.uses(o, func(key cellKey, write bool) {
		if write {
			g.writers[key] = append(g.writers[key], by)
		} else {
			g.readers[key] = append(g.readers[key], by)
		}
	})
}

// joins reports whether an operation, with the sending end of its message, can be done with an earlier one that ends where it begins.
func (g *gathering) joins(a, o *operation) bool {
	if !g.beside(a, o) || len(a.msgs) != len(o.msgs) || len(o.msgs) > 1 {
		return false
	}
	if o.local() {
		return true
	}
	from, to := a.msgs[0].send, o.msgs[0].send
	return from.rank == to.rank && from.kind == schedule.Send && to.kind == schedule.Send && g.beside(from, to)
}

// beside reports whether an operation is of another thread block, of neighbouring chunks, which nothing uses since the earlier one.
func (g *gathering) beside(a, o *operation) bool {
	if a.lazy != o.lazy || a.taken != o.taken || a.stage != o.stage || len(a.srcs) != len(o.srcs) || slices.Contains(g.blocks[a], o.block) {
		return false
	}
	for i := range o.srcs {
		if a.srcs[i].plus(a.n) != o.srcs[i] {
			return false
		}
	}
	free := true
	g.w.uses(o, func(key cellKey, write bool) {
		free = free && !g.since(a, o, g.writers[key]) && !(write && g.since(a, o, g.readers[key]))
	})
	return free
}

// since reports whether an earlier operation, or one behind it, is one of a list; o is not meant.
func (g *gathering) since(a, o *operation, list []*operation) bool {
	return slices.ContainsFunc(list, func(x *operation) bool { return x != o && g.at[x] >= g.at[a] })
}

func (g *gathering) join(a, o *operation) {
	delete(g.ends, end{a.rank, a.kind, a.dst.plus(a.n)})
	g.widen(a, o)
	g.ends[end{a.rank, a.kind, a.dst.plus(a.n)}] = a
	for i, m := range o.msgs {
		g.out[g.at[m.send]] = nil
		g.widen(a.msgs[i].send, m.send)
	}
}

// widen makes an operation part of an earlier one.
func (g *gathering) widen(a, o *operation) {
	g.note(o, a)
	a.n += o.n
	g.at[o], g.blocks[a] = g.at[a], append(g.blocks[a], o.block)
}
