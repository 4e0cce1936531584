package net

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	stdnet "net"
	"slices"
	"strconv"
	"time"

	"railyard/internal/door"
)

// Options say who connects with whom.
type Options struct {
	Process, Size int           // this process's number, and how many there are
	Host          string        // the address of this machine that the others reach, on the network that data shall take
	Sockets       int           // between each two processes; 0 is 1
	Timeout       time.Duration // until all are connected; 0 is 30 s
}

// Exchange gives every process what all have given, by process. It is of the control plane, which
// has made sure who the others are and reads nothing to strangers.
type Exchange func(ctx context.Context, mine []byte) ([][]byte, error)

// card is what the processes tell one another.
type card struct {
	Address string
	Sockets int
	Secret  [32]byte // all together make the token
}

// Connect joins each process with every other one; all of them call it. The error says who could not be
// reached or never came.
func Connect(ctx context.Context, o Options, exchange Exchange) (*TCP, error) {
	o.Sockets = max(o.Sockets, 1)
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	listener, err := new(stdnet.ListenConfig).Listen(ctx, "tcp", stdnet.JoinHostPort(o.Host, "0"))
	if err != nil {
		return nil, fmt.Errorf("data connections: %w", err)
	}
	defer listener.Close()
	own := card{Address: listener.Addr().String(), Sockets: o.Sockets}
	rand.Read(own.Secret[:])
	cards, token, err := trade(ctx, own, o, exchange)
	if err != nil {
		return nil, err
	}
	m := &meeting{Options: o, token: token, cards: cards, results: make(chan met), stop: ctx.Done()}
	entrance := door.Open(listener, m.accept)
	defer func() {
		cancel() // nobody waits for who has called
		entrance.Shut()
	}()
	go m.dial(ctx)
	conns, err := m.gather(ctx)
	if err != nil {
		for _, c := range slices.Concat(conns...) {
			if c != nil {
				c.Close()
			}
		}
		return nil, err
	}
	addresses := make([]string, o.Size)
	for i, c := range cards {
		addresses[i] = c.Address
	}
	return newTCP(o.Process, addresses, conns)
}

// trade exchanges cards and makes the token of them.
func trade(ctx context.Context, own card, o Options, exchange Exchange) ([]card, *Token, error) {
	text, err := json.Marshal(own)
	if err != nil {
		return nil, nil, err
	}
	all, err := exchange(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	if len(all) != o.Size {
		return nil, nil, fmt.Errorf("data connections: %d processes answered, %d were expected", len(all), o.Size)
	}
	cards, h := make([]card, o.Size), sha256.New()
	for i, text := range all {
		if err := json.Unmarshal(text, &cards[i]); err != nil {
			return nil, nil, fmt.Errorf("data connections: message of process %d: %w", i, err)
		}
		if cards[i].Sockets != o.Sockets {
			return nil, nil, fmt.Errorf("data connections: process %d wants %d sockets, process %d wants %d: choose one number",
				i, cards[i].Sockets, o.Process, o.Sockets)
		}
		h.Write(cards[i].Secret[:])
	}
	token := Token(h.Sum(nil))
	return cards, &token, nil
}

// meeting is connections while they are made: a process calls those of smaller numbers.
type meeting struct {
	Options
	token   *Token
	cards   []card
	results chan met
	stop    <-chan struct{}
}

// met is a connection, or why there is none.
type met struct {
	process, socket int
	conn            *stdnet.TCPConn
	err             error
}

// handshakeFor is how long who calls, or is called, has to show who it is.
const handshakeFor = 5 * time.Second

// accept answers who calls.
func (m *meeting) accept(c stdnet.Conn, known func()) {
	_ = c.SetDeadline(time.Now().Add(handshakeFor))
	x := met{conn: c.(*stdnet.TCPConn)}
	if x.process, x.socket, x.err = answerCall(c, m.token); x.err != nil {
		c.Close() // a stranger, or one whose own error says more
		return
	}
	known()
	m.report(x)
}

// dial calls the processes before this one.
func (m *meeting) dial(ctx context.Context) {
	for process := range m.Process {
		for socket := range m.Sockets {
			x := met{process: process, socket: socket}
			x.conn, x.err = m.callOne(ctx, process, socket)
			m.report(x)
		}
	}
}

func (m *meeting) callOne(ctx context.Context, process, socket int) (*stdnet.TCPConn, error) {
	c, err := new(stdnet.Dialer).DialContext(ctx, "tcp", m.cards[process].Address)
	if err == nil {
		_ = c.SetDeadline(time.Now().Add(handshakeFor))
		if err = call(c, m.token, m.Process, socket); err == nil {
			return c.(*stdnet.TCPConn), nil
		}
		c.Close()
	}
	return nil, fmt.Errorf("process %d (%s) cannot be reached: %w", process, m.cards[process].Address, err)
}

// report hands a result over, unless nobody waits any more.
func (m *meeting) report(x met) {
	select {
	case m.results <- x:
	case <-m.stop:
		if x.conn != nil {
			x.conn.Close()
		}
	}
}

// gather waits for all connections.
func (m *meeting) gather(ctx context.Context) ([][]*stdnet.TCPConn, error) {
	conns := make([][]*stdnet.TCPConn, m.Size)
	for i := range conns {
		if i != m.Process {
			conns[i] = make([]*stdnet.TCPConn, m.Sockets)
		}
	}
	for missing := (m.Size - 1) * m.Sockets; missing > 0; missing-- {
		select {
		case x := <-m.results:
			if x.err != nil {
				return conns, x.err
			}
			if x.process >= m.Size || x.process == m.Process || x.socket >= m.Sockets || conns[x.process][x.socket] != nil {
				x.conn.Close()
				return conns, fmt.Errorf("process %d, socket %d connected twice, or is not one of this run's %d", x.process, x.socket,
					m.Size)
			}
			if err := x.conn.SetDeadline(time.Time{}); err != nil {
				return conns, err
			}
			conns[x.process][x.socket] = x.conn
		case <-ctx.Done():
			return conns, m.absent(ctx, conns)
		}
	}
	return conns, nil
}

// absent says who has not come.
func (m *meeting) absent(ctx context.Context, conns [][]*stdnet.TCPConn) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	var who []string
	for i, list := range conns {
		if slices.Contains(list, nil) {
			who = append(who, strconv.Itoa(i))
		}
	}
	return fmt.Errorf("data connections: no connection with process %v after %v", who, m.Timeout)
}
