package host

import (
	"sync/atomic"

	"railyard/model/schedule"
)

// conn counts the messages between two lanes; both counters only grow. What the sender
// writes and what the receiver writes lie on cache lines of their own. Where both lanes
// share memory, the receiver reads the sender's; else messages come into its staging.
type conn[T element] struct {
	sent  atomic.Int64
	_     [56]byte
	taken atomic.Int64
	_     [56]byte
	connKey
	sources []schedule.Loc // of one slice's messages, in order
	remote  *remote[T]     // where another process has the other lane
}

type connKey struct{ src, dst, channel, phase int32 }

// message is data that may be read until it is taken.
type message[T element] struct {
	rank   int32
	loc    schedule.Loc
	staged []T // what has come of it; nil: it lies in the rank's memory
}

// arrived says where the next message lies, if it has been sent.
func (k *conn[T]) arrived(round int64) (m message[T], ok bool) {
	number := k.taken.Load()
	if k.sent.Load() <= number {
		return m, false
	}
	at := number - round*int64(len(k.sources))
	m = message[T]{rank: k.src, loc: k.sources[at]}
	if k.remote != nil {
		m.staged = k.remote.staging[k.remote.place(round, at):]
	}
	return m, true
}

// accepts reports whether a message can be sent now: the receiver has a place for it.
func (k *conn[T]) accepts() bool {
	return k.remote == nil || k.sent.Load()-k.taken.Load() < k.remote.rounds*int64(len(k.sources))
}

// send makes a message known; over a network it puts the data too.
func (k *conn[T]) send(l *lane[T], round int64, src schedule.Loc) error {
	number := k.sent.Add(1) - 1
	if k.remote == nil {
		return nil
	}
	return k.remote.put(l, round, number-round*int64(len(k.sources)), src)
}

// took ends a message; what it was read from may change.
func (k *conn[T]) took() error {
	taken := k.taken.Add(1)
	if k.remote == nil {
		return nil
	}
	return k.remote.credit(taken)
}
