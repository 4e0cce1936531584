package cuda

import (
	"fmt"
	"slices"

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

// Mechanisms are the names that ParseMechanism takes.
const Mechanisms = "pull, push, packets, lines, words, words_push or copies"

// setMechanism reads a mechanism's name.
func (how *Method) setMechanism(name string) bool {
	how.Copies = name == "copies"
	switch name {
	case "pull", "copies":
		how.Mechanism = block.Pull
	case "push":
		how.Mechanism = block.Push
	case "packets":
		how.Mechanism = block.Packets
	case "lines":
		how.Mechanism = block.Lines
	case "words":
		how.Mechanism = block.Words
	case "words_push":
		how.Mechanism = block.WordsPush
	default:
		return false
	}
	return true
}

// Flagged reports whether data and flags travel together: in packets or lines.
func (how Method) Flagged() bool { return how.Mechanism.Flagged() && !how.Copies }

// ParseMechanism changes a method to a mechanism by its name.
func ParseMechanism(how Method, name string) (Method, error) {
	if !how.setMechanism(name) {
		return how, fmt.Errorf("mechanism %q: must be %s", name, Mechanisms)
	}
	return how, nil
}

// Choose is what the profile says was fastest for a size in bytes (as nccl-tests counts
// it); false where that has not been measured, or on other GPUs than these.
func Choose(p *cost.Profile, gpu string, kind collective.Kind, t collective.DType, gpus int, size int64) (Choice, bool) {
	m := p.Method(kind.String(), gpus, units.Bytes(size))
	if m == nil || p.GPU != gpu {
		return Choice{}, false
	}
	how, err := ParseMechanism(Method{Blocks: m.Blocks, Threads: m.Threads, Streams: m.Streams, Overlap: true, Specialise: true}, m.Mechanism)
	if err != nil {
		return Choice{}, false // a mechanism that this version does not have
	}
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
	lanes := 0
	for _, ch := range s.Channels {
		if ch.Slices > 1 {
			lanes += len(ch.Phases)
		} else {
			lanes++
		}
	}
	how := Method{Blocks: max(64/lanes, 1), Threads: 512, Streams: 1, Overlap: true}
	switch s.Protocol {
	case schedule.LL:
		how.Mechanism, how.Blocks, how.Threads = block.Packets, 0, 0
	case schedule.LL128:
		how.Mechanism, how.Blocks, how.Threads = block.Lines, 0, 0
	case schedule.Words:
		how.Mechanism, how.Blocks, how.Threads = block.Words, 0, 0
	}
	return how
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
	how.Blocks, how.Threads = Shape(how.Mechanism, size, multiprocessors)
	how.Blocks = min(how.Blocks, max(multiprocessors/len(s.Channels), 1))
	return how
}

// Shape is how many blocks of how many threads move so many bytes where data are their own
// flags: packets with a thread for every 8 bytes, lines with two for every 15, words with one
// for every 16, in blocks that grow with the size, at most one a multiprocessor and, up to 4 MiB,
// 128, into which powers of two divide evenly.
func Shape(m block.Mechanism, bytes int64, multiprocessors int) (blocks, threads int) {
	most := int64(multiprocessors)
	if bytes <= 4<<20 {
		most = min(most, 128)
	}
	work, steps := max(bytes/8, 1), []shapeStep{{1024, 64}, {16384, 256}}
	switch m {
	case block.Lines:
		work, steps = max(2*bytes/15, 1), []shapeStep{{40000, 256}}
	case block.Words, block.WordsPush:
		work, steps = max(bytes/16, 1), []shapeStep{{8192, 128}, {32768, 256}}
	}
	threads = 512
	for _, s := range slices.Backward(steps) {
		if work <= s.work {
			threads = s.threads
		}
	}
	return int(min((work+int64(threads)-1)/int64(threads), most)), threads
}

// shapeStep: up to so much work blocks have so many threads.
type shapeStep struct {
	work    int64
	threads int
}
