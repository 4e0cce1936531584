//go:build cgo

package cuda

import (
	"time"

	"railyard/exec/cuda/driver"
)

// Link carries messages between ranks of different nodes. It has Streams sets of connections, and what is posted to
// one is carried in order.
type Link interface {
	// Post puts the messages of a group of one of this process's ranks, by number among them, on a stream. It is called
	// on the rank's thread.
	Post(rank, set int, messages []Message, on driver.Stream) error
	// Abort ends what is under way, within a time; what does not end by then is left behind.
	Abort(within time.Duration)
	Streams() int
}

// Message is one end of a message.
type Message struct {
	Send  bool // else it is received
	Peer  int  // as the schedule numbers ranks
	At    driver.Ptr
	Bytes int64
}
