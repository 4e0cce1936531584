package cluster

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"railyard/internal/door"
	"railyard/internal/long"
)

// end lets all end and checks that they do, well.
func (r *run) end(all []*process) {
	r.t.Helper()
	for _, p := range all {
		p.stdin.Close()
	}
	for i, p := range all {
		if code := p.wait(); code != 0 || p.errors.Len() > 0 {
			r.t.Errorf("process %d: exit code %d, %q", i, code, p.errors.String())
		}
	}
}

func TestRanksWorkTogether(t *testing.T) {
	for _, size := range []int{1, 2, 4} {
		r := newRun(t, size)
		var ranks []int
		for rank := size - 1; rank >= 0; rank-- { // rank 0 last: the others dial until it is there
			ranks = append(ranks, rank)
		}
		all := r.start(ranks...)
		r.ready(all)
		r.end(all)
	}
}

func TestLostRank(t *testing.T) {
	t.Parallel() // it waits, mostly
	for _, rank := range []int{0, 2} {
		t.Run(fmt.Sprintf("killed %d", rank), func(t *testing.T) {
			r := newRun(t, 4)
			all := r.start(0, 1, 2, 3)
			r.ready(all)
			all[rank].signal(t, syscall.SIGKILL)
			r.allSay(slices.Delete(slices.Clone(all), rank, rank+1), fmt.Sprintf("lost rank %d on n%[1]d: ", rank))
		})
		t.Run(fmt.Sprintf("stopped %d", rank), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 4, "RAILYARD_TEST_DEAD=6s")
			all := r.start(0, 1, 2, 3)
			r.ready(all)
			all[rank].signal(t, syscall.SIGSTOP)
			r.allSay(slices.Delete(slices.Clone(all), rank, rank+1), fmt.Sprintf("lost rank %d on n%[1]d: no message for 6s", rank))
			all[rank].signal(t, syscall.SIGCONT)
			r.allSay(all[rank:rank+1], "lost rank")
		})
	}
}

func TestInterrupted(t *testing.T) {
	for _, rank := range []int{0, 3} {
		r := newRun(t, 4)
		all := r.start(0, 1, 2, 3)
		r.ready(all)
		all[rank].signal(t, syscall.SIGINT)
		r.allSay(all, fmt.Sprintf("rank %d on n%[1]d: interrupt", rank))
	}
}

// TestInterruptedBefore: Ctrl-C while some are not there yet; who comes later hears of it.
func TestInterruptedBefore(t *testing.T) {
	r := newRun(t, 3)
	all := r.start(0)
	waitListening(t, r.root)
	all[0].signal(t, syscall.SIGINT)
	all = append(all, r.start(1, 2)...)
	r.allSay(all, "rank 0 on n0: interrupt")
}

func waitListening(t *testing.T, root string) {
	t.Helper()
	for range 1000 {
		conn, err := net.Dial("tcp", root)
		if err == nil {
			conn.Close()
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nobody listens at %s", root)
}

// TestDeclined: a rank that cannot take part says why, to those that are there and to those that come later.
func TestDeclined(t *testing.T) {
	for _, rank := range []int{0, 2} {
		r := newRun(t, 4)
		all := []*process{r.startWith(rank, "RAILYARD_TEST_FAILED=no such file")}
		if rank == 0 {
			waitListening(t, r.root)
		}
		for other := range 4 {
			if other != rank {
				all = append(all, r.start(other)...)
			}
		}
		r.allSay(all, fmt.Sprintf("rank %d on n%[1]d: no such file", rank))
	}
}

func TestMissingRank(t *testing.T) {
	t.Parallel() // it waits, mostly
	r := newRun(t, 4, "RAILYARD_TEST_WAIT=4s")
	r.allSay(r.start(0, 1, 2), "did not join: rank 3 (waited 4s")
}

// TestMissingRoot: each of the others says that rank 0 is not there, for itself: nobody else could.
func TestMissingRoot(t *testing.T) {
	t.Parallel() // it waits, mostly
	r := newRun(t, 3, "RAILYARD_TEST_WAIT=1s")
	for i, p := range r.start(1, 2) {
		r.allSay([]*process{p}, fmt.Sprintf("rank %d on n%[1]d: rank 0 does not answer at %s: connection refused (waited 1s)", i+1, r.root))
	}
}

// TestUnknownRoot: who cannot look rank 0's node up hears what to set.
func TestUnknownRoot(t *testing.T) {
	err := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "n1"}}
	if got := why(err, 0); got != "lookup n1: no such host: set RAILYARD_ROOT=HOST:PORT to an address of rank 0's node" {
		t.Error(got)
	}
}

func TestDoubledRank(t *testing.T) {
	r := newRun(t, 4)
	r.allSay(r.start(0, 1, 1, 2), "two processes say that they are rank 1: n1 at 127.0.0.1:", " and n1 at 127.0.0.1:")
}

// TestDoubledLater: a run that has begun goes on, and whoever comes too many is told.
func TestDoubledLater(t *testing.T) {
	r := newRun(t, 2)
	all := r.start(0, 1)
	r.ready(all)
	r.allSay(r.start(1), "rank 1 on n1: the run has begun with another process as rank 1")
	r.end(all)
}

func TestDisagreement(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"RAILYARD_TEST_VERSION=2", "rank 2 on n2 does not agree with rank 0 on n0: version 2, not 1"},
		{"RAILYARD_TEST_PLAN=q", "rank 2 on n2 does not agree with rank 0 on n0: plan q, not p"},
		{"RAILYARD_TEST_SIZES=2K", "rank 2 on n2 does not agree with rank 0 on n0: sizes 2K, not 1K"},
		{"RAILYARD_SIZE=5", "rank 2 on n2 does not agree with rank 0 on n0: number of ranks 5, not 4"},
	} {
		r := newRun(t, 4)
		all := r.start(0)
		all = append(all, r.startWith(2, c.env))
		waitListening(t, r.root)
		all = append(all, r.start(1, 3)...) // these come late, and hear it nevertheless
		r.allSay(all, c.want)
	}
}

func TestOtherSecret(t *testing.T) {
	t.Parallel() // it waits, mostly
	r := newRun(t, 3, "RAILYARD_TEST_WAIT=5s")
	all := r.start(0, 1)
	other := r.startWith(2, "RAILYARD_SECRET_FILE="+secretFile(t, "b"))
	none := r.startWith(2, "RAILYARD_SECRET_FILE=")
	r.allSay([]*process{other}, "rank 2 on n2: rank 0 at "+r.root+" has another secret")
	r.allSay([]*process{none}, "rank 2 on n2: rank 0 at "+r.root+" has another secret")
	r.allSay(all, "did not join: rank 2 (waited 5s; connections rejected: ", ": another secret)")
}

// TestStrangers: who has not the secret is turned away, however many and however slow, while a run forms and goes on.
func TestStrangers(t *testing.T) {
	crowd := long.Or(3_000, 100_000)
	r := newRun(t, 3)
	all := r.start(0, 1)
	waitListening(t, r.root)
	slow := silent(t, r.root, door.MostWaiting+50)
	dripped := drip(t, r.root)
	if answer, err := (&http.Client{Timeout: 30 * time.Second}).Get("http://" + r.root); err == nil {
		answer.Body.Close()
		t.Errorf("an HTTP client was answered: %s", answer.Status)
	}
	rush(t, r.root, crowd)
	all = append(all, r.start(2)...)
	r.ready(all)
	rush(t, r.root, crowd)
	if sent := <-dripped; sent == 0 || sent == recordSize {
		t.Errorf("who says a byte now and then was turned away after %d bytes", sent)
	}
	r.end(all)
	for _, c := range slow {
		c.Close()
	}
}

// silent are connections that say nothing.
func silent(t *testing.T, root string, n int) (out []net.Conn) {
	t.Helper()
	for range n {
		c, err := net.DialTimeout("tcp", root, 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// recordSize is what the header of a TLS record promises, more than a drip says in the time that it has.
const recordSize = 1 << 14

// drip begins as TLS does, then says a byte now and then, so that no read waits for long, and tells how many until it was turned away.
func drip(t *testing.T, root string) (sent <-chan int) {
	t.Helper()
	c, err := net.DialTimeout("tcp", root, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	out := make(chan int, 1)
	go func() {
		defer c.Close()
		_, err := c.Write([]byte{22, 3, 1, recordSize >> 8, recordSize & 0xff})
		n := 0
		for ; err == nil && n < recordSize; n++ {
			_, err = c.Write([]byte{1})
			time.Sleep(20 * time.Millisecond)
		}
		out <- n
	}()
	return out
}

// rush connects so many times, eight at once, says something that is no TLS, and hangs up without a farewell.
func rush(t *testing.T, root string, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range n / 8 {
				c, err := net.DialTimeout("tcp", root, 30*time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = c.Write([]byte(strings.Repeat("x", 64)))
				_ = c.(*net.TCPConn).SetLinger(0) // ports are few
				c.Close()
			}
		}()
	}
	all.Wait()
}
