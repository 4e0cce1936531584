package host

import (
	"unsafe"

	"railyard/exec/net"
	"railyard/model/schedule"
)

// remote is a connection's way to the lane in another process. The sender puts messages into staging
// of the receiver, where those of some slices have places of their own, and raises sent there; the receiver
// raises taken here. A schedule lets a send go ahead of its receive as far as it likes. Messages of a
// slice never wait for those of slices after it, so places for one slice are enough to never stop for good;
// more keep the network busy.
type remote[T element] struct {
	transport net.Transport
	peer      int
	window    uint32 // on both sides
	signal    int    // sent at a receiver, taken at a sender
	base      int64  // where staging begins in the receiver's window
	staging   []T    // the receiver's alone
	at        []int64
	round     int64 // elements of a slice's messages
	rounds    int64 // slices that have places
	every     int64 // messages that are said to be taken together, the last of slices
	pieces    [][]byte
}

// inFlight is how many messages at least have places, as channels of NCCL have eight steps.
const inFlight = 8

// measure lays out the staging of a connection: places as large as the largest slice wants.
func (m *remote[T]) measure(k *conn[T], layout *schedule.Layout, slices int) {
	for _, source := range k.sources {
		m.at = append(m.at, m.round)
		most := int64(0)
		for slice := range slices {
			n := int64(0)
			source.Set.Each(func(c int32) {
				_, length := layout.Place(int(k.src), source.Buf, int(k.channel), slice, c)
				n += length
			})
			most = max(most, n)
		}
		m.round += most
	}
	n := max(int64(len(k.sources)), 1)
	m.rounds = min(int64(slices), (inFlight+n-1)/n)
	m.every = max(m.rounds/2, 1) * n
}

// place is where a message of a slice lies in staging.
func (m *remote[T]) place(round, at int64) int64 { return round%m.rounds*m.round + m.at[at] }

// put sends what lies at a place of the lane's rank, pieces that adjoin as one.
func (m *remote[T]) put(l *lane[T], round, at int64, src schedule.Loc) error {
	m.pieces = m.pieces[:0]
	buf := l.r.mem[l.rank].bufs[src.Buf]
	var from, to int64
	src.Set.Each(func(c int32) {
		off, n := l.r.layout.Place(int(l.rank), src.Buf, int(l.channel), l.slice, c)
		if off != to {
			m.pieces = append(m.pieces, raw(buf[from:to]))
			from = off
		}
		to = off + n
	})
	m.pieces = append(m.pieces, raw(buf[from:to]))
	var one T
	return m.transport.Put(m.peer, m.window, (m.base+m.place(round, at))*int64(unsafe.Sizeof(one)), m.signal, 1, m.pieces)
}

// credit tells the sender, now and then, how many messages have been taken.
func (m *remote[T]) credit(taken int64) error {
	if taken%m.every != 0 {
		return nil
	}
	return m.transport.Signal(m.peer, m.window, m.signal, m.every)
}

// raw is memory as bytes.
func raw[T element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}
