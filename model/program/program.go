// Package program writes schedules as straight-line programs over equal chunks, which
// is what formats of other runtimes hold, and makes schedules of such programs.
//
// A schedule's channels have shares, blocks and sub-chunks of their own. Here every
// block is cut into Unit equal chunks, so many that every piece of every channel is a
// whole number of them, and a place is a buffer with a chunk's index. Pipeline slices
// are left out: they repeat the same program on smaller pieces.
package program

import (
	"cmp"
	"fmt"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Place is a chunk of a rank's memory.
type Place struct {
	Buf schedule.Buffer
	At  int
}

// plus is the place n chunks on.
func (p Place) plus(n int) Place { return Place{p.Buf, p.At + n} }

// compare puts places in the order of their buffers and numbers.
func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Buf, q.Buf), cmp.Compare(p.At, q.At))
}

// Step is an operation on Count neighbouring chunks. Each is as the schedule's: a Send
// reads Src, a Recv writes Dst, a RecvReduce makes Dst of Src and what comes in, a
// Copy makes Dst of Src, a Reduce makes Dst of Srcs.
type Step struct {
	Kind    schedule.OpKind
	Channel int // of the schedule
	Phase   int // of the channel
	Part    int // number of the first chunk within its block
	Peer    int // Send, Recv, RecvReduce; else −1
	Seq     int // the message's number among those of its channel between the two ranks
	Src     Place
	Dst     Place
	Srcs    []Place
	Count   int
}

// Reads are the places where the step's operands begin.
func (s *Step) Reads() []Place {
	switch s.Kind {
	case schedule.Recv:
		return nil
	case schedule.Reduce:
		return s.Srcs
	}
	return []Place{s.Src}
}

// Writes reports whether the step writes Dst.
func (s *Step) Writes() bool { return s.Kind != schedule.Send }

// Program is what every rank does, one step after the other; steps of different
// channels touch different chunks.
type Program struct {
	Spec     collective.Spec
	Unit     int // chunks of a block
	Channels int
	InPlace  bool  // input and output are the same memory
	Input    []int // chunks of each rank's buffers
	Output   []int
	Scratch  []int
	Ranks    [][]Step
}

// maxChunks bounds the chunks of a whole buffer.
const maxChunks = 1 << 16

// Build makes the program of a valid schedule; no step has more than maxCount chunks.
func Build(s *schedule.Schedule, maxCount int) (*Program, error) {
	if k := s.Spec.Kind; k == collective.Barrier || k == collective.AllToAllV {
		return nil, fmt.Errorf("%v moves no equal chunks and has no such program", k)
	}
	if err := s.Plain(); err != nil {
		return nil, err
	}
	b, err := newBuilder(s, maxCount)
	if err != nil {
		return nil, err
	}
	for c := range s.Channels {
		b.channel(c)
	}
	b.packScratch()
	for r := range b.p.Ranks {
		b.p.Input[r] = b.size(r, s.Spec.Holds)
		b.p.Output[r] = b.size(r, s.Spec.Wants)
	}
	return b.p, nil
}

// size is the chunks of a buffer that has the blocks for which has holds.
func (b *builder) size(rank int, has func(rank, block int) bool) int {
	n := 0
	for block := range b.s.Spec.Blocks() {
		if has(rank, block) {
			n += b.p.Unit
		}
	}
	return n
}
