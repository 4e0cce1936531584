package host

import (
	"sync/atomic"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// runner holds the memory and the ranks of a run.
type runner[T element] struct {
	team
	s      *schedule.Schedule
	cfg    Config
	k      *kernels[T]
	layout *schedule.Layout
	mem    []memory[T]
	ranks  []*rank[T]
}

// conn counts the messages between two lanes; both counters only grow. What the sender
// writes and what the receiver writes lie on cache lines of their own.
type conn struct {
	sent     atomic.Int64
	_        [56]byte
	taken    atomic.Int64
	_        [56]byte
	src, dst int32
	sources  []schedule.Loc // of one slice's messages, in order
	_        [32]byte
}

// arrived says where the next message lies, if it has been sent.
func (k *conn) arrived(round int64) (source schedule.Loc, ok bool) {
	number := k.taken.Load()
	if k.sent.Load() <= number {
		return source, false
	}
	return k.sources[number-round*int64(len(k.sources))], true
}

type connKey struct{ src, dst, channel, phase int32 }

func newRunner[T element](s *schedule.Schedule, cfg Config, k *kernels[T]) *runner[T] {
	r := &runner[T]{s: s, cfg: cfg, k: k, layout: schedule.NewLayout(s, cfg.Count, 1)}
	r.init(s.Spec.Ranks)
	r.work = func(rank int, i int64) bool { return r.ranks[rank].iterate(i) }
	if cfg.Op == collective.Avg && s.Spec.Kind.Reduces() {
		r.after = r.divide
	}
	x := schedule.NewExpander(s)
	r.allocate(x)
	for i := range s.Spec.Ranks {
		r.ranks = append(r.ranks, &rank[T]{r: r, id: int32(i)})
	}
	index := map[connKey]*conn{}
	connect := func(key connKey) *conn {
		if index[key] == nil {
			index[key] = &conn{src: key.src, dst: key.dst}
		}
		return index[key]
	}
	for c := range s.Channels {
		for rank := range s.Spec.Ranks {
			var before *lane[T]
			for p := range s.Channels[c].Phases {
				l := &lane[T]{r: r, rank: int32(rank), channel: int32(c), phase: int32(p), before: before, slices: s.Channels[c].Slices}
				for _, op := range x.AppendProgram(nil, c, p, rank) {
					b := boundOp{Op: op}
					for _, peer := range op.AllPeers() {
						key := connKey{peer, int32(rank), int32(c), int32(p)}
						if op.Kind.Sends() {
							key.src, key.dst = key.dst, key.src
						}
						k := connect(key)
						if op.Kind.Sends() {
							k.sources = append(k.sources, op.Src)
						}
						b.conns = append(b.conns, k)
					}
					l.ops = append(l.ops, b)
				}
				r.ranks[rank].lanes = append(r.ranks[rank].lanes, l)
				before = l
			}
		}
	}
	return r
}

// divide makes averages of sums, once nobody reads the sums any more.
func (r *runner[T]) divide() {
	for i := range r.mem {
		if n := r.layout.Elements(i, schedule.Output); n > 0 {
			r.k.divide(r.mem[i].bufs[schedule.Output][:n], r.s.Spec.Ranks)
		}
	}
}
