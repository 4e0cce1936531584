package schedule

import (
	"fmt"

	"railyard/model/topology"
)

// CheckOptions widen or narrow what Check proves.
type CheckOptions struct {
	InPlace bool // input and output are the same memory
}

// Check proves that a schedule computes its collective: it runs every rank's program
// on symbolic values, where a value is an input chunk together with the exact set of
// ranks that contributed to it. Proven are
//
//   - progress: every receive has its send of equal size and the other way round, and
//     program order and messages have no cycle (else the ranks that wait are named);
//   - the result: each output chunk holds each contribution exactly once, and nothing
//     is read before it was written;
//   - no race: memory that a send still reads is not overwritten unless the matching
//     receive is known, through a chain of messages, to have ended;
//   - with a topology: every message has a route, and the switches on the ways of
//     in-network operations do what those need.
//
// Channels touch disjoint bytes and so do slices, which all run the same program; so
// one slice of each channel is the proof for all. Sends never block, hence a pipeline
// of slices makes progress where one slice does. Time is proportional to operations ×
// chunks moved, and × ranks where the race check needs message chains.
func Check(s *Schedule, t *topology.Topology) error { return CheckWith(s, t, CheckOptions{}) }

// CheckWith is Check with options.
func CheckWith(s *Schedule, t *topology.Topology, o CheckOptions) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if t != nil && t.NumRanks() != s.Spec.Ranks {
		return fmt.Errorf("the schedule is for %d ranks, %s has %d", s.Spec.Ranks, t.Name(), t.NumRanks())
	}
	x := NewExpander(s)
	for c := range s.Channels {
		k := newChecker(s, x, c, o)
		if err := k.run(); err != nil {
			return err
		}
		if t != nil {
			router := topology.NewRouter(t)
			if err := k.checkHops(router); err != nil {
				return err
			}
			if err := k.checkTeams(x, router); err != nil {
				return err
			}
		}
	}
	return nil
}

// key is a connection; messages on it arrive in order.
type key struct{ src, dst, phase int32 }

// message is a send that has been issued.
type message struct {
	values []value
	op     int32   // global index in the sender's program
	clock  []int32 // what the sender knew, only where races are possible
	src    Loc
	stored *Loc // of a multicast: where its first receiver put it
}

// checker runs one channel.
type checker struct {
	s       *Schedule
	channel int
	chunks  int
	inPlace bool
	progs   [][]Op    // by rank: all phases in order
	phaseAt [][]int32 // by rank: where each phase ends
	pc      []int
	mem     []memory
	queues  map[key][]message
	clocks  [][]int32 // by rank: operations of others known to have ended; nil: not needed
}

func newChecker(s *Schedule, x *Expander, channel int, o CheckOptions) *checker {
	n := s.Spec.Ranks
	k := &checker{s: s, channel: channel, chunks: s.Channels[channel].Chunks, inPlace: o.InPlace, progs: make([][]Op, n),
		phaseAt: make([][]int32, n), pc: make([]int, n), mem: make([]memory, n), queues: map[key][]message{}}
	for r := range n {
		for p := range s.Channels[channel].Phases {
			k.progs[r] = x.AppendProgram(k.progs[r], channel, p, r)
			k.phaseAt[r] = append(k.phaseAt[r], int32(len(k.progs[r])))
		}
	}
	k.initialise()
	if k.overwritesWhatWasSent() {
		k.clocks = make([][]int32, n)
		for r := range k.clocks {
			k.clocks[r] = make([]int32, n)
		}
	}
	return k
}

// blockOf is the block a chunk belongs to.
func (k *checker) blockOf(chunk int) int { return chunk / (k.chunks / k.s.Spec.Blocks()) }

func (k *checker) initialise() {
	for r := range k.mem {
		in := make([]value, k.chunks)
		for c := range in {
			if k.s.Spec.Holds(r, k.blockOf(c)) {
				in[c] = value{int32(c), single(int32(r))}
			}
		}
		k.mem[r].bufs[Input] = in
		k.mem[r].bufs[Output] = make([]value, k.chunks)
		if k.inPlace {
			k.mem[r].bufs[Output] = in
		}
		k.mem[r].reads = map[place2][]sendRead{}
	}
}

// run executes all programs, waking a rank whenever a message for it arrives.
func (k *checker) run() error {
	ready := make([]int, len(k.progs))
	for r := range ready {
		ready[r] = r
	}
	for len(ready) > 0 {
		r := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		woken, err := k.advance(r)
		if err != nil {
			return err
		}
		ready = append(ready, woken...)
	}
	for r, prog := range k.progs {
		if k.pc[r] < len(prog) {
			return k.deadlock(r)
		}
	}
	for _, q := range k.queues {
		if len(q) > 0 {
			return k.unmatched()
		}
	}
	return k.checkResult()
}

func (k *checker) phaseOf(rank, op int) int {
	for p, end := range k.phaseAt[rank] {
		if op < int(end) {
			return p
		}
	}
	return len(k.phaseAt[rank]) - 1
}
