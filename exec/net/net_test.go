package net

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	stdnet "net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "railyard/internal/long"

	"railyard/internal/door"
)

// room is a control plane of one process: who exchanges waits for all others.
type room struct {
	mu   sync.Mutex
	all  [][]byte
	left int
	done chan struct{}
}

func newRoom(size int) *room {
	return &room{all: make([][]byte, size), left: size, done: make(chan struct{})}
}

func (r *room) exchange(process int) Exchange {
	return func(ctx context.Context, mine []byte) ([][]byte, error) {
		r.mu.Lock()
		r.all[process] = mine
		if r.left--; r.left == 0 {
			close(r.done)
		}
		r.mu.Unlock()
		select {
		case <-r.done:
			return r.all, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// connected are processes joined over loopback.
func connected(t testing.TB, size, sockets int) []*TCP {
	t.Helper()
	r := newRoom(size)
	out, errs := make([]*TCP, size), make([]error, size)
	var wg sync.WaitGroup
	for i := range size {
		wg.Go(func() {
			out[i], errs[i] = Connect(context.Background(), Options{Process: i, Size: size, Host: "127.0.0.1", Sockets: sockets},
				r.exchange(i))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, x := range out {
			wg.Go(func() { x.Close() })
		}
		wg.Wait()
	})
	return out
}

// until polls both ends until a condition holds.
func until(t testing.TB, what string, ok func() bool, all ...*TCP) {
	t.Helper()
	for start := time.Now(); !ok(); {
		for _, x := range all {
			if _, err := x.Poll(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("%s: did not come to pass in a minute", what)
		}
	}
}

// TestPutsArriveInOrder: messages of all sizes, in pieces, from each to each at once: a signal is never
// raised before all bytes of its message, and of those before, are there.
func TestPutsArriveInOrder(t *testing.T) {
	const messages = 60
	for _, shape := range []struct{ size, sockets int }{{2, 1}, {2, 4}, {4, 3}} {
		random := rand.New(rand.NewPCG(1, uint64(shape.sockets)))
		ends := connected(t, shape.size, shape.sockets)
		lengths := make([]int, messages)
		offsets := make([]int, messages+1)
		for i := range lengths {
			lengths[i] = random.IntN(1 << random.IntN(22))
			offsets[i+1] = offsets[i] + lengths[i]
		}
		data := make([]byte, offsets[messages])
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		var wg sync.WaitGroup
		for self, x := range ends {
			memory, signals := make([][]byte, len(ends)), make([]*atomic.Int64, len(ends))
			for other := range ends {
				if other != self {
					memory[other], signals[other] = make([]byte, len(data)), new(atomic.Int64)
					if err := x.Register(other, 7, memory[other], []*atomic.Int64{new(atomic.Int64), signals[other]}); err != nil {
						t.Fatal(err)
					}
				}
			}
			ends[self] = x
			wg.Go(func() {
				for i := range messages {
					for other := range ends {
						if other == self {
							continue
						}
						m := data[offsets[i]:offsets[i+1]]
						pieces := [][]byte{m[:len(m)/3], nil, m[len(m)/3 : len(m)/2], m[len(m)/2:]}
						if err := x.Put(other, 7, int64(offsets[i]), 1, 1, pieces); err != nil {
							t.Error(err)
						}
					}
					if _, err := x.Poll(); err != nil {
						t.Error(err)
					}
					for other := range ends {
						if other != self {
							n := signals[other].Load()
							if got := memory[other][:offsets[n]]; !bytes.Equal(got, data[:offsets[n]]) {
								t.Errorf("%d messages are said to be there, and are not", n)
							}
						}
					}
				}
				for other := range ends {
					for other != self && (signals[other].Load() < messages || x.Backlog() > 0) {
						if _, err := x.Wait(time.Millisecond); err != nil {
							t.Error(err)
							return
						}
					}
					if other != self && !bytes.Equal(memory[other], data) {
						t.Errorf("%d sockets: what %d got of %d differs", shape.sockets, self, other)
					}
				}
			})
		}
		wg.Wait()
	}
}

// TestPutDoesNotWait: while the peer does not listen, what is put waits here, and arrives later.
func TestPutDoesNotWait(t *testing.T) {
	ends := connected(t, 2, 2)
	memory, signal := make([]byte, 64<<20), new(atomic.Int64)
	if err := ends[1].Register(0, 0, memory, []*atomic.Int64{signal}); err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("railyard"), len(memory)/8)
	if err := ends[0].Put(1, 0, 0, 0, 1, [][]byte{data}); err != nil {
		t.Fatal(err)
	}
	if err := ends[0].Signal(1, 0, 0, 40); err != nil {
		t.Fatal(err)
	}
	if ends[0].Backlog() == 0 {
		t.Error("the system took 64 MiB that nobody reads: this test shows nothing")
	}
	until(t, "a put of 64 MiB", func() bool { return signal.Load() == 41 }, ends...)
	if !bytes.Equal(memory, data) || ends[0].Backlog() != 0 {
		t.Errorf("what arrived differs, or %d bytes are left", ends[0].Backlog())
	}
}

// TestHeldPutsLeaveTogether: nothing of what is held arrives before it is released, and then all of it does, in order.
func TestHeldPutsLeaveTogether(t *testing.T) {
	ends := connected(t, 2, 2)
	memory, signal := make([]byte, 8), new(atomic.Int64)
	if err := ends[1].Register(0, 0, memory, []*atomic.Int64{signal}); err != nil {
		t.Fatal(err)
	}
	ends[0].Hold(1)
	for i := range 3 {
		if err := ends[0].Put(1, 0, int64(i), 0, 1, [][]byte{{byte(i + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		if moved, err := ends[1].Wait(time.Millisecond); err != nil || moved {
			t.Fatalf("something has arrived of what is held: %v", err)
		}
	}
	if ends[0].Backlog() == 0 {
		t.Error("what is held is said to have left")
	}
	if err := ends[0].Release(1); err != nil {
		t.Fatal(err)
	}
	until(t, "what was held", func() bool { return signal.Load() == 3 }, ends...)
	if !bytes.Equal(memory[:4], []byte{1, 2, 3, 0}) || ends[0].Backlog() != 0 {
		t.Errorf("%v is there, and %d bytes are left", memory, ends[0].Backlog())
	}
}

// TestOutsideOfMemory: who puts where nothing is registered is cut off, in one line, and nothing is written.
func TestOutsideOfMemory(t *testing.T) {
	for want, put := range map[string]func(x *TCP) error{
		"window 3, which is not registered": func(x *TCP) error { return x.Put(1, 3, 0, 0, 1, [][]byte{{1}}) },
		"bytes 98 to 102 of window 0":       func(x *TCP) error { return x.Put(1, 0, 98, 0, 1, [][]byte{{1, 2}, {3, 4}}) },
		"bytes 18446744073709551615 to":     func(x *TCP) error { return x.Put(1, 0, -1, 0, 1, [][]byte{{1, 2}}) },
		"signal 1 of window 0":              func(x *TCP) error { return x.Put(1, 0, 0, 1, 1, [][]byte{{1}}) },
		"raised by":                         func(x *TCP) error { return x.Signal(1, 0, 0, -1) },
	} {
		ends := connected(t, 2, 1)
		memory, signal := make([]byte, 100), new(atomic.Int64)
		if err := ends[1].Register(0, 0, memory, []*atomic.Int64{signal}); err != nil {
			t.Fatal(err)
		}
		if err := put(ends[0]); err != nil {
			t.Fatal(err)
		}
		var err error
		for err == nil {
			_, err = ends[1].Wait(time.Millisecond)
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "process 0 (127.0.0.1:") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q lacks %q", err, want)
		}
		if signal.Load() != 0 || !bytes.Equal(memory, make([]byte, 100)) {
			t.Error("something was written")
		}
		ends[1].Close()
		for err = nil; err == nil; {
			_, err = ends[0].Wait(time.Millisecond)
		}
		if !strings.Contains(err.Error(), "process 1 (127.0.0.1:") || !strings.Contains(err.Error(), "is lost") {
			t.Errorf("the other end: %v", err)
		}
	}
}

// TestLostPeer: all who put, poll or wait hear the same.
func TestLostPeer(t *testing.T) {
	ends := connected(t, 3, 2)
	ends[1].sockets[0].file.Close() // as when the process is killed
	ends[1].sockets[1].file.Close()
	var first error
	for first == nil {
		_, first = ends[0].Wait(time.Millisecond)
	}
	if want := "process 1 (127.0.0.1:"; !strings.Contains(first.Error(), want) || !strings.Contains(first.Error(), "is lost") {
		t.Errorf("%q lacks %q", first, want)
	}
	_, poll := ends[0].Poll()
	_, wait := ends[0].Wait(time.Hour)
	for name, err := range map[string]error{"put": ends[0].Put(2, 0, 0, 0, 1, nil), "signal": ends[0].Signal(2, 0, 0, 1),
		"poll": poll, "wait": wait} {
		if err != first {
			t.Errorf("%s: %v, want %v", name, err, first)
		}
	}
}

// TestClosing is no loss: peers that have nothing to say go on.
func TestClosing(t *testing.T) {
	ends := connected(t, 3, 2)
	if err := ends[1].Close(); err != nil {
		t.Fatal(err)
	}
	signal := new(atomic.Int64)
	if err := ends[2].Register(0, 0, nil, []*atomic.Int64{signal}); err != nil {
		t.Fatal(err)
	}
	if err := ends[0].Signal(2, 0, 0, 3); err != nil {
		t.Fatal(err)
	}
	until(t, "a signal", func() bool { return signal.Load() == 3 && ends[0].peers[1].sockets[1].gone.Load() }, ends[0], ends[2])
	if err := ends[0].Signal(1, 0, 0, 1); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a signal to who has closed: %v", err)
	}
}

// TestStrangers are turned away while the run goes on.
func TestStrangers(t *testing.T) {
	r := newRoom(2)
	var wg sync.WaitGroup
	ends, errs := make([]*TCP, 2), make([]error, 2)
	wg.Go(func() { ends[0], errs[0] = Connect(t.Context(), Options{Size: 2, Host: "127.0.0.1"}, r.exchange(0)) })
	var address string
	secret := func(ctx context.Context, mine []byte) ([][]byte, error) {
		all, err := r.exchange(1)(ctx, mine)
		if err != nil {
			return nil, err
		}
		_, after, _ := strings.Cut(string(all[0]), `"Address":"`)
		address, _, _ = strings.Cut(after, `"`)
		for _, text := range []string{"", "GET / HTTP/1.1\r\nHost: railyard\r\n\r\n", strings.Repeat("x", 200)} {
			c, err := stdnet.Dial("tcp", address)
			if err != nil {
				return nil, err
			}
			io.WriteString(c, text)
			defer c.Close()
		}
		for range door.MostWaiting + 10 { // who says nothing gives way to who comes later
			c, err := stdnet.Dial("tcp", address)
			if err != nil {
				return nil, err
			}
			defer c.Close()
		}
		c, err := stdnet.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		if err := call(c, &Token{1}, 1, 0); !errors.Is(err, errStranger) {
			t.Errorf("another token: %v", err)
		}
		return all, nil
	}
	wg.Go(func() {
		ends[1], errs[1] = Connect(t.Context(), Options{Process: 1, Size: 2, Host: "127.0.0.1"}, secret)
	})
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, x := range ends {
		wg.Go(func() { x.Close() })
	}
	wg.Wait()
}

// TestHandshake: each side refuses who does not know the token, and neither reads too much.
func TestHandshake(t *testing.T) {
	for _, c := range []struct {
		name           string
		caller, called Token
		ok             bool
	}{{"same", Token{1}, Token{1}, true}, {"another", Token{1}, Token{2}, false}} {
		a, b := stdnet.Pipe()
		answered := make(chan error, 1)
		go func() {
			process, socket, err := answerCall(b, &c.called)
			if err == nil && (process != 5 || socket != 2) {
				err = fmt.Errorf("process %d, socket %d", process, socket)
			}
			answered <- err
			io.WriteString(b, "data")
			b.Close()
		}()
		err := call(a, &c.caller, 5, 2)
		rest := make([]byte, 4)
		if c.ok {
			io.ReadFull(a, rest)
		}
		a.Close()
		if other := <-answered; (err == nil) != c.ok || (other == nil) != c.ok {
			t.Errorf("%s: %v and %v", c.name, err, other)
		}
		if c.ok && string(rest) != "data" {
			t.Errorf("what follows the handshake: %q", rest)
		}
	}
}

// TestWhoNeverCame names them.
func TestWhoNeverCame(t *testing.T) {
	text := []byte(`{"Address":"127.0.0.1:1","Sockets":1}`)
	answer := func(_ context.Context, mine []byte) ([][]byte, error) { return [][]byte{mine, text, text}, nil }
	o := Options{Process: 0, Size: 3, Host: "127.0.0.1", Timeout: 20 * time.Millisecond}
	if _, err := Connect(t.Context(), o, answer); err == nil ||
		!strings.Contains(err.Error(), "no connection with process [1 2] after 20ms") {
		t.Errorf("%v", err)
	}
	answer = func(_ context.Context, mine []byte) ([][]byte, error) { return [][]byte{text, text, mine}, nil }
	o = Options{Process: 2, Size: 3, Host: "127.0.0.1"}
	if _, err := Connect(t.Context(), o, answer); err == nil ||
		!strings.Contains(err.Error(), "process 0 (127.0.0.1:1) cannot be reached") {
		t.Errorf("%v", err)
	}
	o.Sockets = 4
	if _, err := Connect(t.Context(), o, answer); err == nil ||
		!strings.Contains(err.Error(), "process 0 wants 1 sockets, process 2 wants 4") {
		t.Errorf("%v", err)
	}
}
