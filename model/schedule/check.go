package schedule

import (
	"errors"
	"fmt"
	"reflect"

	"railyard/model/collective"
	"railyard/model/topology"
)

// Check proves that a schedule computes its collective: it runs every rank's program
// on symbolic values, where a value is an input chunk together with the exact set of
// ranks that contributed to it. Proven are
//
//   - progress: every receive has its send of equal size and the other way round, and
//     program order and messages have no cycle (else the ranks that wait are named);
//   - the result: each output chunk holds each contribution exactly once, and nothing
//     is read before it was written;
//   - no race: memory that a send still reads is not overwritten unless the matching
//     receive is known, through a chain of messages, to have ended; phases that do not wait
//     for one another share no memory that either writes;
//   - with a topology: every message has a route, and the switches on the ways of
//     in-network operations do what those need.
//
// Channels touch disjoint bytes and so do slices, which all run the same program; so
// one slice of each channel is the proof for all, and of channels that differ in nothing
// but the number and the size of slices one is for the next. Sends never block, hence a pipeline
// of slices makes progress where one slice does. Time is proportional to operations ×
// chunks moved, and × ranks where the race check needs message chains. Of ranks that do
// alike one is run for all (findMoves, Kinds); that they do is a claim, which is verified.
func Check(s *Schedule, t *topology.Topology) error { return check(s, t, false) }

// check is Check; in place, input and output are the same memory.
func check(s *Schedule, t *topology.Topology, inPlace bool) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if t != nil && t.NumRanks() != s.Spec.Ranks {
		return fmt.Errorf("the schedule is for %d ranks, %s has %d", s.Spec.Ranks, t.Name(), t.NumRanks())
	}
	if t != nil {
		if err := s.checkPaths(t); err != nil {
			return err
		}
	}
	x := NewExpander(s)
	for c := range s.Channels {
		if c > 0 && sameProgram(&s.Channels[c-1], &s.Channels[c]) {
			continue
		}
		k, err := proven(x, c, inPlace, s.Spec.Ranks >= manyRanks)
		if err != nil {
			return err
		}
		if t != nil {
			router := topology.NewRouter(t)
			if err := k.checkHops(t, router); err != nil {
				return err
			}
			if err := k.checkTeams(t, router); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameProgram reports whether a slice of one channel does what one of another does.
func sameProgram(a, b *Channel) bool {
	return a.Chunks == b.Chunks && reflect.DeepEqual(a.Phases, b.Phases) && reflect.DeepEqual(a.Trees, b.Trees) &&
		reflect.DeepEqual(a.Kinds, b.Kinds)
}

// manyRanks is from how many ranks on it is worth looking for ranks that are equivalent.
const manyRanks = 32

// fewRanks are so quickly run that no other axis need move.
const fewRanks = 8

// proven runs a channel; with fold only the ranks that others do like, where there are
// such (see moves).
func proven(x *Expander, channel int, inPlace bool, fold bool) (*checker, error) {
	if fold {
		for _, y := range []*Expander{x.coarse(channel), x} {
			if y == nil {
				continue
			}
			if k, err := folded(y, channel, inPlace); !errors.Is(err, errAsymmetric) && (y == x || err == nil && !y.torn) {
				return k, err // else errors are told in chunks of the schedule
			}
		}
	}
	k := newChecker(x, channel, inPlace, unmoved(x.s))
	return k, k.run()
}

// folded runs the first nodes of kinds, or the originals of moves.
func folded(x *Expander, channel int, inPlace bool) (*checker, error) {
	if m := x.kinds[channel]; m != nil {
		if k := newChecker(x, channel, inPlace, m); k.follows() {
			return k, k.run()
		}
		return nil, errAsymmetric
	}
	return runOriginals(x, channel, inPlace, findMoves(x, channel, fewRanks))
}

// runOriginals runs the originals of all moves, or where those are not followed of the
// moves along the outer digits.
func runOriginals(x *Expander, channel int, inPlace bool, m *moves) (*checker, error) {
	for ; m != nil && len(m.Digits) > 0; m = m.outer() {
		k := newChecker(x, channel, inPlace, m)
		if err := k.run(); !errors.Is(err, errAsymmetric) {
			return k, err
		}
	}
	return nil, errAsymmetric
}

// key is a connection; messages on it arrive in order.
type key struct{ src, dst, phase int32 }

// message is a send that has been issued.
type message struct {
	values  []value
	places  []int32 // where the sender has the values, where that is not src
	op      int32   // global index in the sender's program
	clock   []int32 // what the sender knew, only where races are possible
	src     Loc
	stored  *Loc // of a multicast: where its first receiver put it
	entered runs // of a barrier: who has entered it, as the sender knows
}

// checker runs one channel.
type checker struct {
	s          *Schedule
	x          *Expander
	moves      images  // that ranks are equivalent by
	ranks      []int32 // that are run
	channel    int
	chunks     int
	inPlace    bool
	progs      [][]Op    // by rank: all phases in order
	phaseAt    [][]int32 // by rank: where each phase ends
	pc         []int
	mem        []memory
	queues     map[key]*queue
	sets       []runs      // by number; of 0: none
	takenSoFar map[key]int // by peer and rank: messages taken, where one of a first node is for several
	clocks     [][]int32   // by rank: operations of others known to have ended; nil: not needed
	entered    []runs      // by rank: who is known to have entered the barrier; nil: it is none
}

func newChecker(x *Expander, channel int, inPlace bool, m images) *checker {
	s, n := x.s, x.s.Spec.Ranks
	k := &checker{s: s, x: x, moves: m, channel: channel, chunks: s.Channels[channel].Chunks, inPlace: inPlace, progs: make([][]Op, n),
		phaseAt: make([][]int32, n), pc: make([]int, n), mem: make([]memory, n), queues: map[key]*queue{},
		sets: make([]runs, 1), takenSoFar: map[key]int{}, ranks: m.originals()}
	for _, r := range k.ranks {
		k.expand(int(r))
	}
	k.initialise()
	if s.Spec.Kind == collective.Barrier {
		k.entered = make([]runs, n)
		for _, r := range k.ranks {
			k.entered[r] = single(r)
		}
	}
	if k.overwritesWhatWasSent() {
		k.clocks = make([][]int32, n)
		for _, r := range k.ranks {
			k.clocks[r] = make([]int32, n)
		}
	}
	return k
}

// expand makes a rank's program.
func (k *checker) expand(r int) {
	for p := range k.s.Channels[k.channel].Phases {
		k.progs[r] = k.x.AppendProgram(k.progs[r], k.channel, p, r)
		k.phaseAt[r] = append(k.phaseAt[r], int32(len(k.progs[r])))
	}
}

// blockOf is the block a chunk belongs to.
func (k *checker) blockOf(chunk int) int { return chunk / (k.chunks / k.s.Spec.Blocks()) }

func (k *checker) initialise() {
	for _, r := range k.ranks {
		own := k.set(single(r))
		in := &places{initial: func(c int32) value {
			if int(c) < k.chunks && k.s.Spec.Holds(int(r), k.blockOf(int(c))) {
				return value{c, own}
			}
			return value{}
		}}
		k.mem[r] = memory{bufs: [3]*places{Input: in, Output: {}, Scratch: {}}, reads: map[place2][]sendRead{},
			grid: scratchGrid(k.progs[r])}
		if k.inPlace {
			k.mem[r].bufs[Output] = in
		}
	}
}

// run executes all programs, waking a rank whenever a message for it arrives.
func (k *checker) run() error {
	if err := k.checkStrands(); err != nil {
		return err
	}
	ready := make([]int, len(k.ranks))
	for i, r := range k.ranks {
		ready[i] = int(r)
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
	for _, r := range k.ranks {
		if k.pc[r] < len(k.progs[r]) {
			return k.deadlock(int(r))
		}
	}
	if m := k.byKinds(); m != nil {
		if !k.matched(m) {
			return errAsymmetric // all ranks' programs say where
		}
		return k.checkResult()
	}
	for _, q := range k.queues {
		if !q.empty() {
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
