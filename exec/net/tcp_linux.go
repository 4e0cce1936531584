package net

import (
	"fmt"
	stdnet "net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// TCP is a Transport over sockets, one or several between each two processes.
type TCP struct {
	self    int
	peers   []*peer // nil for this process
	sockets []*socket
	epoll   int
	backlog atomic.Int64
	failure atomic.Pointer[error]
	closing atomic.Bool
}

// peer is another process.
type peer struct {
	arrivals
	process  int
	address  string
	sockets  []*socket
	order    sync.Mutex  // of what is put
	messages uint64      // put so far
	held     atomic.Bool // what is put waits for Release
}

type socket struct {
	peer   *peer
	number int // in sockets
	fd     int
	file   *os.File
	taking sync.Mutex // of who reads
	in     *inbound
	out    outbound
	gone   atomic.Bool // the peer has closed
}

// newTCP takes over connections, by process and socket.
func newTCP(self int, addresses []string, conns [][]*stdnet.TCPConn) (t *TCP, err error) {
	t = &TCP{self: self, peers: make([]*peer, len(conns))}
	if t.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	for i, list := range conns {
		if i == self {
			continue
		}
		p := &peer{process: i, address: addresses[i], arrivals: arrivals{windows: map[uint32]window{}, ahead: map[uint64]partial{}}}
		t.peers[i] = p
		for _, c := range list {
			if err := t.adopt(p, c); err != nil {
				t.Close()
				return nil, fmt.Errorf("%v: %w", p, err)
			}
		}
	}
	return t, nil
}

// adopt takes a connection out of the hands of Go's poller.
func (t *TCP) adopt(p *peer, c *stdnet.TCPConn) error {
	if err := c.SetNoDelay(true); err != nil {
		return err
	}
	file, err := c.File()
	if err != nil {
		return err
	}
	c.Close() // the file is a copy
	s := &socket{peer: p, number: len(t.sockets), fd: int(file.Fd()), file: file, in: newInbound(&p.arrivals)}
	t.sockets, p.sockets = append(t.sockets, s), append(p.sockets, s)
	if err := unix.SetNonblock(s.fd, true); err != nil {
		return err
	}
	if err := s.bound(); err != nil {
		return fmt.Errorf("send buffer: %w", err)
	}
	return unix.EpollCtl(t.epoll, unix.EPOLL_CTL_ADD, s.fd, s.event(unix.EPOLLIN))
}

// bound keeps what a socket takes at what can be under way: the rest waits here, in order, and not in queues on its way, where it delays
// what others need first and where congestion control that paces by what bursts reached (BBR) loses it. Between two GPUs at 10 Gbit/s,
// all-reduces of 4 MiB take 7 to 15 % less so (docs/evidence/execution-nodes.md#what-sockets-take). Where the system tells no round trip,
// or more can be under way than it grants everybody, it sizes the buffer itself.
func (s *socket) bound() error {
	info, err := unix.GetsockoptTCPInfo(s.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Min_rtt == 0 {
		return nil
	}
	bytes := sendBuffer(time.Duration(info.Min_rtt) * time.Microsecond)
	if bytes > mostBuffer {
		return nil
	}
	return unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, bytes)
}

// A socket's buffer: what the fastest carries in a round trip (5.6 GB/s were measured on one), never less than was seen to be enough over
// loopback. Linux doubles what is asked for. mostBuffer is what it grants everybody by default (net.core.wmem_max), enough up to 71 µs.
const (
	fastestSocket = 6e9 // bytes/s
	leastBuffer   = 128 << 10
	mostBuffer    = 208 << 10
)

func sendBuffer(roundTrip time.Duration) int {
	return max(leastBuffer, int(fastestSocket*roundTrip.Seconds()/2))
}

func (s *socket) event(events uint32) *unix.EpollEvent {
	return &unix.EpollEvent{Events: events, Fd: int32(s.number)}
}

func (p *peer) String() string { return fmt.Sprintf("process %d (%s)", p.process, p.address) }

// Register implements Transport.
func (t *TCP) Register(peer int, number uint32, memory []byte, signals []*atomic.Int64) error {
	p := t.peers[peer]
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.windows[number]; ok {
		return fmt.Errorf("window %d of %v is registered already", number, p)
	}
	p.windows[number] = window{memory, signals}
	return nil
}

// Withdraw implements Transport.
func (t *TCP) Withdraw(peer int, number uint32) {
	p := t.peers[peer]
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.windows, number)
}

// Put implements Transport.
func (t *TCP) Put(peer int, window uint32, offset int64, signal int, n int64, pieces [][]byte) error {
	total := 0
	for _, x := range pieces {
		total += len(x)
	}
	return t.send(t.peers[peer], frame{kind: dataFrame, window: window, offset: uint64(offset), total: uint64(total),
		signal: uint32(signal), add: uint64(n)}, pieces)
}

// Signal implements Transport.
func (t *TCP) Signal(peer int, window uint32, signal int, n int64) error {
	return t.send(t.peers[peer], frame{kind: dataFrame, window: window, signal: uint32(signal), add: uint64(n)}, nil)
}

// smallestFrame is what is not worth another socket.
const smallestFrame = 64 << 10

// send cuts a message into frames and hands them to sockets.
func (t *TCP) send(p *peer, f frame, pieces [][]byte) error {
	if err := t.failed(); err != nil {
		return err
	}
	p.order.Lock()
	defer p.order.Unlock()
	f.message = p.messages
	p.messages++
	if f.total <= smallestFrame || len(p.sockets) == 1 && f.total <= maxFrame {
		f.length = uint32(f.total)
		return t.write(p.emptiest(0), &f, pieces)
	}
	each := min(max((int(f.total)+len(p.sockets)-1)/len(p.sockets), smallestFrame), maxFrame)
	for i := 0; len(pieces) > 0; i++ {
		var part [][]byte
		var n int
		part, pieces, n = cut(pieces, each)
		f.length = uint32(n)
		if err := t.write(p.emptiest(i), &f, part); err != nil {
			return err
		}
		f.offset += uint64(n)
	}
	return nil
}

// cut takes up to so many bytes off pieces, which stay as they are.
func cut(pieces [][]byte, most int) (part, rest [][]byte, n int) {
	for i, x := range pieces {
		if n+len(x) > most {
			part = append(part, x[:most-n])
			return part, append([][]byte{x[most-n:]}, pieces[i+1:]...), most
		}
		part = append(part, x)
		n += len(x)
	}
	return part, nil, n
}

// emptiest is the socket with the least to write; among equals the next in turn.
func (p *peer) emptiest(turn int) *socket {
	var best *socket
	least := int64(0)
	for i := range p.sockets {
		s := p.sockets[(turn+i)%len(p.sockets)]
		s.out.mu.Lock()
		n := s.out.bytes
		s.out.mu.Unlock()
		if best == nil || n < least {
			best, least = s, n
		}
		if n == 0 {
			break
		}
	}
	return best
}

// write queues a frame and writes what the socket takes at once.
func (t *TCP) write(s *socket, f *frame, pieces [][]byte) error {
	if s.gone.Load() {
		return t.fail(fmt.Errorf("%v has ended, and data are put to it", s.peer))
	}
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	before := s.out.bytes
	s.out.add(f, pieces)
	t.backlog.Add(s.out.bytes - before)
	if before > 0 || s.peer.held.Load() {
		return nil // it is full, and what is awaited says when to go on; or Release does
	}
	return t.flush(s)
}

// Hold implements Transport.
func (t *TCP) Hold(peer int) { t.peers[peer].held.Store(true) }

// Release implements Transport.
func (t *TCP) Release(peer int) error {
	p := t.peers[peer]
	p.held.Store(false)
	for _, s := range p.sockets {
		if err := t.flushWaiting(s); err != nil {
			return err
		}
	}
	return nil
}

// flush writes until the socket takes no more, and then asks to be told; its out is locked.
func (t *TCP) flush(s *socket) error {
	for s.out.bytes > 0 {
		n, err := unix.Writev(s.fd, s.out.pending())
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return t.ask(s, true)
		case err != nil:
			return t.lost(s, err)
		}
		t.backlog.Add(-int64(n))
		s.out.written(n)
	}
	return t.ask(s, false)
}

// ask sets whether the socket's room is awaited.
func (t *TCP) ask(s *socket, room bool) error {
	if s.out.asked == room {
		return nil
	}
	s.out.asked = room
	events := uint32(unix.EPOLLIN)
	if room {
		events |= unix.EPOLLOUT
	}
	if err := unix.EpollCtl(t.epoll, unix.EPOLL_CTL_MOD, s.fd, s.event(events)); err != nil {
		return t.fail(fmt.Errorf("%v: epoll: %w", s.peer, err))
	}
	return nil
}

// Poll implements Transport.
func (t *TCP) Poll() (moved bool, err error) {
	if err := t.failed(); err != nil {
		return false, err
	}
	var events [32]unix.EpollEvent
	n, err := unix.EpollWait(t.epoll, events[:], 0)
	if err != nil && err != unix.EINTR {
		return false, t.fail(fmt.Errorf("epoll: %w", err))
	}
	for i := range max(n, 0) {
		s := t.sockets[events[i].Fd]
		if events[i].Events&unix.EPOLLOUT != 0 {
			if err := t.flushWaiting(s); err != nil {
				return true, err
			}
		}
		if events[i].Events&^unix.EPOLLOUT != 0 {
			if err := t.take(s); err != nil {
				return true, err
			}
		}
	}
	return n > 0, nil
}

// flushWaiting writes what waits.
func (t *TCP) flushWaiting(s *socket) error {
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	return t.flush(s)
}

// takeAtMost bounds what is read of one socket before others have their turn.
const takeAtMost = 4 << 20

// take reads what has arrived, unless somebody else does.
func (t *TCP) take(s *socket) error {
	if !s.taking.TryLock() {
		return nil
	}
	defer s.taking.Unlock()
	for sum := 0; sum < takeAtMost && !s.gone.Load(); {
		rest, buffer := s.in.space()
		n, err := read(s.fd, rest, buffer)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return t.lost(s, err)
		case n == 0:
			return t.lost(s, fmt.Errorf("it closed the connection"))
		}
		if err := s.in.filled(n); err != nil {
			return t.fail(fmt.Errorf("%v violated the protocol: %w", s.peer, err))
		}
		if s.in.bye {
			return t.farewell(s)
		}
		if n < len(rest)+len(buffer) {
			return nil
		}
		sum += n
	}
	return nil
}

func read(fd int, rest, buffer []byte) (int, error) {
	if len(rest) == 0 {
		return unix.Read(fd, buffer)
	}
	return unix.Readv(fd, [][]byte{rest, buffer})
}

// farewell stops listening to a peer that has said that it closes, which is a loss while it is to put anything.
func (t *TCP) farewell(s *socket) error {
	if s.peer.expected() {
		return t.lost(s, fmt.Errorf("it has ended in the middle of the run"))
	}
	s.gone.Store(true)
	if err := unix.EpollCtl(t.epoll, unix.EPOLL_CTL_DEL, s.fd, nil); err != nil {
		return t.fail(fmt.Errorf("%v: epoll: %w", s.peer, err))
	}
	return nil
}

// Wait implements Transport.
func (t *TCP) Wait(most time.Duration) (moved bool, err error) {
	ts := unix.NsecToTimespec(most.Nanoseconds())
	if _, err := unix.Ppoll([]unix.PollFd{{Fd: int32(t.epoll), Events: unix.POLLIN}}, &ts, nil); err != nil && err != unix.EINTR {
		return false, t.fail(fmt.Errorf("poll: %w", err))
	}
	return t.Poll()
}

// Backlog implements Transport.
func (t *TCP) Backlog() int64 { return t.backlog.Load() }

func (t *TCP) lost(s *socket, err error) error {
	return t.fail(fmt.Errorf("%v is lost: %w", s.peer, err))
}

// fail keeps the first error, which all get from then on.
func (t *TCP) fail(err error) error {
	t.failure.CompareAndSwap(nil, &err)
	return *t.failure.Load()
}

func (t *TCP) failed() error {
	if err := t.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// closeFor is how long Close waits for peers that do not take what was put.
const closeFor = time.Second

// Close implements Transport. No other call may be under way, and none may follow.
func (t *TCP) Close() error {
	if t.closing.Swap(true) {
		return nil
	}
	if t.failed() == nil {
		for _, s := range t.sockets {
			if !s.gone.Load() {
				_ = t.write(s, &frame{kind: byeFrame}, nil) // the peer may be gone too
			}
		}
		for until := time.Now().Add(closeFor); t.Backlog() > 0 && time.Now().Before(until); {
			if _, err := t.Wait(time.Millisecond); err != nil {
				break
			}
		}
	}
	for _, s := range t.sockets {
		s.file.Close()
	}
	return unix.Close(t.epoll)
}
