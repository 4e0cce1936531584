package net

import (
	"sync/atomic"
	"time"
)

// Transport puts bytes into the memory of peers, which are numbered as the processes of the run.
// Several goroutines may use it at once. After the first error, of a peer that is lost
// or breaks the rules, all calls return that error.
type Transport interface {
	// Register lets a peer write into memory and raise signals by the number of a window,
	// which both sides agree on. The peer must hear of it by other means before it puts.
	Register(peer int, window uint32, memory []byte, signals []*atomic.Int64) error
	// Withdraw ends what Register allowed. Nothing may be under way to the window.
	Withdraw(peer int, window uint32)
	// Put writes pieces, one behind the other, into a peer's window from an offset in bytes on; when all of
	// them are there it adds n to a signal. What is put to a peer, and its signals, come to
	// pass in order. Put does not wait: pieces must not change until Backlog is 0, or the peer
	// says that it has them.
	Put(peer int, window uint32, offset int64, signal int, n int64, pieces [][]byte) error
	// Signal adds n to a peer's signal when all has arrived that was put before.
	Signal(peer int, window uint32, signal int, n int64) error
	// Hold lets what is put to a peer from now on wait for Release, which sends it together. One goroutine at a time puts meanwhile.
	Hold(peer int)
	Release(peer int) error
	// Poll does what can be done without waiting: takes what has arrived, sends on what was put. Moved: there was something.
	Poll() (moved bool, err error)
	// Wait is Poll that first waits until something has arrived, at most so long.
	Wait(most time.Duration) (moved bool, err error)
	// Backlog is how many bytes were put that the network has not taken yet.
	Backlog() int64
	// Close tells the peers and ends all connections. A peer that still has a window for this process
	// takes it for lost.
	Close() error
}
