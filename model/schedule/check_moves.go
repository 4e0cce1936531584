package schedule

import (
	"errors"
	"slices"

	"railyard/model/topology"
)

// Where moves leave a channel as it is, the checker runs the originals alone, and every
// step of theirs is one of all ranks that they stand for: what rank q sends to rank r is
// what q's original sends to the rank that comes to r when the original comes to q. That
// is right only if the places of a message, or of an operation, pair up alike wherever
// they are moved to. All sets of such programs are ascending; so they do where the digits
// that move are the same throughout each set, or the same in both (see paired).

// images are moves of ranks and chunks that leave a channel as it is, each by its number:
// 0 moves nothing.
type images interface {
	of(rank int32) int32
	inverse(by int32) int32
	rank(rank, by int32) int32
	chunk(chunk, by int32) int32
	runs(from runs, by int32) runs
	originals() []int32
	digit(place int32) int32
	numbered() bool // whether chunks move, too
}

// errAsymmetric says that ranks are not equivalent after all, or not in a way that is followed
// here; then all of them are run.
var errAsymmetric = errors.New("schedule: ranks are not equivalent")

// incoming is the connection on which rank r hears from a peer, as the peer's original
// has it, and the move from there.
func (k *checker) incoming(r int, peer, phase int32) (c key, by int32) {
	if by = k.moves.of(peer); by == 0 {
		return key{peer, int32(r), phase}, 0
	}
	back := k.moves.inverse(by)
	return key{k.moves.rank(peer, back), k.moves.rank(int32(r), back), phase}, by
}

// original is the rank that stands for one.
func (k *checker) original(rank int32) int {
	return int(k.moves.rank(rank, k.moves.inverse(k.moves.of(rank))))
}

// next takes the oldest message off a connection, if there is one, and moves it.
func (k *checker) next(q *queue, r int, peer, phase, by int32) (m message, sent bool, err error) {
	if k.byKinds() != nil {
		m, sent = k.nextMessage(q, r, peer, phase)
	} else if sent = !q.empty(); sent {
		m = q.take()
	}
	switch {
	case !sent || by == 0:
		return m, sent, nil
	case m.stored != nil: // whose receivers are seen one by one
		return m, sent, errAsymmetric
	}
	return k.moved(m, by), true, nil
}

// placedValue is a value of a message and where the sender has it.
type placedValue struct {
	place int32
	value value
}

// placed are a message's values, moved, in the order of their places.
func (k *checker) placed(m message, chunk func(int32) int32, to func(runs) runs) []placedValue {
	list := make([]placedValue, 0, len(m.values))
	before, moved := value{}, int32(0)
	m.src.Set.Each(func(c int32) {
		v := m.values[len(list)]
		if v.from != before.from && !k.from(v).equal(k.from(before)) {
			before, moved = v, k.set(to(k.from(v)))
		}
		list = append(list, placedValue{chunk(c), value{chunk(v.chunk), moved}})
	})
	slices.SortFunc(list, func(a, b placedValue) int { return int(a.place - b.place) })
	return list
}

func (k *checker) moved(m message, by int32) message {
	out := message{op: m.op, src: m.src, entered: k.moves.runs(m.entered, by)}
	chunk := func(c int32) int32 { return k.moves.chunk(c, by) }
	for _, x := range k.placed(m, chunk, func(r runs) runs { return k.moves.runs(r, by) }) {
		out.values, out.places = append(out.values, x.value), append(out.places, x.place)
	}
	if m.clock != nil {
		out.clock = make([]int32, len(m.clock))
		for r, known := range m.clock {
			out.clock[k.moves.rank(int32(r), by)] = known
		}
	}
	return out
}

// byKinds are the moves, if they are those of nodes of a kind.
func (k *checker) byKinds() *kindMoves {
	m, _ := k.moves.(*kindMoves)
	return m
}

// arrives holds a message's places against those it goes to.
func (k *checker) arrives(m message, op *Op) error {
	if m.places == nil {
		return k.paired(m.src.Set, op.Dst.Set)
	}
	return k.pairedPlaces(m.places, op.Dst.Set)
}

// checkPlaces holds an operation's places against one another.
func (k *checker) checkPlaces(op *Op) error {
	if op.Kind.Sends() || op.Kind == Recv {
		return nil
	}
	if op.Kind == Reduce {
		for _, l := range op.Srcs {
			if err := k.paired(l.Set, op.Dst.Set); err != nil {
				return err
			}
		}
		return nil
	}
	return k.paired(op.Src.Set, op.Dst.Set)
}

func (k *checker) paired(a, b ChunkSet) error {
	n := int32(k.chunks)
	if a.Len() < 2 || !k.moves.numbered() || a.last()/int64(n) == int64(a.First/n) && b == a.shifted(b.First/n*n-a.First/n*n) {
		return nil
	}
	places := make([]int32, 0, a.Len())
	a.Each(func(c int32) { places = append(places, c) })
	return k.pairedPlaces(places, b)
}

// pairedPlaces is errUnlike unless two lists of places, each in one copy, stay paired
// wherever they are moved to.
func (k *checker) pairedPlaces(a []int32, set ChunkSet) error {
	n, digits := int32(k.chunks), k.moves.digit
	if len(a) != set.Len() || len(a) < 2 || !k.moves.numbered() {
		return nil // unequal numbers are refused elsewhere
	}
	constant, equal, i := true, true, 0
	copyA, copyB := a[0]/n, set.First/n
	inside := true
	set.Each(func(c int32) {
		constant = constant && digits(a[i]) == digits(a[0]) && digits(c) == digits(set.First)
		equal = equal && digits(a[i]) == digits(c)
		inside = inside && a[i]/n == copyA && c/n == copyB
		i++
	})
	if inside && (constant || equal) {
		return nil
	}
	return errAsymmetric
}

// carries reports whether a topology looks the same after the moves, each of which then
// has to move whole nodes.
func (m *moves) carries(t *topology.Topology) bool {
	if len(m.Digits) == 0 {
		return true
	}
	local := int32(m.ranks / max(t.NumNodes(), 1))
	nodes := slices.Clone(m.Digits)
	for i := range nodes {
		if nodes[i].Stride%local != 0 {
			return false
		}
		nodes[i].Stride /= local
	}
	_, ok := topology.NewSymmetry(t, nodes)
	return ok
}
