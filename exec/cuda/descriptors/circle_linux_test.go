package descriptors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "railyard/internal/long" // accepts -long
)

// met are processes that have met one another, all of this test's.
func met(t *testing.T, size int) []*Circle {
	t.Helper()
	listeners, cards := make([]*Listener, size), make([]Card, size)
	for i := range listeners {
		l, err := Listen()
		if err != nil {
			t.Fatal(err)
		}
		listeners[i], cards[i] = l, l.Card
	}
	circles := make([]*Circle, size)
	var wg sync.WaitGroup
	for i, l := range listeners {
		wg.Go(func() {
			var err error
			if circles[i], err = l.Meet(t.Context(), i, cards); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, card := range cards {
		if _, err := os.Stat(card.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", card.Path, err)
		}
	}
	return circles
}

// TestExchange: everybody's memory is everybody's: what one writes by its own descriptor, all read by theirs.
func TestExchange(t *testing.T) {
	const size, pages = 4, 2
	circles := met(t, size)
	var wg sync.WaitGroup
	for i, c := range circles {
		wg.Go(func() {
			defer c.Close()
			var fds []int
			for range pages {
				fd, err := NewMemory(4096)
				if err != nil {
					t.Error(err)
					return
				}
				fds = append(fds, fd)
			}
			messages, copies, err := c.Exchange(t.Context(), fmt.Appendf(nil, "I am %d", i), fds)
			if err != nil {
				t.Error(err)
				return
			}
			for k, fd := range fds {
				if _, err := syscall.Pwrite(fd, fmt.Appendf(nil, "%d of %d", k, i), 0); err != nil {
					t.Error(err)
				}
			}
			if _, _, err = c.Exchange(t.Context(), []byte("written"), nil); err != nil {
				t.Error(err)
			}
			for peer := range size {
				if peer == i {
					continue
				}
				if want := fmt.Sprintf("I am %d", peer); string(messages[peer]) != want || len(copies[peer]) != pages {
					t.Errorf("process %d says %q with %d descriptors", peer, messages[peer], len(copies[peer]))
					continue
				}
				for k, fd := range copies[peer] {
					text := make([]byte, 6)
					if _, err := syscall.Pread(fd, text, 0); err != nil || string(text) != fmt.Sprintf("%d of %d", k, peer) {
						t.Errorf("process %d reads %q of process %d (%v)", i, text, peer, err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestStrangers: who does not know the token is not let in, and those who come later are.
func TestStrangers(t *testing.T) {
	a, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	wrong := a.Card
	wrong.Token = "guessed"
	stranger, err := call(t.Context(), 1, wrong)
	if err != nil {
		t.Fatal(err)
	}
	cards := []Card{a.Card, b.Card}
	go func() {
		if c, err := b.Meet(t.Context(), 1, cards); err == nil {
			_, _, _ = c.Exchange(t.Context(), []byte("b"), nil)
		}
	}()
	c, err := a.Meet(t.Context(), 0, cards)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := c.Exchange(t.Context(), []byte("a"), nil); err != nil || string(got[1]) != "b" {
		t.Errorf("%q, %v", got, err)
	}
	if n, err := stranger.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the stranger reads %d bytes (%v)", n, err)
	}
}

// TestEnds: who waits hears that another is gone, or why the run ends.
func TestEnds(t *testing.T) {
	circles := met(t, 2)
	circles[1].Close()
	if _, _, err := circles[0].Exchange(t.Context(), []byte("hello"), nil); err == nil {
		t.Error("exchanged with who is gone")
	}
	circles = met(t, 2)
	defer circles[1].Close() // it is there, but says nothing; collected as garbage it would be gone
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("lost rank 3")
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	if _, _, err := circles[0].Exchange(ctx, []byte("hello"), nil); !errors.Is(err, why) {
		t.Error(err)
	}
}
