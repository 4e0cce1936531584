//go:build cgo

package cuda

import (
	"encoding/binary"
	"time"

	"railyard/model/block"
)

// The kernels' parameter (kernel/src/plan.cuh: Params, and the table behind it in Special).
const (
	buffers     = 6
	controlAt   = 0
	planAt      = 8
	abortPtrAt  = 16
	deadlineAt  = 32
	halfAt      = 40
	wordsAt     = 48
	laneBytesAt = wordsAt + 16
	turnAt      = wordsAt + 20
	jitterAt    = wordsAt + 24
	advanceAt   = wordsAt + 32
	headBytes   = wordsAt + 40
)

// parameter is one launch's.
type parameter []byte

// newParameter has room for so many bytes behind the head.
func newParameter(n *Node, rank int, deadline time.Duration, more int) parameter {
	p := make(parameter, headBytes+more)
	p.long(abortPtrAt, uint64(n.set.Host.At))
	p.long(abortPtrAt+8, uint64(n.set.Host.At)+reportAt)
	p.long(deadlineAt, uint64(deadline.Nanoseconds()))
	p.word(wordsAt, uint32(rank))
	p.word(wordsAt+4, uint32(len(n.gpus)))
	p.word(advanceAt, 1)
	return p
}

func (p parameter) word(at int, v uint32) { binary.LittleEndian.PutUint32(p[at:], v) }

func (p parameter) long(at int, v uint64) { binary.LittleEndian.PutUint64(p[at:], v) }

// turn says which launch this is, modulo the words that count launches.
func (p parameter) turn(launch int) { p.word(turnAt, uint32(launch%block.EpochWords)) }

// more is what follows the head.
func (p parameter) more() []byte { return p[headBytes:] }

// shape says how many lanes and blocks a lane there are.
func (p parameter) shape(lanes, instances int) {
	p.word(wordsAt+8, uint32(lanes))
	p.word(wordsAt+12, uint32(instances))
}
