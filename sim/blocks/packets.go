package blocks

import (
	"railyard/model/block"
	"railyard/model/cost"
	"railyard/model/units"
)

// packet is where packets of a slice lie.
func packet(rank int, r block.Ref, slice int) place {
	return place{rank: rank, lane: -1, from: slice, step: r.Offset}
}

// packets puts sources into peers' buffers, or takes what has come, combines and forwards;
// false where something has not come.
func (w *walk) packets(x *run, op *block.Op, n units.Bytes) (bool, error) {
	if ok, err := w.take(x, op, n); !ok || err != nil {
		return false, err
	}
	var wire Work
	if len(op.PacketTargets) > 0 {
		var err error
		if wire, err = w.slowest(w.flows(x.rank, op, n)); err != nil {
			return false, err
		}
	}
	for _, d := range op.PacketTargets {
		sent, err := w.sent(x.rank, d.Rank, packetProtocol(op.Kind), 0)
		if err != nil {
			return false, err
		}
		sent.Bytes = n
		e, err := w.message(x, d.Rank, sent)
		if err != nil {
			return false, err
		}
		e.wire = wire
		w.happened[packet(d.Rank, d, x.slice)] = e
	}
	x.store(op, n)
	x.at++
	return true, nil
}

// take looks at all of an operation's packets at once; each further source costs a little.
// Further targets cost their bytes alone, since nobody waits for stores (messages one way: what
// the probe has measured).
func (w *walk) take(x *run, op *block.Op, n units.Bytes) (bool, error) {
	now := x.now
	for _, s := range op.PacketSources {
		e := w.happened[packet(x.rank, s, x.slice)]
		if e == nil {
			return false, nil
		}
		now = latest(now, e)
	}
	x.now = now
	if passesOn(x.rank, op) {
		x.now = w.overlapped(now)
	}
	further := len(op.PacketSources) - 1
	if further <= 0 {
		return true, nil
	}
	var err error
	x.now, err = w.message(x, op.PacketSources[0].Rank, Part{Protocol: packetProtocol(op.Kind), Bytes: n, Peers: float64(further)})
	return true, err
}

// passesOn reports whether an operation sends on what packets bring.
func passesOn(rank int, op *block.Op) bool {
	return len(op.PacketSources) > 0 && (len(op.PacketTargets) > 0 || remote(op.Destinations, rank))
}

// overlapped is when what has come can be passed on. The first of it comes while the rest is
// still put, so that the time on the way, which is that of a flag, hides behind the bytes: behind those
// beyond what the link carries in that time, which are put at once and come mixed.
func (w *walk) overlapped(e *event) *event {
	if len(e.wire) == 0 {
		return e
	}
	way := Part{Medium: e.wire[0].Medium, Protocol: cost.RelaxedFlag, Messages: 1}
	flight := way.time(w.costs)
	if flight == 0 {
		return e
	}
	way.Messages = -min(max(e.wire.time(w.costs)/flight-1, 0), 1)
	return w.then(e, Work{way})
}

// takenByOthers reports whether words are taken by other threads than those that put.
func (m *machine) takenByOthers(op *block.Op, n units.Bytes) bool {
	rounds := units.Bytes(block.PlentyOfWords * 16 * m.threads)
	return op.Kind == block.WordReduce && op.Flags&block.Halves != 0 && m.threads > 0 && n*units.Bytes(len(op.PacketSources)) >= rounds
}

// note finds the places of packets whose taking hides: they are passed on, or taken besides.
func (m *machine) note() {
	m.between = map[place]bool{}
	m.each(func(r int, l *block.Lane, op *block.Op) {
		if passesOn(r, op) || m.takenByOthers(op, bytes(l, op, 0)) {
			for _, s := range op.PacketSources {
				m.between[packet(r, s, 0)] = true
			}
		}
	})
}
