package schedule

import (
	"railyard/model/collective"
	"railyard/model/units"
)

// pair is the source and destination whose data a place of an all_to_allv is for: their
// number decides its size.
func (s *Schedule) pair(ch *Channel, rank int, b Buffer, chunk int32) (src, dst int) {
	per := int32(ch.Chunks / s.Spec.Ranks)
	switch b {
	case Output:
		return int(chunk / per), rank
	case Scratch:
		return int(chunk) / ch.Chunks, int(chunk) % ch.Chunks / int(per)
	}
	return rank, int(chunk / per)
}

// CountedBytes is the size of what an operation of an all_to_allv moves: its channel's
// ChunkBytes (1/n of the largest row) scaled to the counts. The largest row is looked up
// once by whoever asks for many messages, since that takes n² steps.
func (s *Schedule) CountedBytes(channel, rank int, op *Op, chunk units.Bytes, largestRow int64) units.Bytes {
	l := op.Dst
	if op.Kind.Sends() {
		l = op.Src
	}
	n := int64(s.Spec.Ranks)
	var sum units.Bytes
	l.Set.Each(func(c int32) {
		src, dst := s.pair(&s.Channels[channel], rank, l.Buf, c)
		sum += units.Bytes(units.MulDivUp(int64(chunk)*n, s.Spec.Counts[src][dst], largestRow))
	})
	return sum
}

// fitsPair refuses a value in a place for data of another pair's size.
func (k *checker) fitsPair(r, i int, b Buffer, c int32, v value) error {
	ch := &k.s.Channels[k.channel]
	src, dst := k.s.pair(ch, r, b, c)
	if src >= k.s.Spec.Ranks {
		return k.fail(r, i, "chunk %d of scratch is for data of rank %d: there is none", c, src)
	}
	from, to := int(k.from(v)[0]), k.blockOf(int(v.chunk))
	if have, want := k.s.Spec.Counts[from][to], k.s.Spec.Counts[src][dst]; have != want {
		return k.fail(r, i, "puts what rank %d sends to rank %d, which are %d, into a place for %d", from, to, have, want)
	}
	return nil
}

// nothing is what a place for an empty block holds, written or not.
func (k *checker) nothing(r int, b Buffer, c int32) (v value, ok bool) {
	if k.s.Spec.Kind != collective.AllToAllV {
		return v, false
	}
	src, dst := k.s.pair(&k.s.Channels[k.channel], r, b, c)
	if src >= k.s.Spec.Ranks || !k.s.Spec.Empty(src, dst) {
		return v, false
	}
	per := k.chunks / k.s.Spec.Ranks
	return value{int32(dst*per + int(c)%per), k.set(single(int32(src)))}, true
}

// waitingLayout is where a rank's scratch keeps the blocks of others in an all_to_allv: an
// offset for each pair, of those that the rank handles.
type waitingLayout struct {
	at       map[int64]int64
	elements int64
}

// layoutWaiting finds the blocks that wait at each rank.
func (c *counts) layoutWaiting(s *Schedule) {
	x := NewExpander(s)
	c.waiting = make([]waitingLayout, c.n)
	for ch := range s.Channels {
		x.eachScratch(ch, func(rank int, set ChunkSet) {
			set.Each(func(chunk int32) { c.keep(&c.waiting[rank], s, ch, chunk) })
		})
	}
}

// keep makes room for the block of a chunk, once.
func (c *counts) keep(w *waitingLayout, s *Schedule, ch int, chunk int32) {
	src, dst := s.pair(&s.Channels[ch], 0, Scratch, chunk)
	block := int64(src*c.n + dst)
	if w.at == nil {
		w.at = map[int64]int64{}
	}
	if _, ok := w.at[block]; !ok {
		w.at[block] = w.elements
		w.elements += c.size[block]
	}
}
