//go:build cgo

package probe

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"railyard/internal/long"
)

// TestEcho: every flag comes back, in order, until whoever raises them is done, or is lost.
func TestEcho(t *testing.T) {
	var there, back, ended uint32
	lost := errors.New("lost")
	came := make(chan error)
	go func() {
		came <- echo(&there, &back, func() (bool, error) {
			return atomic.LoadUint32(&ended) == 1, map[bool]error{true: lost}[atomic.LoadUint32(&ended) == 2]
		})
	}()
	for n := uint32(1); n <= uint32(long.Or(100, 1000)); n++ { // 10 ms each on one processor
		atomic.StoreUint32(&there, n)
		for atomic.LoadUint32(&back) < n {
			runtime.Gosched()
		}
		if got := atomic.LoadUint32(&back); got != n {
			t.Fatalf("flag %d came back as %d", n, got)
		}
	}
	atomic.StoreUint32(&ended, 1)
	if err := <-came; err != nil {
		t.Error(err)
	}
	if err := echo(new(uint32), new(uint32), func() (bool, error) { return false, lost }); err != lost {
		t.Error(err)
	}
}
