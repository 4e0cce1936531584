package net

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSendBuffer: a socket takes what can be under way in a round trip, and where that is more than everybody may ask for, as much as the
// system finds right.
func TestSendBuffer(t *testing.T) {
	for micros, want := range map[time.Duration]int{0: leastBuffer, 30: leastBuffer, 60: 180_000, 1000: 3_000_000} {
		if got := sendBuffer(micros * time.Microsecond); got != want {
			t.Errorf("%d µs: %d bytes, want %d", micros, got, want)
		}
	}
	bounded := 0
	for _, x := range connected(t, 2, 8) {
		for _, s := range x.sockets {
			got, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
			if err != nil {
				t.Fatal(err)
			}
			if got >= 2*leastBuffer && got <= 2*mostBuffer {
				bounded++
			}
		}
	}
	if bounded == 0 { // a busy machine may keep some from a round trip of so little
		t.Error("no socket over loopback has a buffer of its own")
	}
}
