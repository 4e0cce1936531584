package host

import (
	"sync/atomic"

	"railyard/model/schedule"
)

// assembly is a runner while its lanes are joined. All processes go through all programs in the same order,
// so that they number the connections between them alike without a word.
type assembly[T element] struct {
	*runner[T]
	x     *schedule.Expander
	index map[connKey]*conn[T]
	order []*conn[T] // those with a lane here
}

// connect is the connection between two lanes; nil where neither is here.
func (a *assembly[T]) connect(key connKey) *conn[T] {
	k := a.index[key]
	if k == nil && (a.here(key.src) || a.here(key.dst)) {
		k = &conn[T]{connKey: key}
		a.index[key] = k
		a.order = append(a.order, k)
	}
	return k
}

// lanes makes the lanes of a rank in a channel, or of a rank elsewhere what they send here.
func (a *assembly[T]) lanes(channel, rank int) {
	ch := &a.s.Channels[channel]
	var before *lane[T]
	for p := range ch.Phases {
		if ch.Phases[p].Apart {
			before = nil
		}
		l := &lane[T]{r: a.runner, rank: int32(rank), channel: int32(channel), phase: int32(p), before: before, slices: ch.Slices}
		for _, op := range a.x.AppendProgram(nil, channel, p, rank) {
			b := boundOp[T]{Op: op}
			for _, peer := range op.AllPeers() {
				key := connKey{peer, int32(rank), int32(channel), int32(p)}
				if op.Kind.Sends() {
					key.src, key.dst = key.dst, key.src
				}
				k := a.connect(key)
				if k != nil && op.Kind.Sends() {
					k.sources = append(k.sources, op.Src)
				}
				b.conns = append(b.conns, k)
			}
			l.ops = append(l.ops, b)
		}
		if a.here(int32(rank)) {
			r := a.ranks[rank-a.first]
			r.lanes = append(r.lanes, l)
		}
		before = l
	}
}

// meet joins the connections to other processes: registers memory for what comes, and knows where
// in the memory of others goes what is sent.
func (a *assembly[T]) meet() error {
	p := a.cfg.Over
	signals := make([][]*atomic.Int64, p.Size)
	in, out := make([]int64, p.Size), make([]int64, p.Size) // elements of staging
	for i := range signals {
		for range ownSignals {
			signals[i] = append(signals[i], new(atomic.Int64))
		}
	}
	var incoming []*conn[T]
	for _, k := range a.order {
		if a.here(k.src) && a.here(k.dst) {
			continue
		}
		m := &remote[T]{transport: p.net, window: p.runs}
		k.remote = m
		m.measure(k, a.layout, a.s.Channels[k.channel].Slices)
		if a.here(k.src) {
			m.peer = p.of(k.dst)
			m.base, out[m.peer] = out[m.peer], out[m.peer]+m.rounds*m.round
			m.signal = len(signals[m.peer])
			signals[m.peer] = append(signals[m.peer], &k.taken)
			continue
		}
		m.peer = p.of(k.src)
		m.base, in[m.peer] = in[m.peer], in[m.peer]+m.rounds*m.round
		m.signal = len(signals[m.peer])
		signals[m.peer] = append(signals[m.peer], &k.sent)
		incoming = append(incoming, k)
	}
	staging := make([][]T, p.Size)
	for i := range staging {
		if i == p.Process {
			continue
		}
		staging[i] = make([]T, in[i])
		if err := p.net.Register(i, p.runs, raw(staging[i]), signals[i]); err != nil {
			return err
		}
	}
	for _, k := range incoming {
		m := k.remote
		m.staging = staging[m.peer][m.base:][:m.rounds*m.round]
	}
	a.signals = signals
	return nil
}
