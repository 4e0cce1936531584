package cluster

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// maxPending bounds connections that have not said who they are. Where more come, the one that has waited longest
// gives way: a rank needs milliseconds and dials again, a stranger that says nothing stays longest.
const maxPending = 256

const acceptPause = 10 * time.Millisecond

// door is where rank 0 lets the others in, from the beginning of a run to its end.
type door struct {
	listener net.Listener
	opt      Options
	greeting frame       // rank 0's
	arrive   func(*link) // takes whoever has the secret and has greeted

	mu         sync.Mutex
	pending    list.List // of net.Conn, the oldest first
	turnedAway int
	last       string // why, and where from
	all        sync.WaitGroup
}

// openDoor listens at an address; where that is not the machine's alone, on all of its
// addresses: the name that others know it by may stand for loopback on the machine itself.
func openDoor(root string, opt Options, greeting frame, arrive func(*link)) (*door, error) {
	address := root
	if !onLoopback(root) {
		_, port, err := net.SplitHostPort(root)
		if err != nil {
			return nil, err
		}
		address = ":" + port
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen at %s: %s (name another port: RAILYARD_ROOT=HOST:PORT on every rank)", root,
			why(err, 0))
	}
	d := &door{listener: listener, opt: opt, greeting: greeting, arrive: arrive}
	d.all.Add(1)
	go d.serve()
	return d, nil
}

func (d *door) serve() {
	defer d.all.Done()
	for {
		conn, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file descriptors left, or the like: others may give some back
			time.Sleep(acceptPause)
			continue
		}
		d.mu.Lock()
		if d.pending.Len() == maxPending {
			d.pending.Remove(d.pending.Front()).(net.Conn).Close()
		}
		place := d.pending.PushBack(conn)
		d.mu.Unlock()
		d.all.Add(1)
		go d.receive(conn, place)
	}
}

// receive hears who has connected.
func (d *door) receive(conn net.Conn, place *list.Element) {
	defer d.all.Done()
	l, err := handshake(context.Background(), conn, d.opt, tls.Server, func(l *link) error {
		err := l.readGreeting()
		d.known(place) // from here on it gives way to nobody
		if err != nil {
			return err
		}
		return l.send(d.greeting)
	})
	d.known(place)
	if err != nil {
		d.mu.Lock()
		d.turnedAway++
		d.last = fmt.Sprintf("%s: %s", conn.RemoteAddr(), why(err, d.opt.Dead))
		d.mu.Unlock()
		return
	}
	d.arrive(l)
}

func (d *door) known(place *list.Element) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending.Remove(place)
}

// strangers says who was turned away, "" for nobody.
func (d *door) strangers() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turnedAway == 0 {
		return ""
	}
	return fmt.Sprintf("; connections turned away: %d, the last from %s", d.turnedAway, d.last)
}

// shut ends listening and whoever has not said who it is.
func (d *door) shut() {
	d.listener.Close()
	d.mu.Lock()
	for e := d.pending.Front(); e != nil; e = e.Next() {
		e.Value.(net.Conn).Close()
	}
	d.mu.Unlock()
	d.all.Wait()
}
