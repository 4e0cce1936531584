//go:build cgo

package cuda

import (
	"encoding/binary"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
)

// The kernels' parameter (kernel/src/plan.cuh, Params).
const (
	buffers     = 6
	inlineBytes = 640
	planAt      = 8 * buffers * block.MaxRanks
	abortPtrAt  = planAt + 8
	deadlineAt  = planAt + 24
	halfAt      = planAt + 32
	wordsAt     = planAt + 40
	sideAt      = wordsAt + 16
	jitterAt    = wordsAt + 20
	advanceAt   = wordsAt + 28
	dataAt      = wordsAt + 32
	paramBytes  = dataAt + inlineBytes
)

// parameter is one launch's.
type parameter []byte

func newParameter(n *Node, rank int, deadline time.Duration) parameter {
	p := make(parameter, paramBytes) // an Inline; kernels of stored plans take the head only
	le := binary.LittleEndian
	le.PutUint64(p[abortPtrAt:], uint64(n.host.At)+abortAt)
	le.PutUint64(p[abortPtrAt+8:], uint64(n.host.At)+reportAt)
	le.PutUint64(p[deadlineAt:], uint64(deadline.Nanoseconds()))
	le.PutUint32(p[wordsAt:], uint32(rank))
	le.PutUint32(p[wordsAt+4:], uint32(len(n.gpus)))
	le.PutUint32(p[advanceAt:], 1)
	return p
}

func (p parameter) base(rank int, buffer int, at driver.Ptr) {
	binary.LittleEndian.PutUint64(p[8*(rank*buffers+buffer):], uint64(at))
}

func (p parameter) word(at int, v uint32) { binary.LittleEndian.PutUint32(p[at:], v) }

func (p parameter) long(at int, v uint64) { binary.LittleEndian.PutUint64(p[at:], v) }

// shape says how many lanes and blocks a lane there are.
func (p parameter) shape(lanes, instances int) {
	p.word(wordsAt+8, uint32(lanes))
	p.word(wordsAt+12, uint32(instances))
}
