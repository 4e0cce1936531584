package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"

	"railyard/internal/door"
)

// listener is where rank 0 lets the others in, from the beginning of a run to its end.
type listener struct {
	door     *door.Door
	opt      Options
	greeting frame       // rank 0's
	arrive   func(*link) // takes whoever has the secret and has greeted

	mu         sync.Mutex
	turnedAway int
	last       string // why, and where from
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
	l := &listener{opt: opt, greeting: greeting, arrive: arrive}
	l.door = door.Open(socket, l.receive)
	return l, nil
}

// receive hears who has connected.
func (l *listener) receive(conn net.Conn, known func()) {
	rank, err := handshake(context.Background(), conn, l.opt, tls.Server, func(rank *link) error {
		err := rank.readGreeting()
		known()
		if err != nil {
			return err
		}
		return rank.send(l.greeting)
	})
	if err != nil {
		l.mu.Lock()
		l.turnedAway++
		l.last = fmt.Sprintf("%s: %s", conn.RemoteAddr(), why(err, l.opt.Dead))
		l.mu.Unlock()
		return
	}
	l.arrive(rank)
}

// strangers says who was turned away, "" for nobody.
func (l *listener) strangers() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turnedAway == 0 {
		return ""
	}
	return fmt.Sprintf("; connections rejected: %d, the last from %s", l.turnedAway, l.last)
}
