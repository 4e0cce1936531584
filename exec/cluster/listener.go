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

// listener is where rank 0 lets the others in, from the beginning of a run to its end.
type listener struct {
	net.Listener
	opt      Options
	greeting frame       // rank 0's
	arrive   func(*link) // takes whoever has the secret and has greeted

	mu         sync.Mutex
	pending    list.List // of net.Conn, the oldest first
	turnedAway int
	last       string // why, and where from
	all        sync.WaitGroup
}

// listen listens at an address; where that is not the machine's alone, on all of its
// addresses: the name that others know it by may stand for loopback on the machine itself.
func listen(root string, opt Options, greeting frame, arrive func(*link)) (*listener, error) {
	address := root
	if !onLoopback(root) {
		_, port, err := net.SplitHostPort(root)
		if err != nil {
			return nil, err
		}
		address = ":" + port
	}
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("rank 0 cannot listen at %s: %s (name another port: RAILYARD_ROOT=HOST:PORT on every rank)", root,
			why(err, 0))
	}
	l := &listener{Listener: socket, opt: opt, greeting: greeting, arrive: arrive}
	l.all.Add(1)
	go l.serve()
	return l, nil
}

func (l *listener) serve() {
	defer l.all.Done()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file descriptors left, or the like: others may give some back
			time.Sleep(acceptPause)
			continue
		}
		l.mu.Lock()
		if l.pending.Len() == maxPending {
			l.pending.Remove(l.pending.Front()).(net.Conn).Close()
		}
		place := l.pending.PushBack(conn)
		l.mu.Unlock()
		l.all.Add(1)
		go l.receive(conn, place)
	}
}

// receive hears who has connected.
func (l *listener) receive(conn net.Conn, place *list.Element) {
	defer l.all.Done()
	rank, err := handshake(context.Background(), conn, l.opt, tls.Server, func(rank *link) error {
		err := rank.readGreeting()
		l.known(place) // from here on it gives way to nobody
		if err != nil {
			return err
		}
		return rank.send(l.greeting)
	})
	l.known(place)
	if err != nil {
		l.mu.Lock()
		l.turnedAway++
		l.last = fmt.Sprintf("%s: %s", conn.RemoteAddr(), why(err, l.opt.Dead))
		l.mu.Unlock()
		return
	}
	l.arrive(rank)
}

func (l *listener) known(place *list.Element) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending.Remove(place)
}

// strangers says who was turned away, "" for nobody.
func (l *listener) strangers() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turnedAway == 0 {
		return ""
	}
	return fmt.Sprintf("; connections turned away: %d, the last from %s", l.turnedAway, l.last)
}

// shut ends listening and whoever has not said who it is.
func (l *listener) shut() {
	l.Listener.Close()
	l.mu.Lock()
	for e := l.pending.Front(); e != nil; e = e.Next() {
		e.Value.(net.Conn).Close()
	}
	l.mu.Unlock()
	l.all.Wait()
}
