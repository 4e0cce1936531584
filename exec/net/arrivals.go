package net

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// arrivals is what a peer may write into, and how far its messages have come. Messages come
// to pass in order, whichever sockets their frames took.
type arrivals struct {
	mu      sync.Mutex
	windows map[uint32]window
	next    uint64             // the message that comes to pass next
	ahead   map[uint64]partial // those not complete, or behind one that is not
}

type window struct {
	memory  []byte
	signals []*atomic.Int64
}

// partial is a message of which some bytes are missing.
type partial struct {
	frame        // the first that came: window, total, signal and add hold for all
	left  uint64 // bytes
}

// expected reports whether anything is registered for the peer.
func (a *arrivals) expected() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.windows) > 0
}

// place is where a frame's bytes go.
func (a *arrivals) place(f *frame) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.windows[f.window]
	size := uint64(len(w.memory))
	switch {
	case !ok:
		return nil, fmt.Errorf("a put into window %d, which is not registered", f.window)
	case f.offset > size || uint64(f.length) > size-f.offset || f.total > size:
		return nil, fmt.Errorf("a put outside of registered memory: bytes %d to %d of window %d, which has %d",
			f.offset, f.offset+uint64(f.length), f.window, size)
	case uint64(f.signal) >= uint64(len(w.signals)):
		return nil, fmt.Errorf("signal %d of window %d, which has %d", f.signal, f.window, len(w.signals))
	case f.message < a.next || f.message-a.next >= maxAhead:
		return nil, fmt.Errorf("message %d while %d is awaited", f.message, a.next)
	}
	if p, ok := a.ahead[f.message]; ok {
		if p.window != f.window || p.total != f.total || p.signal != f.signal || p.add != f.add {
			return nil, fmt.Errorf("two frames of message %d contradict each other", f.message)
		}
		if p.left < uint64(f.length) || f.length == 0 {
			return nil, fmt.Errorf("message %d has more than its %d bytes", f.message, f.total)
		}
	}
	return w.memory[f.offset:][:f.length:f.length], nil
}

// arrived counts a frame whose bytes are in place, and raises the signals of all messages
// that are now complete and in turn.
func (a *arrivals) arrived(f *frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.ahead[f.message]
	if !ok {
		p = partial{frame: *f, left: f.total}
	}
	if p.left < uint64(f.length) {
		return fmt.Errorf("message %d has more than its %d bytes", f.message, f.total)
	}
	p.left -= uint64(f.length)
	if f.message != a.next || p.left > 0 {
		a.ahead[f.message] = p
		return nil
	}
	if ok {
		delete(a.ahead, f.message)
	}
	for {
		if err := a.raise(&p.frame); err != nil {
			return err
		}
		a.next++
		if p, ok = a.ahead[a.next]; !ok || p.left > 0 {
			return nil
		}
		delete(a.ahead, a.next)
	}
}

func (a *arrivals) raise(f *frame) error {
	w, ok := a.windows[f.window]
	if !ok {
		return fmt.Errorf("window %d was withdrawn while message %d was under way", f.window, f.message)
	}
	w.signals[f.signal].Add(int64(f.add))
	return nil
}
