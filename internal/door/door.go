// Package door lets those in that show who they are, whoever else calls.
package door

import (
	"container/list"
	"errors"
	"net"
	"sync"
	"time"
)

// MostWaiting bounds connections that have not shown who they are. Where more come, the one that has waited longest
// gives way: a process of the run needs milliseconds, a stranger that says nothing stays longest.
const MostWaiting = 256

const acceptPause = 10 * time.Millisecond

// Door is where a process lets others in that show who they are.
type Door struct {
	net.Listener
	receive func(conn net.Conn, known func())

	mu      sync.Mutex
	waiting list.List // of net.Conn, the oldest first
	all     sync.WaitGroup
}

// Open gives every connection to receive, on a goroutine of its own. It calls known once the other end has shown who it is, and
// from then on gives way to nobody.
func Open(l net.Listener, receive func(conn net.Conn, known func())) *Door {
	d := &Door{Listener: l, receive: receive}
	d.all.Go(d.serve)
	return d
}

func (d *Door) serve() {
	for {
		conn, err := d.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file descriptors left, or the like: others may give some back
			time.Sleep(acceptPause)
			continue
		}
		d.mu.Lock()
		if d.waiting.Len() == MostWaiting {
			d.waiting.Remove(d.waiting.Front()).(net.Conn).Close()
		}
		place := d.waiting.PushBack(conn)
		d.mu.Unlock()
		known := func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.waiting.Remove(place)
		}
		d.all.Go(func() {
			defer known()
			d.receive(conn, known)
		})
	}
}

// Shut ends listening and whoever still waits, and returns when receive has, of all.
func (d *Door) Shut() {
	d.Close()
	d.mu.Lock()
	for e := d.waiting.Front(); e != nil; e = e.Next() {
		e.Value.(net.Conn).Close()
	}
	d.mu.Unlock()
	d.all.Wait()
}
