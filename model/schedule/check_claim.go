package schedule

import (
	"cmp"
	"slices"

	"railyard/model/symmetry"
)

// What phases say of their symmetry (see Phase.Along) is a claim. Before one rank is run for others, the
// programs of some of these are expanded and held against its own, moved: operation by operation, since
// what is known of messages that have ended goes by the numbers of operations.

// bearsOut reports whether originals' programs, moved by what generates a digit's moves, and back, are
// those of the ranks that they come to.
func (m *moves) bearsOut(x *Expander, channel int, d symmetry.Digit) bool {
	digits := symmetry.Digits{d}
	for _, by := range d.Least() {
		for _, by := range []int32{by, digits.Inverse(by)} {
			c := comparer{x: x, channel: channel, m: m, by: by, known: map[[2]ChunkSet]bool{}}
			for _, r := range m.originals() {
				if !c.sameProgram(r, m.rank(r, by)) {
					return false
				}
			}
		}
	}
	return true
}

// comparer compares programs, one of them moved.
type comparer struct {
	x        *Expander
	channel  int
	m        *moves
	by       int32
	of, with []Op
	known    map[[2]ChunkSet]bool // sets of the first copy: whether the move brings one to the other
}

// sameProgram reports whether moving rank r's program gives rank q's.
func (c *comparer) sameProgram(r, q int32) bool {
	for p := range c.x.s.Channels[c.channel].Phases {
		c.of = c.x.AppendProgram(c.of[:0], c.channel, p, int(r))
		c.with = c.x.AppendProgram(c.with[:0], c.channel, p, int(q))
		if !slices.EqualFunc(c.of, c.with, c.sameOp) {
			return false
		}
	}
	return true
}

func (c *comparer) sameOp(a, b Op) bool {
	return a.Kind == b.Kind && slices.EqualFunc(a.AllPeers(), b.AllPeers(), func(p, q int32) bool { return c.m.rank(p, c.by) == q }) &&
		c.samePlace(a.Src, b.Src) && c.samePlace(a.Dst, b.Dst) && c.sameSum(a.Srcs, b.Srcs)
}

// sameSum compares summands, which may stand in any order.
func (c *comparer) sameSum(a, b []Loc) bool {
	moved := func(l Loc) Loc { return Loc{l.Buf, One(c.m.chunk(l.Set.First, c.by))} } // enough to tell copies apart
	order := func(x, y Loc) int { return cmp.Or(int(x.Buf)-int(y.Buf), int(x.Set.First-y.Set.First)) }
	a = slices.SortedFunc(slices.Values(a), func(x, y Loc) int { return order(moved(x), moved(y)) })
	b = slices.SortedFunc(slices.Values(b), order)
	return slices.EqualFunc(a, b, c.samePlace)
}

// samePlace reports whether moving a place gives another one, which has to lie in the same copy.
func (c *comparer) samePlace(a, b Loc) bool {
	if a.Buf != b.Buf || a.Set.Len() != b.Set.Len() {
		return false
	}
	if a.Set.Len() == 0 {
		return true
	}
	copies := a.Set.First / int32(c.m.chunks) * int32(c.m.chunks)
	sets := [2]ChunkSet{a.Set.shifted(-copies), b.Set.shifted(-copies)}
	same, seen := c.known[sets]
	if !seen {
		same = c.sameSet(sets[0], sets[1])
		c.known[sets] = same
	}
	return same
}

func (c *comparer) sameSet(a, b ChunkSet) bool {
	if n := int64(c.m.chunks); a.last() >= n || b.First < 0 || b.last() >= n || !a.ascends() || !b.ascends() {
		return false
	}
	places := make([]int32, 0, a.Len())
	a.Each(func(chunk int32) { places = append(places, c.m.chunk(chunk, c.by)) })
	slices.Sort(places)
	i, same := 0, true
	b.Each(func(chunk int32) {
		same = same && places[i] == chunk
		i++
	})
	return same
}

// BearsOut reports whether permutations of all ranks make of some ranks' programs in a channel those of the ranks that they
// bring them to, as far as time goes: the same operations on as many chunks with the peers that they bring peers to, sends
// that follow one another, and receives, in any order.
func (x *Expander) BearsOut(channel int, ranks []int32, moves []func(rank int32) int32) bool {
	var ops, image []Op
	var moved, other []uint64
	stay := func(rank int32) int32 { return rank }
	for _, r := range ranks {
		for p := range x.s.Channels[channel].Phases {
			ops = x.AppendProgram(ops[:0], channel, p, int(r))
			for _, to := range moves {
				image = append(image[:0], ops...)
				if q := to(r); q != r {
					image = x.AppendProgram(image[:0], channel, p, int(q))
				}
				moved, other = appendOutline(moved[:0], ops, to), appendOutline(other[:0], image, stay)
				if !slices.Equal(moved, other) {
					return false
				}
			}
		}
	}
	return true
}

// appendOutline appends hashes of a program's operations, of which sends that follow one another, and receives, make one.
func appendOutline(out []uint64, ops []Op, to func(rank int32) int32) []uint64 {
	for i := range ops {
		op := &ops[i]
		peers := uint64(op.Peer)
		if op.Peer >= 0 {
			peers = uint64(to(op.Peer))
		}
		for _, p := range op.Peers {
			peers += symmetry.Mix(1, uint64(to(p)))
		}
		h := symmetry.Mix(uint64(op.Kind)|uint64(len(op.Srcs))<<8|peers<<32, uint64(op.Src.Set.Len())<<32|uint64(op.Dst.Set.Len()))
		if i > 0 && op.Kind == ops[i-1].Kind && (op.Kind == Send || op.Kind == Recv) {
			out[len(out)-1] += h
		} else {
			out = append(out, h)
		}
	}
	return out
}
