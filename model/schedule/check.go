package schedule

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/topology"
)

// CheckError says which operation of which rank makes a schedule wrong, and why.
type CheckError struct {
	Rank, Channel, Phase int
	Op                   int    // index in the rank's program of that phase; −1 for the end
	What                 string // the operation in words
	Why                  string
}

func (e *CheckError) Error() string {
	if e.Op < 0 {
		return fmt.Sprintf("rank %d, channel %d: at the end: %s", e.Rank, e.Channel, e.Why)
	}
	return fmt.Sprintf("rank %d, channel %d, phase %d, operation %d (%s): %s", e.Rank, e.Channel, e.Phase, e.Op, e.What, e.Why)
}

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

// value is what a chunk holds: a chunk number of the input and who contributed to it.
// The zero value is "never written".
type value struct {
	chunk int32
	from  runs
}

// message is a send that has been issued.
type message struct {
	values []value
	op     int32   // global index in the sender's program
	clock  []int32 // what the sender knew, only where races are possible
	src    Loc
	stored *Loc // of a multicast: where its first receiver put it
}

// key is a connection; messages on it arrive in order.
type key struct{ src, dst, phase int32 }

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

// memory is one rank's state.
type memory struct {
	bufs  [3][]value
	reads map[place2][]sendRead
	slots map[int32]int32 // of an all_to_allv: where in bufs the places of scratch are that it uses
}

// place2 is a chunk of a buffer.
type place2 struct {
	buf   Buffer
	chunk int32
}

// sendRead is a send that may still be reading a chunk: it ends with operation op of
// rank peer (known once the message has been received; −1 before).
type sendRead struct {
	key  key
	seq  int32
	peer int32
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

// physical is the buffer whose memory b names.
func (k *checker) physical(b Buffer) Buffer {
	if k.inPlace && b == Output {
		return Input
	}
	return b
}

// overwritesWhatWasSent reports whether any rank writes a chunk that it sends before:
// only then can there be a race, and only then are clocks kept.
func (k *checker) overwritesWhatWasSent() bool {
	for _, prog := range k.progs {
		sent := map[place2]bool{}
		for i := range prog {
			op := &prog[i]
			if op.Kind.Sends() {
				op.Src.Set.Each(func(c int32) { sent[place2{k.physical(op.Src.Buf), c}] = true })
				continue
			}
			hit := false
			op.Dst.Set.Each(func(c int32) { hit = hit || sent[place2{k.physical(op.Dst.Buf), c}] })
			if hit {
				return true
			}
		}
	}
	return false
}

func (k *checker) fail(rank, op int, why string, args ...any) *CheckError {
	e := &CheckError{Rank: rank, Channel: k.channel, Op: op, Why: fmt.Sprintf(why, args...)}
	if op >= 0 {
		e.Phase = k.phaseOf(rank, op)
		e.What = k.progs[rank][op].String()
		if e.Phase > 0 {
			e.Op -= int(k.phaseAt[rank][e.Phase-1])
		}
	}
	return e
}

func (k *checker) phaseOf(rank, op int) int {
	for p, end := range k.phaseAt[rank] {
		if op < int(end) {
			return p
		}
	}
	return len(k.phaseAt[rank]) - 1
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

// advance runs rank r until it waits; woken are the ranks that wait for what it sent.
func (k *checker) advance(r int) (woken []int, err error) {
	for k.pc[r] < len(k.progs[r]) {
		i := k.pc[r]
		op := &k.progs[r][i]
		phase := int32(k.phaseOf(r, i))
		switch op.Kind {
		case Send:
			if err := k.send(r, i, op, key{int32(r), op.Peer, phase}); err != nil {
				return nil, err
			}
			woken = append(woken, int(op.Peer))
		case Multicast:
			to, err := k.multicast(r, i, op, phase)
			if err != nil {
				return nil, err
			}
			woken = append(woken, to...)
		case SwitchReduce:
			if done, err := k.switchReduce(r, i, op, phase); err != nil || !done {
				return woken, err
			}
		case Recv, RecvReduce:
			c := key{op.Peer, int32(r), phase}
			if len(k.queues[c]) == 0 {
				return woken, nil
			}
			m := k.queues[c][0]
			k.queues[c] = k.queues[c][1:]
			if err := k.receive(r, i, op, m, c); err != nil {
				return nil, err
			}
		default:
			if err := k.local(r, i, op); err != nil {
				return nil, err
			}
		}
		k.pc[r]++
	}
	return woken, nil
}

func (k *checker) send(r, i int, op *Op, c key) error {
	if int(c.dst) == r {
		return k.fail(r, i, "a rank cannot send to itself")
	}
	vals, err := k.read(r, i, op.Src)
	if err != nil {
		return err
	}
	m := message{values: vals, op: int32(i), src: op.Src}
	if k.clocks != nil {
		m.clock = append([]int32(nil), k.clocks[r]...)
		m.clock[r] = int32(i)
		op.Src.Set.Each(func(chunk int32) {
			p := place2{k.physical(op.Src.Buf), chunk}
			k.mem[r].reads[p] = append(k.mem[r].reads[p], sendRead{key: c, seq: int32(i), peer: c.dst})
		})
	}
	k.queues[c] = append(k.queues[c], m)
	return nil
}

func (k *checker) receive(r, i int, op *Op, m message, c key) error {
	if len(m.values) != op.Dst.Set.Len() {
		return k.fail(r, i, "takes %d chunks but rank %d sent %d", op.Dst.Set.Len(), c.src, len(m.values))
	}
	if err := k.sameStore(r, i, op, m); err != nil {
		return err
	}
	k.heard(r, i, m, c)
	vals := m.values
	if op.Kind == RecvReduce {
		own, err := k.read(r, i, op.Src)
		if err != nil {
			return err
		}
		if vals, err = k.combine(r, i, own, vals); err != nil {
			return err
		}
	}
	return k.write(r, i, op.Dst, vals)
}

// heard notes what a rank knows once it has received a message.
func (k *checker) heard(r, i int, m message, c key) {
	if k.clocks == nil {
		return
	}
	for d, known := range m.clock {
		k.clocks[r][d] = max(k.clocks[r][d], known)
	}
	k.ended(c, m.op, int32(i))
}

func (k *checker) local(r, i int, op *Op) error {
	if op.Kind == Copy {
		vals, err := k.read(r, i, op.Src)
		if err != nil {
			return err
		}
		return k.write(r, i, op.Dst, vals)
	}
	var sum []value
	for n, src := range op.Srcs {
		vals, err := k.read(r, i, src)
		if err != nil {
			return err
		}
		if n == 0 {
			sum = vals
		} else if sum, err = k.combine(r, i, sum, vals); err != nil {
			return err
		}
	}
	return k.write(r, i, op.Dst, sum)
}

// read takes the values of a place.
func (k *checker) read(r, i int, l Loc) ([]value, error) {
	out := make([]value, 0, l.Set.Len())
	var err error
	l.Set.Each(func(c int32) {
		buf, at := k.mem[r].bufs[l.Buf], k.slot(r, l.Buf, c)
		if int(at) >= len(buf) || buf[at].from == nil {
			if v, ok := k.nothing(r, l.Buf, c); ok {
				out = append(out, v)
			} else if err == nil {
				err = k.fail(r, i, "reads chunk %d of %v, which was never written", c, l.Buf)
			}
			return
		}
		out = append(out, buf[at])
	})
	return out, err
}

// combine adds contributions up; the same one twice, or those of different chunks, is
// a mistake.
func (k *checker) combine(r, i int, a, b []value) ([]value, error) {
	if !k.s.Spec.Kind.Reduces() {
		return nil, k.fail(r, i, "combines data, but %v only moves it", k.s.Spec.Kind)
	}
	if len(a) != len(b) {
		return nil, k.fail(r, i, "combines %d chunks with %d", len(a), len(b))
	}
	out := make([]value, len(a))
	for j := range a {
		if a[j].chunk != b[j].chunk {
			return nil, k.fail(r, i, "combines chunk %d with chunk %d", a[j].chunk, b[j].chunk)
		}
		from, common, ok := union(a[j].from, b[j].from)
		if !ok {
			return nil, k.fail(r, i, "counts rank %d's contribution to chunk %d twice", common, a[j].chunk)
		}
		out[j] = value{a[j].chunk, from}
	}
	return out, nil
}

func (k *checker) write(r, i int, l Loc, vals []value) error {
	if len(vals) != l.Set.Len() {
		return k.fail(r, i, "writes %d chunks to a place for %d", len(vals), l.Set.Len())
	}
	if l.Buf == Input && !k.inPlace && len(vals) > 0 {
		return k.fail(r, i, "writes to the input")
	}
	var err error
	n := 0
	l.Set.Each(func(c int32) {
		if err == nil {
			err = k.writable(r, i, l.Buf, c)
		}
		if err == nil && k.s.Spec.Kind == collective.AllToAllV {
			err = k.fits(r, i, l, c, vals[n])
		}
		buf, at := &k.mem[r].bufs[l.Buf], k.slot(r, l.Buf, c)
		if l.Buf == Scratch {
			for int(at) >= len(*buf) {
				*buf = append(*buf, value{})
			}
		}
		(*buf)[at] = vals[n]
		n++
	})
	return err
}

// writable refuses what nobody may write, and what a send may still be reading.
func (k *checker) writable(r, i int, b Buffer, c int32) error {
	if b == Output && !k.s.Spec.Wants(r, k.blockOf(int(c))) {
		return k.fail(r, i, "writes chunk %d of the output, which rank %d does not have", c, r)
	}
	p := place2{k.physical(b), c}
	for _, read := range k.mem[r].reads[p] {
		// seq ≥ 0 is the send, not received yet; −op−1 the receive that ended it.
		if read.seq >= 0 || k.clocks[r][read.peer] < -read.seq {
			return k.fail(r, i, "overwrites chunk %d of %v while rank %d may still be receiving it", c, b, read.peer)
		}
	}
	delete(k.mem[r].reads, p)
	return nil
}

// ended notes that the receive at index at has ended the send at index op of its peer.
func (k *checker) ended(c key, op, at int32) {
	src := &k.progs[c.src][op]
	src.Src.Set.Each(func(chunk int32) {
		reads := k.mem[c.src].reads[place2{k.physical(src.Src.Buf), chunk}]
		for j := range reads {
			if reads[j].key == c && reads[j].seq == op {
				reads[j].seq = -(at + 1)
			}
		}
	})
}

// checkResult compares every output with what the collective promises.
func (k *checker) checkResult() error {
	spec := k.s.Spec
	if spec.Kind == collective.Barrier {
		return k.checkBarrier()
	}
	per := k.chunks / spec.Blocks()
	for r := range k.mem {
		for c, v := range k.mem[r].bufs[Output] {
			block := k.blockOf(c)
			if !spec.Wants(r, block) {
				continue
			}
			if spec.Empty(block, r) {
				continue
			}
			if v.from == nil {
				return k.fail(r, -1, "output chunk %d was never written", c)
			}
			if spec.Kind.Reduces() {
				if int(v.chunk) != c {
					return k.fail(r, -1, "output chunk %d holds input chunk %d", c, v.chunk)
				}
				if m := v.from.missing(int32(spec.Ranks)); m >= 0 {
					return k.fail(r, -1, "output chunk %d lacks the contribution of rank %d", c, m)
				}
				continue
			}
			srcRank, srcBlock := spec.Origin(r, block)
			if want := (value{int32(srcBlock*per + c%per), single(int32(srcRank))}); v.chunk != want.chunk || !v.from.equal(want.from) {
				return k.fail(r, -1, "output chunk %d holds chunk %d of rank %d instead of chunk %d of rank %d", c, v.chunk, v.from[0], want.chunk, srcRank)
			}
		}
	}
	return nil
}
