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
	for _, x := range connected(t, 2, 2) {
		for _, s := range x.sockets {
			got, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
			info, other := unix.GetsockoptTCPInfo(s.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err != nil || other != nil {
				t.Fatal(err, other)
			}
			if want := sendBuffer(time.Duration(info.Min_rtt) * time.Microsecond); want <= mostBuffer && (got < 2*leastBuffer || got > 2*mostBuffer) {
				t.Errorf("a socket over %d µs takes %d bytes", info.Min_rtt, got)
			}
		}
	}
}
