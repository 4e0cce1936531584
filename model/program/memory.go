package program

import (
	"maps"
	"slices"

	"railyard/model/schedule"
)

// Where a linear program keeps its chunks. Parts of a block differ in size where it does
// not divide evenly, and a schedule's place has the size of the part of its number
// (modulo the parts of a block). A foreign program keeps any part anywhere, for its
// chunks are all equal. So a chunk goes where the program says only if it has that
// place's size, and into scratch otherwise; and of scratch there is a copy for each
// shift between the numbers of places and parts. Neighbours stay neighbours.

// named is what the program's place p is called: where input and output are the same
// memory, both by one name.
func (w *writer) named(rank int, p Place) Place {
	if !w.inPlace {
		return p
	}
	return Shared(w.spec, w.unit, rank, p)
}

// current is where the chunk is that the program keeps at p: in the input until it is
// written, if the two are the same.
func (w *writer) current(rank int, p Place) Place {
	if at, ok := w.ranks[rank].at[p]; ok {
		return at
	}
	switch {
	case p.Buf == schedule.Scratch: // nothing yet
		return w.scratch(p.At, p.At%w.unit)
	case !w.inPlace:
		return p
	}
	at := Place{schedule.Input, p.At}
	if only := schedule.OnlyBlock(w.spec, rank, schedule.Input); only >= 0 {
		at.At -= only * w.unit
	}
	return at
}

// target is where a part of a block goes that the program puts at p.
func (w *writer) target(rank int, p Place, part int) Place {
	own, ok := w.own(rank, p)
	switch {
	case ok && (own.At%w.unit == part || own.Buf == schedule.Input): // the input is nobody's to write
		return own
	case p.Buf == schedule.Scratch:
		return w.scratch(p.At, part)
	}
	// The last numbers are not used otherwise.
	return w.scratch(w.beyond()-w.unit*w.spec.Blocks()+p.At, part)
}

// own is the place in the schedule's input or output that the program's is; false if
// there is none.
func (w *writer) own(rank int, p Place) (Place, bool) {
	switch {
	case p.Buf == schedule.Scratch:
		return p, false
	case !w.inPlace:
		return p, true
	case !w.spec.Wants(rank, p.At/w.unit):
		return p, false
	}
	if only := schedule.OnlyBlock(w.spec, rank, schedule.Output); only >= 0 {
		p.At -= only * w.unit
	}
	return p, true
}

// beyond is more than any number of a program's scratch: a multiple of the parts.
func (w *writer) beyond() int { return w.unit << 24 }

// scratch is where scratch place s is kept when it holds a part of a block: its number
// modulo the parts of a block is the part. The numbers have holes; pack closes them.
func (w *writer) scratch(s, part int) Place {
	shift := (s - part%w.unit + w.unit) % w.unit
	return Place{schedule.Scratch, (shift+1)*w.beyond() + s - shift}
}

// settle receives what is still under way and copies what the program has left elsewhere
// to its place in the output: input that stays where it is, and parts that are wrong there.
func (w *writer) settle() {
	for r := range w.ranks {
		ln := &w.ranks[r]
		for _, p := range slices.SortedFunc(maps.Keys(ln.pending), Place.compare) {
			w.arrive(r, p, 1)
		}
	}
	for r := range w.ranks {
		ln := &w.ranks[r]
		for at := range w.unit * w.spec.Blocks() {
			p := Place{schedule.Output, at}
			own, ok := w.own(r, p)
			_, written := ln.at[p]
			if !ok || !written && !(w.inPlace && w.spec.Holds(r, at/w.unit)) {
				continue
			}
			if from := w.current(r, p); from != own {
				ln.events = append(ln.events, event{stage: w.stages - 1, kind: schedule.Copy, lists: [][]Place{{from}, {own}}})
			}
		}
	}
}

// packing numbers each rank's scratch anew.
func (w *writer) packing() []func(int) int {
	out := make([]func(int) int, len(w.ranks))
	for r := range w.ranks {
		var used []int
		for i := range w.ranks[r].events {
			for _, list := range w.ranks[r].events[i].places() {
				for _, p := range list {
					if p.Buf == schedule.Scratch {
						used = append(used, p.At)
					}
				}
			}
		}
		out[r], _ = pack(used, w.unit)
	}
	return out
}

// places are those of its own rank that an event uses.
func (e *event) places() [][]Place {
	switch {
	case e.issued != nil:
		return [][]Place{e.issued.at, e.issued.staged}
	case e.msgs != nil:
		return e.msgs[0].lists
	}
	return e.lists
}

// pack gives numbers new ones, as small as can be, that are the same modulo parts, of
// neighbours and in the same order; bound is more than any of them.
func pack(used []int, parts int) (number func(int) int, bound int) {
	slices.Sort(used)
	used = slices.Compact(used)
	packed := make([]int, len(used))
	for i, n := range used {
		if i == 0 || n != used[i-1]+1 {
			bound += ((n-bound)%parts + parts) % parts
		}
		packed[i] = bound
		bound++
	}
	return func(n int) int {
		i, _ := slices.BinarySearch(used, n)
		return packed[i]
	}, bound
}
