package cuda

import (
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/units"
)

// MaxThreads is the most a block can have.
const MaxThreads = 1024

// Choice is what has been fastest for a size: an algorithm and how to run it.
type Choice struct {
	Algorithm string
	Slices    int
	Method    Method
}

// Choose is what the machine says was fastest for a size in bytes (as nccl-tests counts
// it); false where that has not been measured, or on other GPUs than these.
func Choose(machine *cost.Machine, gpu string, kind collective.Kind, t collective.DType, gpus int, size int64) (Choice, bool) {
	m := machine.Method(kind.String(), gpus, units.Bytes(size))
	if m == nil || machine.Fastest().GPU != gpu {
		return Choice{}, false
	}
	mechanism, err := block.ParseMechanism(m.Mechanism)
	if err != nil {
		return Choice{}, false // a mechanism that this version does not have
	}
	how := Method{Mechanism: mechanism, Blocks: m.Blocks, Threads: m.Threads, Streams: m.Streams, Overlap: true, Specialise: true}
	return Choice{m.Algorithm, m.Slices, how.carrying(t, size)}, true
}

// carrying is a way for a type: words carry floating-point numbers only, and lines are next
// while they gain more by having no flags apart than these cost.
func (how Method) carrying(t collective.DType, size int64) Method {
	switch {
	case !how.Mechanism.InWords() || t != collective.Int32:
	case size <= 8<<20:
		how.Mechanism, how.Blocks, how.Threads = block.Lines, 0, 0
	default:
		how.Mechanism, how.Blocks, how.Threads = block.Push, 64, 512
	}
	return how
}

// MethodFor is a way to run any schedule: packets where its protocol is LL, lines where it
// is LL128, else pulls; about 64 blocks in all.
func MethodFor(s *schedule.Schedule) Method {
	how := Method{Blocks: max(64/lanesOf(s), 1), Threads: 512, Streams: 1, Overlap: true}
	if m, ok := block.FlaggedFor(s.Protocol); ok {
		how.Mechanism, how.Blocks, how.Threads = m, 0, 0
	}
	return how
}

// Ways are a way and, where it pulls into other memory than the input's, the same pushed: costs tell which is faster.
func (how Method) Ways(inPlace bool) []Method {
	if how.Mechanism != block.Pull || inPlace {
		return []Method{how}
	}
	push := how
	push.Mechanism = block.Push
	return []Method{how, push}
}

// lanesOf are the lanes of a rank that blocks run at once: phases take turns in a channel of one slice.
func lanesOf(s *schedule.Schedule) (lanes int) {
	for _, ch := range s.Channels {
		if ch.Slices > 1 {
			lanes += len(ch.Phases)
		} else {
			lanes++
		}
	}
	return lanes
}

// Shared is a way for ranks that share a GPU of so many multiprocessors, whose blocks all have to be there at once: no more of them than
// fit wherever a multiprocessor holds one.
func (how Method) Shared(s *schedule.Schedule, multiprocessors, share int) Method {
	if share <= 1 || how.Blocks == 0 {
		return how
	}
	how.Blocks = max(min(how.Blocks, MaxBlocks(multiprocessors, share)/lanesOf(s)), 1)
	return how
}

// LibraryBlocks is the most that a kernel has of a library that carries messages, which is told so: NCCL's have a block a channel, of
// which it takes the next power of two of its own but no more than NCCL_MAX_P2P_NCHANNELS (ncclTopoComputeP2pChannels, src/graph/paths.cc).
const LibraryBlocks = 32

// Streams are those that stages of a schedule run on, on GPUs of so many multiprocessors that so many ranks share, wherever a
// multiprocessor holds one block: those that load halves are the link's, of which a schedule may have work for fewer.
func Streams(s *schedule.Schedule, multiprocessors, share int) int {
	work := block.StreamsOf(s)
	for n := block.MostStreams; ; n /= 2 {
		if used := min(n, work); used == 1 || used*LibraryBlocks <= multiprocessors/max(share, 1) {
			return used
		}
	}
}

// Fitted fills in blocks and threads where a method leaves them open, for GPUs of so many
// multiprocessors.
func (how Method) Fitted(s *schedule.Schedule, size int64, multiprocessors int) Method {
	if how.Blocks > 0 {
		return how
	}
	if len(s.Channels[0].Phases) > 1 || s.Spec.Blocks() > 1 {
		size /= int64(s.Spec.Ranks)
	}
	how.Blocks, how.Threads = how.Mechanism.Shape(size, multiprocessors)
	how.Blocks = min(how.Blocks, max(multiprocessors/len(s.Channels), 1))
	return how
}
