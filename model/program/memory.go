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
func (l *Linear) named(rank int, p Place) Place {
	if !l.inPlace {
		return p
	}
	return Shared(l.spec, l.unit, rank, p)
}

// current is where the chunk is that the program keeps at p: in the input until it is
// written, if the two are the same.
func (l *Linear) current(rank int, p Place) Place {
	if at, ok := l.ranks[rank].at[p]; ok {
		return at
	}
	switch {
	case p.Buf == schedule.Scratch: // nothing yet
		return l.scratch(p.At, p.At%l.unit)
	case !l.inPlace:
		return p
	}
	at := Place{schedule.Input, p.At}
	if only := Only(l.spec, rank, schedule.Input); only >= 0 {
		at.At -= only * l.unit
	}
	return at
}

// target is where a part of a block goes that the program puts at p.
func (l *Linear) target(rank int, p Place, part int) Place {
	own, ok := l.own(rank, p)
	switch {
	case ok && (own.At%l.unit == part || own.Buf == schedule.Input): // the input is nobody's to write
		return own
	case p.Buf == schedule.Scratch:
		return l.scratch(p.At, part)
	}
	// The last numbers are not used otherwise.
	return l.scratch(l.beyond()-l.unit*l.spec.Blocks()+p.At, part)
}

// own is the place in the schedule's input or output that the program's is; false if
// there is none.
func (l *Linear) own(rank int, p Place) (Place, bool) {
	switch {
	case p.Buf == schedule.Scratch:
		return p, false
	case !l.inPlace:
		return p, true
	case !l.spec.Wants(rank, p.At/l.unit):
		return p, false
	}
	if only := Only(l.spec, rank, schedule.Output); only >= 0 {
		p.At -= only * l.unit
	}
	return p, true
}

// beyond is more than any number of a program's scratch: a multiple of the parts.
func (l *Linear) beyond() int { return l.unit << 24 }

// scratch is where scratch place s is kept when it holds a part of a block: its number
// modulo the parts of a block is the part. The numbers have holes; pack closes them.
func (l *Linear) scratch(s, part int) Place {
	shift := (s - part%l.unit + l.unit) % l.unit
	return Place{schedule.Scratch, (shift+1)*l.beyond() + s - shift}
}

// settle receives what is still under way and copies what the program has left elsewhere
// to its place in the output: input that stays where it is, and parts that are wrong there.
func (l *Linear) settle() {
	for r := range l.ranks {
		ln := &l.ranks[r]
		for _, p := range slices.SortedFunc(maps.Keys(ln.pending), Place.compare) {
			l.arrive(r, p, 1)
		}
	}
	for r := range l.ranks {
		ln := &l.ranks[r]
		for at := range l.unit * l.spec.Blocks() {
			p := Place{schedule.Output, at}
			own, ok := l.own(r, p)
			_, written := ln.at[p]
			if !ok || !written && !(l.inPlace && l.spec.Holds(r, at/l.unit)) {
				continue
			}
			if from := l.current(r, p); from != own {
				ln.events = append(ln.events, event{kind: schedule.Copy, lists: [][]Place{{from}, {own}}})
			}
		}
	}
}

// packing numbers each rank's scratch anew.
func (l *Linear) packing() []func(int) int {
	out := make([]func(int) int, len(l.ranks))
	for r := range l.ranks {
		var used []int
		for i := range l.ranks[r].events {
			for _, list := range l.ranks[r].events[i].places() {
				for _, p := range list {
					if p.Buf == schedule.Scratch {
						used = append(used, p.At)
					}
				}
			}
		}
		out[r], _ = pack(used, l.unit)
	}
	return out
}

// places are those of its own rank that an event uses.
func (e *event) places() [][]Place {
	switch {
	case e.issued != nil:
		return [][]Place{e.issued.src, e.issued.staged}
	case e.msg != nil:
		return e.msg.lists
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
