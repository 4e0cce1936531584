package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// link is a control connection with a rank.
type link struct {
	conn    *tls.Conn
	peer    greeting // whom it leads to
	writing sync.Mutex
	inbox   chan frame    // what the next operation waits for
	ended   chan struct{} // closed when nothing more comes
	left    atomic.Bool   // the other end has said bye: that nothing more comes is no loss
}

// paced is a connection on which nothing may stand still for longer than most.
type paced struct {
	net.Conn
	most time.Duration
}

// Read implements io.Reader.
func (p paced) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(p.most)); err != nil {
		return 0, err
	}
	return p.Conn.Read(b)
}

// Write implements io.Writer.
func (p paced) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.most)); err != nil {
		return 0, err
	}
	return p.Conn.Write(b)
}

// handshake makes a link of a connection, as client or server, with greetings both ways; all of it takes
// opt.Handshake at most, so that whoever says nothing, or a byte a second, does not stay.
func handshake(ctx context.Context, conn net.Conn, opt Options, side func(net.Conn, *tls.Config) *tls.Conn,
	greetings func(*link) error) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, opt.Handshake)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	l := &link{conn: side(paced{conn, opt.Dead}, opt.tls), inbox: make(chan frame, 1), ended: make(chan struct{})}
	err := l.conn.HandshakeContext(ctx)
	if err == nil {
		err = greetings(l)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// readGreeting reads whom a link leads to.
func (l *link) readGreeting() error {
	f, err := readFrame(l.conn, maxGreeting)
	if err == nil {
		l.peer, err = decodeGreeting(f)
	}
	return err
}

func (l *link) send(f frame) error {
	data, err := f.encode()
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.conn.Write(data)
	return err
}

// beats sends signs of life until the link has ended.
func (l *link) beats(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-l.ended:
			return
		case <-tick.C:
			if l.send(frame{kind: beat}) != nil {
				return // whoever reads says why
			}
		}
	}
}

// local is this end's address.
func (l *link) local() net.IP { return l.conn.LocalAddr().(*net.TCPAddr).IP }

// drain reads what nobody wants until nothing more comes.
func (l *link) drain() {
	defer close(l.ended)
	for {
		if _, err := readFrame(l.conn, maxGreeting); err != nil {
			return
		}
	}
}

// sendLast sends a last frame and waits until the other end, having read it, has hung up, or for so long.
func (l *link) sendLast(f frame, most time.Duration) {
	defer l.conn.Close()
	if l.send(f) != nil || l.conn.CloseWrite() != nil {
		return
	}
	select {
	case <-l.ended:
	case <-time.After(most):
	}
}

// why is an error of a connection without what every message would repeat.
func why(err error, dead time.Duration) string {
	var op *net.OpError
	var sys *os.SyscallError
	var unknown *net.DNSError
	switch {
	case errors.Is(err, errSecret) || strings.Contains(err.Error(), "tls: bad certificate"):
		return errSecret.Error()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		return io.EOF.Error() // the other end is gone; which of them it is depends on what was under way
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("no message for %v", dead)
	case errors.As(err, &unknown):
		return fmt.Sprintf("%s: set RAILYARD_ROOT=HOST:PORT to an address of rank 0's node", oneLine(unknown.Error()))
	case errors.As(err, &sys):
		return sys.Err.Error()
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return oneLine(err.Error())
}
