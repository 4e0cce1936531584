package schedule

import "railyard/model/symmetry"

// What phases say of their symmetry (see Phase.Along) is a claim. Before one rank is run for others, what generates
// the group has to make of representatives' programs those of the ranks that it brings these to, operation by operation.
// Programs are compared by hashes of 64 bits: one that differs passes for the other once in 2⁶⁴ times, unless somebody
// seeks such a pair on purpose. Nothing else in a proof is hashed, but for what operations of kinds of nodes do together (see preserved).

// relabelling is a permutation of all ranks, with that of the places in their memory.
type relabelling struct {
	rank   func(rank int32) int32
	chunk  func(place int32) int32 // nil: how many chunks there are is all that counts, as for time
	copies int64                   // how many places each copy of scratch has
	phase  []int32                 // where each phase of the channel comes; nil: it stays
	sets   map[ChunkSet]uint64     // what is known of sets of places
	wild   bool                    // one of these is in no order, or in several copies: what is moved cannot be followed
}

func stay(x int32) int32 { return x }

// BearsOut reports whether permutations of all ranks make of some ranks' programs in a channel those of the ranks that they
// bring them to, as far as time goes: the same operations on as many chunks with the peers that they bring peers to, sends
// that follow one another, and receives, in any order. phases are where each of them brings each phase; nil: where it is.
func (x *Expander) BearsOut(channel int, ranks []int32, moves []func(rank int32) int32, phases []int32) bool {
	by := make([]relabelling, len(moves))
	for i, to := range moves {
		table := make([]int32, x.s.Spec.Ranks) // looked up once for each operation
		for r := range table {
			table[r] = to(int32(r))
		}
		by[i].rank, by[i].phase = func(rank int32) int32 { return table[rank] }, phases
	}
	return x.bearsOut(channel, ranks, relabelling{rank: stay}, by)
}

// Outline is a hash of a rank's programs in a channel as far as time goes (see BearsOut), its peers being called by names. Programs that
// a permutation makes of one another have one outline wherever it leaves names as they are.
func (x *Expander) Outline(channel int, rank int32, name []int32) uint64 {
	return x.outlines(new([]Op), channel, rank, &relabelling{rank: func(rank int32) int32 { return name[rank] }})[0]
}

// outlines are hashes of a rank's programs in a channel, relabelled in each of some ways.
func (x *Expander) outlines(ops *[]Op, channel int, rank int32, ways ...*relabelling) []uint64 {
	out := make([]uint64, len(ways))
	for p := range x.s.Channels[channel].Phases {
		*ops = x.AppendProgram((*ops)[:0], channel, p, int(rank))
		for i, m := range ways {
			at := p
			if m.phase != nil {
				at = int(m.phase[p])
			}
			out[i] += symmetry.Mix(uint64(at), m.outline(*ops))
		}
	}
	return out
}

// bearsOut is BearsOut for relabellings; none is the one that leaves everything where it is.
func (x *Expander) bearsOut(channel int, ranks []int32, none relabelling, by []relabelling) bool {
	ways := []*relabelling{&none}
	for i := range by {
		ways = append(ways, &by[i])
	}
	var ops []Op
	known := map[int32]uint64{} // by rank: its programs as they are
	for _, r := range ranks {
		moved := x.outlines(&ops, channel, r, ways...)
		known[r] = moved[0]
		for i := range by {
			q := by[i].rank(r)
			if _, ok := known[q]; !ok {
				known[q] = x.outlines(&ops, channel, q, &none)[0]
			}
			if none.wild || by[i].wild || moved[i+1] != known[q] {
				return false
			}
		}
	}
	return true
}

// bearsOut reports whether originals' programs, moved by what generates a digit's moves, and back, are
// those of the ranks that they come to.
func (m *moves) bearsOut(x *Expander, channel int, d symmetry.Digit) bool {
	var by []relabelling
	for _, n := range d.Generators() {
		for _, n := range []int32{n, symmetry.Digits{d}.Inverse(n)} {
			by = append(by, m.relabelling(n))
		}
	}
	return x.bearsOut(channel, m.originals(), m.relabelling(0), by)
}

func (m *moves) relabelling(by int32) relabelling {
	return relabelling{func(rank int32) int32 { return m.rank(rank, by) }, func(place int32) int32 { return m.chunk(place, by) },
		int64(m.chunks), nil, map[ChunkSet]uint64{}, false}
}

// outline is a hash of a program, relabelled. As far as time goes, sends that follow one another, and
// receives, are in any order; else they keep theirs, since what is known of messages that have ended goes by the numbers of operations.
func (m *relabelling) outline(ops []Op) (out uint64) {
	run := uint64(0)
	for i := range ops {
		op := &ops[i]
		h := symmetry.Mix(uint64(op.Kind)|uint64(len(op.Srcs))<<8, symmetry.Mix(m.place(op.Src), m.place(op.Dst)))
		if op.Peer >= 0 {
			h = symmetry.Mix(h, uint64(m.rank(op.Peer)))
		}
		for _, p := range op.Peers { // in any order, as are summands
			h += symmetry.Mix(1, uint64(m.rank(p)))
		}
		for _, l := range op.Srcs {
			h += m.place(l)
		}
		if m.chunk == nil && i > 0 && op.Kind == ops[i-1].Kind && (op.Kind == Send || op.Kind == Recv) {
			run += h
		} else {
			out, run = symmetry.Mix(out, run), h
		}
	}
	return symmetry.Mix(out, symmetry.Mix(run, uint64(len(ops))))
}

// place is a hash of a place, whatever the order of its chunks.
func (m *relabelling) place(l Loc) uint64 {
	n := l.Set.Len()
	if m.chunk == nil || n == 0 {
		return uint64(n)
	}
	h, known := m.sets[l.Set]
	if !known {
		m.wild = m.wild || !l.Set.ascends() || int64(l.Set.First)/m.copies != l.Set.last()/m.copies
		l.Set.Each(func(place int32) { h += symmetry.Mix(2, uint64(m.chunk(place))) })
		m.sets[l.Set] = h
	}
	return symmetry.Mix(uint64(l.Buf)+3, h)
}
