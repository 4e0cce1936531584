// Package block compiles schedules to block programs: what a GPU's thread blocks run,
// and what a few CPU threads can run in their place.
//
// A lane is the program of one channel, or of one phase of it where the schedule is
// sliced, and Instances blocks run it side by side, each on its own share of every
// chunk. A block's share is a function of the place within the chunk alone, so the same
// instance on all ranks handles the same elements and flags between them are enough.
//
// Memory is one-sided: any rank of a node can read and write every other's. A message travels
//
//   - pulled: the sender raises a flag, the receiver reads the sender's memory;
//   - pushed: the sender writes the receiver's output, then raises a flag;
//   - in packets: the sender writes 8 bytes of data with their flag in one 16-byte store
//     to a buffer of the receiver, which polls the packet itself;
//   - in lines: the same with 120 bytes of data in lines of 128;
//   - in words: the same with no flags, where each word shows that it has arrived by no
//     longer being the one that the receiver left there; results may be pushed instead.
//
// Flags lie in the receiver's memory and only grow: launch number << 20 | step. Nothing
// is ever reset. Two halves of the packet buffer take turns from launch to launch.
package block

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Limits of the kernels (exec/cuda/kernel/plan.cuh).
const (
	MaxRanks = 8  // of a node
	maxPeers = 32 // ranks of a program: sets of them are words
	maxRefs  = 24
	maxPairs = 4 // copies in one operation
	stepBits = 20
)

// Options say what to compile for.
type Options struct {
	Count     int64 // elements of the whole buffer, as nccl-tests counts it
	Size      int   // bytes of an element
	Op        collective.ReduceOp
	InPlace   bool
	Instances int // blocks a lane
	Mechanism Mechanism
}

// Kind is what an operation does.
type Kind uint8

// The operations.
const (
	Multi      Kind = iota // reduce the sources, write the result to every destination
	Signal                 // raise the flag of each peer
	Wait                   // until each peer has raised its flag
	LLPut                  // send a source in packets to every packet destination
	LLReduce               // combine sources and packets in rank order; write, and forward in packets
	LinePut                // LLPut in lines
	LineReduce             // LLReduce in lines
	WordPut                // LLPut in words
	WordReduce             // LLReduce in words
)

// kindNames are the kernels' (exec/cuda/kernel/src).
var kindNames = [...]string{"multi", "signal", "wait", "ll_put", "ll_reduce", "line_put", "line_reduce", "word_put", "word_reduce"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("operation %d", uint8(k))
}

// Flags of an operation.
const (
	Relaxed uint8 = 1 << iota // signal, wait: only says that the kernel has begun
	Scale                     // the result is complete: an average is divided here
	Barrier                   // the block's threads wait for one another first
	Earlier                   // wait: for the launch PerSlice before this one
	Pairs                     // source k goes to destination k: multi, up to maxPairs; packets, packet source or target k
	// where there is plenty, some threads put while the others take: of lines half of the warps, of words a quarter of the threads
	Halves
	Once // of an interpreter's forms: one round of a block's threads does a slice
)

// Lines are the kinds of flags between two blocks.
const (
	Ready uint8 = iota // a message may be read, or has arrived
	Taken              // what was read is free again, or memory may be written
)

// The places of the address table; the first three are the schedule's buffers. The last two, in host memory, are what kernels and
// the proxies of their nodes share (proxied.go); constants do not name them.
const (
	PacketBuffer  = 3
	ControlBuffer = 4
	BellBuffer    = 5
	SlotBuffer    = 6
)

// Ref is a place in the memory of a rank of the node.
type Ref struct {
	Rank   int
	Buffer uint8
	Offset int64 // bytes, in slice 0, of instance 0
}

// Op is an operation of a lane.
type Op struct {
	Kind                        Kind
	Flags                       uint8
	Sources, PacketSources      []Ref
	Destinations, PacketTargets []Ref
	Own                         int     // LLReduce: place of the local source among the ranks
	Line                        uint8   // Signal, Wait
	Peers                       uint32  // Signal, Wait: set of ranks
	Lane                        int     // Signal, Wait: whose line
	Value, PerSlice             int     // Signal, Wait: step; PerSlice of Earlier is how many launches earlier
	Limit                       int64   // bytes from the references to the end of the block's part
	Limits                      []int64 // packets in pairs: of each pair; Limit is the longest
}

// Lane is what Instances blocks run: Before once, Body for each slice, After once.
type Lane struct {
	Before, Body, After []Op
	Slices              int
	Unit, Stride        int64 // bytes of an instance's piece, and from slice to slice
}

// Program is the compiled schedule.
type Program struct {
	Ranks, Instances int
	Lanes            [][]Lane // by rank
	Scratch          int64    // bytes by rank
	PacketHalf       int64    // bytes of one half of the packet buffer, of which launches take turns
	Mechanism        Mechanism
	// Of ranks in several nodes:
	Node      []int    // by rank; nil where all are in one
	Bells     [][]Bell // by rank: what its proxy carries
	SlotBytes int64    // of a rank's slots of a launch, whole lines
	SlotTurns int      // launches that have slots of their own, by turns: a power of two
}

// Blocks are the blocks a rank needs at once.
func (p *Program) Blocks() int { return len(p.Lanes[0]) * p.Instances }

// Operations are the most that a rank has in all its lanes, those of every slice once.
func (p *Program) Operations() (most int) {
	for _, lanes := range p.Lanes {
		n := 0
		for i := range lanes {
			n += len(lanes[i].Before) + len(lanes[i].Body) + len(lanes[i].After)
		}
		most = max(most, n)
	}
	return most
}

// ControlBytes is the size of a rank's flags.
func (p *Program) ControlBytes() int64 { return controlBytes(p.Blocks()) }

// controlBytes is that of lanes with so many blocks in all.
func controlBytes(blocks int) int64 {
	return FlagLine * (EpochWords + int64(blocks)*maxPeers*flagKinds)
}

// EpochWords count launches, by turns, ahead of the flags; each has a line, as flags do.
const (
	EpochWords = 4
	FlagLine   = 128
)

// packetTurns are the halves of a packet buffer.
const packetTurns = 2

// Compile turns a valid schedule into block programs. The error says what the kernels
// cannot do.
func Compile(s *schedule.Schedule, o Options) (*Program, error) {
	s, err := ready(s, o, s.Spec.Ranks)
	if err != nil {
		return nil, err
	}
	return newCompiler(s, o).compile()
}

// compile makes one program for all ranks.
func (c *compiler) compile() (*Program, error) {
	p := c.program(c.s.Spec.Ranks)
	for ch := range c.s.Channels {
		all, err := c.marked(c.strands(ch))
		if err == nil {
			err = c.lanes(p, 0, all)
		}
		if err != nil {
			return nil, err
		}
	}
	p.PacketHalf, p.SlotBytes = slices.Max(c.packetBytes), slices.Max(c.slotBytes)
	p.takeTurns()
	p.Scratch = p.scratchUsed()
	return p, p.check()
}

// ready is a schedule for ranks of which so many reach one another's memory, as the compiler takes it.
func ready(s *schedule.Schedule, o Options, together int) (*schedule.Schedule, error) {
	if err := s.Plain(); err != nil {
		return nil, err
	}
	switch {
	case together > MaxRanks:
		return nil, fmt.Errorf("%d ranks: the kernels address at most %d GPUs", together, MaxRanks)
	case o.Instances < 1:
		return nil, fmt.Errorf("%d blocks a lane: must be at least 1", o.Instances)
	case o.Mechanism == Copies:
		return nil, fmt.Errorf("%v are no block program: they are compiled for themselves (CompileCopies)", o.Mechanism)
	case o.Mechanism.InWords() && !(s.Spec.Kind.Reduces() && dependsOnAll(s.Spec.Kind)):
		return nil, fmt.Errorf("%v in words: they carry all_reduce and reduce_scatter of floating-point numbers only", s.Spec.Kind)
	}
	return inPlace(s, o)
}

// BlocksAligned reports whether all blocks of a schedule's buffers begin at multiples of 16 bytes: then all places of its program do.
func BlocksAligned(s *schedule.Schedule, o Options) bool {
	l := schedule.NewLayout(s, o.Count, 1)
	for rank := range s.Spec.Ranks {
		for b := range s.Spec.Blocks() {
			in, _ := l.Block(rank, schedule.Input, b)
			out, _ := l.Block(rank, schedule.Output, b)
			if (in|out)*int64(o.Size)%16 != 0 {
				return false
			}
		}
	}
	return true
}

// Unaligned reports whether some of the lanes' data are not aligned to 16 bytes, as parts of buffers are whose
// elements do not divide: their kernels have what reads across that.
func Unaligned(lanes ...Lane) bool {
	unaligned := func(r Ref) bool { return r.Offset%16 != 0 }
	return slices.ContainsFunc(lanes, func(l Lane) bool {
		return slices.ContainsFunc(l.ops(), func(op Op) bool {
			return slices.ContainsFunc(op.Sources, unaligned) || slices.ContainsFunc(op.Destinations, unaligned)
		})
	})
}

// check refuses what does not fit into an operation.
func (p *Program) check() error {
	for r, lanes := range p.Lanes {
		for l := range lanes {
			for _, list := range [][]Op{lanes[l].Before, lanes[l].Body, lanes[l].After} {
				for i := range list {
					if err := list[i].check(lanes[l].Slices); err != nil {
						return fmt.Errorf("rank %d lane %d operation %d: %w", r, l, i, err)
					}
				}
			}
		}
	}
	return nil
}

func (op *Op) check(slices int) error {
	switch n := len(op.Sources) + len(op.PacketSources) + len(op.Destinations) + len(op.PacketTargets) + len(op.Limits); {
	case n > maxRefs || len(op.Sources) > MaxRanks || len(op.Destinations) > MaxRanks:
		return fmt.Errorf("%d sources and destinations: the kernels take at most %d, %d of a kind", n, maxRefs, MaxRanks)
	case op.Value+slices*op.PerSlice >= 1<<stepBits:
		return fmt.Errorf("%d steps in one launch: use fewer slices", op.Value+slices*op.PerSlice)
	}
	return nil
}
