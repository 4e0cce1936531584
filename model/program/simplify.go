package program

import (
	"cmp"
	"slices"

	"railyard/model/schedule"
)

// simplify leaves out what nobody reads, makes one operation of what several thread blocks do side by side, receives packets where they are
// unpacked to, and sends data as soon as they are there. A thread block of a foreign program does one thing at a time; a rank of a schedule
// has as many threads for each operation as it is worth.
func (x *strand) simplify(w *writer) {
	x.leaveOut(w)
	x.gather(w)
	x.forward(w)
	x.hasten(w)
}

// reads and writes are the cells that an operation uses, in its rank's memory.
func (w *writer) reads(o *operation) (out []cellKey) {
	w.uses(o, func(key cellKey, write bool) {
		if !write {
			out = append(out, key)
		}
	})
	return out
}

func (w *writer) writes(o *operation) (out []cellKey) {
	w.uses(o, func(key cellKey, write bool) {
		if write {
			out = append(out, key)
		}
	})
	return out
}

// local reports whether an operation has to do with its own rank alone.
func (o *operation) local() bool { return len(o.msgs) == 0 }

// leaveOut drops local operations whose results nobody reads.
func (x *strand) leaveOut(w *writer) {
	read := map[cellKey]bool{} // scratch that is read before it is written again
	for i, o := range slices.Backward(x.ops) {
		writes := w.writes(o)
		if o.local() && o.dst.Buf == schedule.Scratch && !slices.ContainsFunc(writes, func(c cellKey) bool { return read[c] }) {
			x.ops[i] = nil
			continue
		}
		for _, c := range writes {
			delete(read, c)
		}
		for _, c := range w.reads(o) {
			read[c] = true
		}
	}
	x.compact()
}

func (x *strand) compact() {
	x.ops = slices.DeleteFunc(x.ops, func(o *operation) bool { return o == nil })
}

// forward receives packets where they are unpacked to.
func (x *strand) forward(w *writer) {
	next := map[cellKey][]*operation{} // who uses a cell from here on, the last first
	at := map[*operation]int{}
	for i, o := range slices.Backward(x.ops) {
		at[o] = i
		c := x.copyOf(w, o, next)
		w.uses(o, func(key cellKey, _ bool) { next[key] = append(next[key], o) }) // as it was: what came before is overwritten
		if c != nil {
			x.ops[i], x.ops[at[c]] = nil, o
			o.dst, o.lazy = c.dst, false
		}
	}
	x.compact()
}

// copyOf is what unpacks what an operation receives into scratch, and alone uses it; nil: nothing.
func (x *strand) copyOf(w *writer, o *operation, next map[cellKey][]*operation) *operation {
	if o.kind != schedule.Recv || !o.lazy || o.dst.Buf != schedule.Scratch {
		return nil
	}
	var found *operation
	for _, key := range w.writes(o) {
		users := next[key]
		if len(users) == 0 {
			return nil
		}
		c := users[len(users)-1]
		again := len(users) > 1 && slices.Contains(w.reads(users[len(users)-2]), key)
		if again || !c.taken || c.srcs[0] != o.dst || c.n != o.n || c.stage != o.stage {
			return nil
		}
		found = c
	}
	return found
}

// hasten puts what a rank sends behind what it last wrote of it. What it has not waited for yet is waited for where the program uses it.
func (x *strand) hasten(w *writer) {
	type place struct{ stage, after, own int }
	where := make(map[*operation]place, len(x.ops))
	written := map[cellKey]int{} // by which operation, from 1
	lazily := map[cellKey]bool{}
	for i, o := range x.ops {
		p := place{o.stage, i + 1, i + 1}
		if o.kind.Sends() {
			after, waits := 0, false
			for _, key := range w.reads(o) {
				after, waits = max(after, written[key]), waits || lazily[key]
			}
			if !waits {
				p.after = after
			}
		}
		where[o] = p
		for _, key := range w.writes(o) {
			written[key], lazily[key] = i+1, o.lazy
		}
	}
	slices.SortStableFunc(x.ops, func(a, b *operation) int {
		p, q := where[a], where[b]
		return cmp.Or(cmp.Compare(p.stage, q.stage), cmp.Compare(p.after, q.after), cmp.Compare(p.own, q.own))
	})
}
