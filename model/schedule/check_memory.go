package schedule

import (
	"railyard/model/collective"
	"railyard/model/symmetry"
)

// value is what a chunk holds: a chunk number of the input and who contributed to it.
// The zero value is "never written".
type value struct {
	chunk int32
	from  int32 // the number of a set of ranks, from 1 on: of thousands of ranks there are millions of values
}

// set notes a set of ranks and returns its number.
func (k *checker) set(from runs) int32 {
	k.sets = append(k.sets, from)
	return int32(len(k.sets)) - 1
}

// from are the ranks that contributed to a value.
func (k *checker) from(v value) runs { return k.sets[v.from] }

// memory is one rank's state.
type memory struct {
	bufs  [3]*places
	reads map[place2][]sendRead
	grid  placeGrid                 // of scratch
	slots symmetry.Numbering[int32] // of an all_to_allv: where in bufs the places of scratch are that it uses
}

// place2 is a chunk of a buffer.
type place2 struct {
	buf   Buffer
	chunk int32
}

// sendRead is a send that may still be reading a chunk: it ends with operation op of
// rank peer (known once the message has been received; −1 before).
type sendRead struct {
	key  key
	seq  int32
	peer int32
}

// physical is the buffer whose memory b names.
func (k *checker) physical(b Buffer) Buffer {
	if k.inPlace && b == Output {
		return Input
	}
	return b
}

// overwritesWhatWasSent reports whether any rank writes a chunk that it sends before:
// only then can there be a race, and only then are clocks kept.
func (k *checker) overwritesWhatWasSent() bool {
	for _, prog := range k.progs {
		var sent [3]paged[bool]
		for i := range prog {
			op := &prog[i]
			if op.Kind.Sends() {
				to := &sent[k.physical(op.Src.Buf)]
				op.Src.Set.Each(func(c int32) { *to.touch(c, nil) = true })
				continue
			}
			hit, in := false, &sent[k.physical(op.Dst.Buf)]
			op.Dst.Set.Each(func(c int32) {
				was := in.get(c)
				hit = hit || was != nil && *was
			})
			if hit {
				return true
			}
		}
	}
	return false
}

// read takes the values of a place.
func (k *checker) read(r, i int, l Loc) ([]value, error) {
	out := make([]value, 0, l.Set.Len())
	var err error
	l.Set.Each(func(c int32) {
		v := k.mem[r].bufs[l.Buf].get(k.slot(r, l.Buf, c))
		if v.from == 0 {
			if nothing, ok := k.nothing(r, l.Buf, c); ok {
				v = nothing
			} else if err == nil {
				err = k.fail(r, i, "reads chunk %d of %v, which was never written", c, l.Buf)
			}
		}
		out = append(out, v)
	})
	return out, err
}

func (k *checker) write(r, i int, l Loc, vals []value) error {
	if len(vals) != l.Set.Len() {
		return k.fail(r, i, "writes %d chunks to a place for %d", len(vals), l.Set.Len())
	}
	if l.Buf == Input && !k.inPlace && len(vals) > 0 {
		return k.fail(r, i, "writes to the input")
	}
	var err error
	n := 0
	l.Set.Each(func(c int32) {
		if err == nil {
			err = k.writable(r, i, l.Buf, c)
		}
		if err == nil {
			err = k.fits(r, i, l.Buf, c, vals[n])
		}
		k.mem[r].bufs[l.Buf].set(k.slot(r, l.Buf, c), vals[n])
		n++
	})
	return err
}

// fits refuses a value in a place of another size: parts of a block differ where it does
// not divide evenly, and the blocks of all_to_allv differ anyway (see Buffer).
func (k *checker) fits(r, i int, b Buffer, c int32, v value) error {
	spec := k.s.Spec
	parts := k.chunks / spec.Blocks()
	if part, place := int(v.chunk)%parts, int(c)%parts; part != place {
		return k.fail(r, i, "puts part %d of a block into place %d, which has the size of part %d: use a place whose number is that of "+
			"the part modulo %d", part, c, place, parts)
	}
	if spec.Kind == collective.AllToAllV {
		return k.fitsPair(r, i, b, c, v)
	}
	return nil
}

// writable refuses what nobody may write, and what a send may still be reading.
func (k *checker) writable(r, i int, b Buffer, c int32) error {
	if b == Output && !k.s.Spec.Wants(r, k.blockOf(int(c))) {
		return k.fail(r, i, "writes chunk %d of the output, which rank %d does not have", c, r)
	}
	if k.clocks == nil {
		return nil
	}
	p := place2{k.physical(b), c}
	for _, read := range k.mem[r].reads[p] {
		// seq ≥ 0 is the send, not received yet; −op−1 the receive that ended it.
		if read.seq >= 0 || k.clocks[r][read.peer] < -read.seq {
			return k.fail(r, i, "overwrites chunk %d of %v while rank %d may still be receiving it", c, b, read.peer)
		}
	}
	delete(k.mem[r].reads, p)
	return nil
}

// ended notes that the receive at index at has ended the send at index op of its peer.
func (k *checker) ended(c key, op, at int32) {
	src := &k.progs[c.src][op]
	src.Src.Set.Each(func(chunk int32) {
		reads := k.mem[c.src].reads[place2{k.physical(src.Src.Buf), chunk}]
		for j := range reads {
			if reads[j].key == c && reads[j].seq == op {
				reads[j].seq = -(at + 1)
			}
		}
	})
}
