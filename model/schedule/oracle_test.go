package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"railyard/model/collective"
)

// oracle runs channel c with real numbers and a random interleaving. A send's memory
// is read at a random moment between the send and its matching receive, as asynchronous
// transfers do, so that a race shows as a wrong number. Numbers are random, so that a
// sum with a wrong, missing or double contribution differs from the right one.
type oracle struct {
	s      *Schedule
	ch     int
	rng    *rand.Rand
	mem    [][3][]int64 // rank, buffer
	progs  [][]Op
	phase  [][]int32
	pc     []int
	queues map[key][]*inflight
	input  [][]int64
}

type inflight struct {
	rank int
	src  Loc
	vals []int64 // nil: not read yet
}

func newOracle(s *Schedule, ch int, rng *rand.Rand) *oracle {
	n, chunks := s.Spec.Ranks, s.Channels[ch].Chunks
	o := &oracle{s: s, ch: ch, rng: rng, mem: make([][3][]int64, n), progs: make([][]Op, n), phase: make([][]int32, n),
		pc: make([]int, n), queues: map[key][]*inflight{}, input: make([][]int64, n)}
	x := NewExpander(s)
	per := chunks / s.Spec.Blocks()
	for r := range n {
		for p := range s.Channels[ch].Phases {
			before := len(o.progs[r])
			o.progs[r] = x.AppendProgram(o.progs[r], ch, p, r)
			for range len(o.progs[r]) - before {
				o.phase[r] = append(o.phase[r], int32(p))
			}
		}
		for b := range o.mem[r] {
			o.mem[r][b] = make([]int64, chunks*(n+12))
			for i := range o.mem[r][b] {
				o.mem[r][b][i] = rng.Int64N(1 << 40) // poison
			}
		}
		o.input[r] = make([]int64, chunks)
		for c := range chunks {
			o.input[r][c] = rng.Int64N(1 << 40)
			if s.Spec.Holds(r, c/per) {
				o.mem[r][Input][c] = o.input[r][c]
			}
		}
	}
	return o
}

func (o *oracle) load(r int, l Loc) (out []int64) {
	l.Set.Each(func(c int32) { out = append(out, o.mem[r][l.Buf][c]) })
	return out
}

func (o *oracle) store(r int, l Loc, vals []int64) {
	i := 0
	l.Set.Each(func(c int32) {
		if i < len(vals) {
			o.mem[r][l.Buf][c] = vals[i]
		}
		i++
	})
}

// step runs one operation of rank r; false if it must wait.
func (o *oracle) step(r int) bool {
	op := &o.progs[r][o.pc[r]]
	ph := o.phase[r][o.pc[r]]
	switch op.Kind {
	case Send:
		c := key{int32(r), op.Peer, ph}
		o.queues[c] = append(o.queues[c], &inflight{rank: r, src: op.Src})
	case Multicast:
		for _, p := range op.Peers {
			c := key{int32(r), p, ph}
			o.queues[c] = append(o.queues[c], &inflight{rank: r, src: op.Src})
		}
	case SwitchReduce:
		for _, p := range op.Peers {
			if len(o.queues[key{p, int32(r), ph}]) == 0 {
				return false
			}
		}
		sum := o.load(r, op.Src)
		for _, p := range op.Peers {
			c := key{p, int32(r), ph}
			m := o.queues[c][0]
			o.queues[c] = o.queues[c][1:]
			if m.vals == nil {
				m.vals = o.load(m.rank, m.src)
			}
			for i, v := range m.vals {
				sum[i] += v // panics where a peer sends more than there is room for
			}
		}
		o.store(r, op.Dst, sum)
	case Recv, RecvReduce:
		c := key{op.Peer, int32(r), ph}
		if len(o.queues[c]) == 0 {
			return false
		}
		m := o.queues[c][0]
		o.queues[c] = o.queues[c][1:]
		if m.vals == nil {
			m.vals = o.load(m.rank, m.src)
		}
		vals := slices.Clone(m.vals)
		if op.Kind == RecvReduce {
			for i, v := range o.load(r, op.Src) {
				if i < len(vals) {
					vals[i] += v
				}
			}
		}
		o.store(r, op.Dst, vals)
	case Copy:
		o.store(r, op.Dst, o.load(r, op.Src))
	case Reduce:
		sum := o.load(r, op.Srcs[0])
		for _, l := range op.Srcs[1:] {
			for i, v := range o.load(r, l) {
				sum[i] += v
			}
		}
		o.store(r, op.Dst, sum)
	}
	o.pc[r]++
	return true
}

// run interleaves until all programs end; false on a deadlock or a message left over.
func (o *oracle) run() bool {
	for {
		var live []int
		for r := range o.progs {
			if o.pc[r] < len(o.progs[r]) {
				live = append(live, r)
			}
		}
		if len(live) == 0 {
			break
		}
		o.rng.Shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
		moved := false
		for _, r := range live {
			for range o.rng.IntN(4) {
				if o.pc[r] < len(o.progs[r]) && o.step(r) {
					moved = true
				}
			}
		}
		o.readSome()
		if !moved {
			for _, r := range live {
				moved = o.step(r) || moved
			}
			if !moved {
				return false
			}
		}
	}
	for _, q := range o.queues {
		if len(q) > 0 {
			return false
		}
	}
	return true
}

// readSome lets some of the transfers under way read their source now.
func (o *oracle) readSome() {
	if o.rng.IntN(2) == 0 {
		return
	}
	for _, q := range o.queues {
		for _, m := range q {
			if m.vals == nil && o.rng.IntN(2) == 0 {
				m.vals = o.load(m.rank, m.src)
			}
		}
	}
}

func (o *oracle) correct() bool {
	spec := o.s.Spec
	per := o.s.Channels[o.ch].Chunks / spec.Blocks()
	for r := range o.mem {
		for c := range o.input[r] {
			if !spec.Wants(r, c/per) || spec.Empty(c/per, r) {
				continue
			}
			var want int64
			if spec.Kind.Reduces() {
				for q := range o.input {
					want += o.input[q][c]
				}
			} else {
				sr, sb := spec.Origin(r, c/per)
				want = o.input[sr][sb*per+c%per]
			}
			if o.mem[r][Output][c] != want {
				return false
			}
		}
	}
	return true
}

// oracleAccepts runs every channel a few times in different orders.
func oracleAccepts(s *Schedule, seed uint64, times int) (ok bool) {
	defer func() { // a mutant may index out of its buffers
		if recover() != nil {
			ok = false
		}
	}()
	for i := range times {
		for ch := range s.Channels {
			o := newOracle(s, ch, rand.New(rand.NewPCG(seed, uint64(i))))
			if !o.run() || !o.correct() {
				return false
			}
		}
	}
	return true
}

func TestOracleAgreesOnEveryGenerator(t *testing.T) {
	for i, c := range allCases() {
		if c.s.Spec.Kind != collective.Barrier && !oracleAccepts(c.s, uint64(i), 3) {
			t.Errorf("%s: the numbers are wrong", c.name)
		}
	}
}

// mutate breaks one thing in an explicit schedule.
func mutate(s *Schedule, rng *rand.Rand) string {
	ch := &s.Channels[rng.IntN(len(s.Channels))]
	ph := &ch.Phases[rng.IntN(len(ch.Phases))]
	r := rng.IntN(len(ph.Ops))
	if len(ph.Ops[r]) == 0 {
		return ""
	}
	i := rng.IntN(len(ph.Ops[r]))
	op := &ph.Ops[r][i]
	switch what := rng.IntN(9); what {
	case 0:
		ph.Ops[r] = slices.Delete(ph.Ops[r], i, i+1)
		return "drop"
	case 1:
		ph.Ops[r] = slices.Insert(ph.Ops[r], i, *op)
		return "duplicate"
	case 2:
		j := rng.IntN(len(ph.Ops[r]))
		ph.Ops[r][i], ph.Ops[r][j] = ph.Ops[r][j], ph.Ops[r][i]
		return "swap"
	case 3:
		if n := int32(s.Spec.Ranks); op.Kind <= RecvReduce && n > 2 {
			op.Peer = (op.Peer + 1) % n
			return "peer"
		}
		if len(op.Peers) > 1 {
			op.Peers = op.Peers[1:]
			return "one peer less"
		}
	case 4:
		op.Src.Set.First = (op.Src.Set.First + 1) % int32(ch.Chunks)
		return "source chunk"
	case 5:
		op.Dst.Set.First = (op.Dst.Set.First + 1) % int32(ch.Chunks)
		return "destination chunk"
	case 6:
		op.Dst.Buf = Buffer(rng.IntN(3))
		return "destination buffer"
	case 7:
		op.Src.Buf = Buffer(rng.IntN(3))
		return "source buffer"
	case 8:
		switch op.Kind {
		case SwitchReduce:
			op.Kind, op.Src = Copy, op.Dst
		case RecvReduce:
			op.Kind = Recv
		case Recv:
			op.Kind, op.Src = RecvReduce, op.Dst
		case Reduce:
			op.Srcs = op.Srcs[:len(op.Srcs)-1]
		}
		return "kind"
	}
	return ""
}

// explicit writes a schedule's programs out.
func explicit(s *Schedule) *Schedule {
	out := *s
	out.Channels = slices.Clone(s.Channels)
	x := NewExpander(s)
	for c := range out.Channels {
		phases := slices.Clone(out.Channels[c].Phases)
		for p := range phases {
			ops := make([]Program, s.Spec.Ranks)
			for r := range ops {
				ops[r] = x.AppendProgram(nil, c, p, r)
				for i := range ops[r] {
					ops[r][i].Srcs, ops[r][i].Peers = slices.Clone(ops[r][i].Srcs), slices.Clone(ops[r][i].Peers)
				}
			}
			phases[p] = Phase{Gen: GenOps, Op: phases[p].Op, Ops: ops}
		}
		out.Channels[c].Phases = phases
	}
	return &out
}

// TestBrokenSchedulesAreRefused mutates good schedules: whatever gives wrong numbers,
// hangs, or leaves messages over in any interleaving tried must be refused.
func TestBrokenSchedulesAreRefused(t *testing.T) {
	const seed, perCase = 20261121, 25
	broken := 0
	for i, c := range allCases() {
		n := c.s.Spec.Ranks
		if n < 2 || n > 9 || c.s.Spec.Kind == collective.Barrier {
			continue
		}
		for m := range perCase {
			rng := rand.New(rand.NewPCG(seed, uint64(i*perCase+m)))
			s := explicit(c.s)
			what := mutate(s, rng)
			if what == "" || s.Validate() != nil {
				continue
			}
			checked := Check(s, nil)
			if oracleAccepts(s, uint64(m), 6) {
				continue // an equivalent mutant, or a race that never showed
			}
			broken++
			if checked == nil {
				t.Errorf("%s, mutant %d (%s): accepted, but it computes wrong numbers", c.name, m, what)
			}
		}
	}
	if broken < 1000 {
		t.Errorf("only %d mutants were broken: the corpus is too weak (seed %d)", broken, seed)
	}
	t.Logf("%d broken mutants, all refused (seed %d)", broken, seed)
}

// TestRefusalsNameThePlace pins the wording of the refusals that users meet.
func TestRefusalsNameThePlace(t *testing.T) {
	ring := func() *Schedule { return explicit(flat(GenRing, collective.AllReduce, 4)) }
	s := ring()
	s.Channels[0].Phases[0].Ops[0] = s.Channels[0].Phases[0].Ops[0][1:]
	err := Check(s, nil)
	var e *CheckError
	if err == nil || !asCheckError(err, &e) || e.Channel != 0 {
		t.Fatalf("a ring without rank 0's first send: %v", err)
	}
	s = ring()
	ops := s.Channels[0].Phases[0].Ops[2]
	s.Channels[0].Phases[0].Ops[2] = append(ops, Op{Kind: Send, Peer: 3, Src: ops[0].Src})
	if err := Check(s, nil); err == nil || err.Error() != fmt.Sprintf("rank 2, channel 0, phase 0, operation %d (%v): rank 3 never "+
		"receives it", len(ops), Op{Kind: Send, Peer: 3, Src: ops[0].Src}) {
		t.Errorf("an unmatched send: %v", err)
	}
}

func asCheckError(err error, target **CheckError) bool {
	e, ok := err.(*CheckError)
	*target = e
	return ok
}
