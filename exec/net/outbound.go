package net

import "sync"

// outbound is what waits to be written to a socket: headers and the bytes behind them.
type outbound struct {
	mu      sync.Mutex
	queue   [][]byte // never empty slices
	first   int      // of the queue that is not written
	bytes   int64    // from there on
	headers *[headerBytes]byte
	asked   bool // to be told when the socket takes more
}

// add queues a frame with its bytes.
func (o *outbound) add(f *frame, pieces [][]byte) {
	header := o.headers
	if header == nil || o.first < len(o.queue) {
		header = new([headerBytes]byte) // those that wait keep theirs
	}
	o.headers = header
	f.encode(header)
	o.queue = append(o.queue, header[:])
	o.bytes += headerBytes
	for _, p := range pieces {
		if len(p) > 0 {
			o.queue = append(o.queue, p)
			o.bytes += int64(len(p))
		}
	}
}

// maxPieces is how many pieces a system takes in one write.
const maxPieces = 1024

// pending is what is written next.
func (o *outbound) pending() [][]byte {
	return o.queue[o.first:min(len(o.queue), o.first+maxPieces)]
}

// written takes n bytes off the queue.
func (o *outbound) written(n int) {
	o.bytes -= int64(n)
	for n > 0 {
		head := &o.queue[o.first]
		if n < len(*head) {
			*head = (*head)[n:]
			return
		}
		n -= len(*head)
		*head = nil // its memory may go
		o.first++
	}
	if o.first == len(o.queue) {
		o.queue, o.first = o.queue[:0], 0
	}
}
