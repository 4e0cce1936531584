//go:build cgo

package probe

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestEcho: every flag comes back once, in order.
func TestEcho(t *testing.T) {
	var there, back uint32
	const times = 1000
	came := make(chan bool)
	go func() { came <- echo(&there, &back, times) }()
	for n := uint32(1); n <= times; n++ {
		atomic.StoreUint32(&there, n)
		for atomic.LoadUint32(&back) < n {
			runtime.Gosched()
		}
		if got := atomic.LoadUint32(&back); got != n {
			t.Fatalf("flag %d came back as %d", n, got)
		}
	}
	if !<-came {
		t.Error("flags were raised and did not come")
	}
}
