package block

import (
	"fmt"
	"slices"

	"railyard/model/schedule"
)

// emission writes one rank's lane.
type emission struct {
	c    *compiler
	st   *strand
	rank int

	before, ops, after []Op
	segment            int          // first operation since the threads last waited for one another
	written, read      touched      // since then
	owed               []*message   // pushed, and not yet signalled
	lazy               []lazySource // fused receives that wait for their reduction
	credit             map[int]bool // peers whose memory is known to be free
}

// lazySource is where a fused receive's data are.
type lazySource struct {
	dst schedule.Loc
	msg *message
}

func (e *emission) run() error {
	e.credit = map[int]bool{}
	steps := e.st.steps[e.rank]
	e.grant(steps)
	for i := range steps {
		if err := e.step(steps, i); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	e.settle()
	e.finish(steps)
	e.halve()
	return nil
}

func (e *emission) step(steps []step, i int) error {
	s := &steps[i]
	op := s.op
	switch op.Kind {
	case schedule.Send:
		return e.send(s.msg, steps[i:])
	case schedule.Recv, schedule.RecvReduce:
		if e.c.o.Mechanism.Flagged() && s.msg.crosses {
			e.settle()
			e.awaitRun(steps[i : i+1])
			return e.receive(s)
		}
		if e.c.o.Mechanism.Flagged() && op.Dst.Set.Len() > 0 {
			e.settle() // what arrives may depend on what was pushed
			if s.msg.pushed {
				e.wait(s.msg.from, Ready, s.msg.number, e.st.total[[2]int{s.msg.from, e.rank}], false)
				return nil
			}
			return e.unpack(s)
		}
		e.settle()
		if i == 0 || !receives(steps[i-1].op) {
			e.awaitRun(steps[i:])
		}
		return e.receive(s)
	case schedule.Copy:
		return e.multi([]schedule.Loc{op.Src}, nil, op.Dst, s.final)
	case schedule.Reduce:
		return e.reduce(s)
	}
	return fmt.Errorf("unknown kind %d", op.Kind)
}

func receives(op *schedule.Op) bool {
	return op.Kind == schedule.Recv || op.Kind == schedule.RecvReduce
}

// awaitRun waits for all messages of a run of receives. Nothing that another rank could
// wait for lies between them.
func (e *emission) awaitRun(run []step) {
	for _, s := range run {
		if !receives(s.op) {
			return
		}
		e.wait(s.msg.from, Ready, s.msg.number, e.st.total[[2]int{s.msg.from, e.rank}], s.msg.relaxed)
		e.credit[s.msg.from] = true
	}
}

func (e *emission) send(m *message, run []step) error {
	total := e.st.total[[2]int{e.rank, m.to}]
	switch {
	case m.crosses && m.send.Src.Set.Len() > 0:
		e.leave(m)
		e.owed = append(e.owed, m)
		return nil
	case e.c.o.Mechanism.Flagged() && m.send.Src.Set.Len() > 0 && !m.pushed:
		return e.put(m)
	case m.pushed:
		if !e.c.o.Mechanism.Flagged() {
			e.awaitCredits(run)
		}
		if err := e.push(m); err != nil {
			return err
		}
		e.owed = append(e.owed, m)
		return nil
	}
	if slices.ContainsFunc(e.owed, func(o *message) bool { return o.to == m.to }) {
		e.settle() // flags only grow: that of an earlier message comes first
	}
	e.signal(m.to, Ready, m.number, total, m.relaxed)
	return nil
}

// awaitCredits waits until those have begun whose memory a run of sends writes.
func (e *emission) awaitCredits(run []step) {
	for _, s := range run {
		if s.op.Kind != schedule.Send {
			return
		}
		if s.msg.pushed && !e.credit[s.msg.to] {
			e.settle()
			e.wait(s.msg.to, Taken, 1, 0, true)
			e.credit[s.msg.to] = true
		}
	}
}

// settle signals the messages that were pushed.
func (e *emission) settle() {
	owed := e.owed
	e.owed = nil
	for _, m := range owed {
		e.signal(m.to, Ready, m.number, e.st.total[[2]int{e.rank, m.to}], false)
	}
}

// receive reads the sender's memory, unless the sender has written or a reduction will
// read.
func (e *emission) receive(s *step) error {
	if s.msg.pushed || s.op.Dst.Set.Len() == 0 {
		return nil
	}
	if s.fused {
		e.lazy = append(e.lazy, lazySource{s.op.Dst, s.msg})
		return nil
	}
	var own []schedule.Loc
	if s.op.Kind == schedule.RecvReduce {
		own = []schedule.Loc{s.op.Src}
	}
	return e.multi(own, s.msg, s.op.Dst, s.final)
}

// reduce combines local places and fused receives.
func (e *emission) reduce(s *step) error {
	if e.c.o.Mechanism.Flagged() {
		return e.reducePackets(s)
	}
	var sources [][]Ref
	var limits [][]int64
	for _, l := range s.op.Srcs {
		refs, lim := e.source(l)
		sources, limits = append(sources, refs), append(limits, lim)
	}
	e.lazy = nil
	if k := e.ownSource(sources); k >= 0 && !s.elsewhere {
		sources = slices.Concat(sources[k+1:], sources[:k+1])
		limits = slices.Concat(limits[k+1:], limits[:k+1])
	}
	return e.multis(sources, limits, s.op.Dst, s.final)
}

// ownSource is the first source in this rank's memory, −1 without one. Peers are read
// from the next rank on, so that no rank is read by all others first.
func (e *emission) ownSource(sources [][]Ref) int {
	return slices.IndexFunc(sources, func(list []Ref) bool {
		return len(list) > 0 && list[0].Rank == e.rank && list[0].Buffer != SlotBuffer
	})
}

// source is where a place's data are: with the sender, where its receive was fused.
func (e *emission) source(l schedule.Loc) ([]Ref, []int64) {
	for _, z := range e.lazy {
		if z.dst == l {
			return e.arrived(z.msg)
		}
	}
	return e.c.refs(e.st, e.rank, l)
}

// multi combines local places and a message.
func (e *emission) multi(own []schedule.Loc, m *message, dst schedule.Loc, final bool) error {
	var sources [][]Ref
	var limits [][]int64
	for _, l := range own {
		refs, lim := e.c.refs(e.st, e.rank, l)
		sources, limits = append(sources, refs), append(limits, lim)
	}
	if m != nil {
		refs, lim := e.arrived(m)
		sources, limits = append(sources, refs), append(limits, lim)
	}
	return e.multis(sources, limits, dst, final)
}

// multis writes an operation for each chunk.
func (e *emission) multis(sources [][]Ref, limits [][]int64, dst schedule.Loc, final bool) error {
	refs, lim := e.c.refs(e.st, e.rank, dst)
	for i := range refs {
		op := Op{Kind: Multi, Destinations: []Ref{refs[i]}, Limit: lim[i]}
		for k := range sources {
			if len(sources[k]) != len(refs) {
				return fmt.Errorf("a source of %d chunks for %d", len(sources[k]), len(refs))
			}
			op.Sources = append(op.Sources, sources[k][i])
			op.Limit = shorter(op.Limit, limits[k][i])
		}
		e.result(op, final)
	}
	return nil
}

// result adds an operation that writes here; what is final is complete.
func (e *emission) result(op Op, final bool) {
	if op.Limit < 0 {
		op.Limit = e.c.pieceEnd(e.st)
	}
	if final {
		op.Flags |= Scale
	}
	e.add(op)
}

// shorter is the smaller of two lengths; −1 has no end.
func shorter(a, b int64) int64 {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// push writes a message into the receiver's memory: as another destination of the
// operation that made the data, or that moves the same data, where there is one since
// the threads last waited for one another.
func (e *emission) push(m *message) error {
	src, limits := e.c.refs(e.st, e.rank, m.send.Src)
	dst, ends := e.c.refs(e.st, m.to, m.recv.Dst)
	for i := range dst {
		if copied := e.carry(src[i], dst[i], shorter(limits[i], ends[i])); copied && e.c.o.InPlace && e.c.s.Spec.Kind.Reduces() {
			return fmt.Errorf("this schedule cannot be pushed in place: pull instead")
		}
	}
	return nil
}

// carry brings data to another place, too; false where the operation that made them does.
func (e *emission) carry(from, to Ref, limit int64) (copied bool) {
	if at := e.maker(from); at >= 0 && e.ops[at].Limit == limit {
		e.ops[at].Destinations = append(e.ops[at].Destinations, to)
		return false
	}
	e.add(Op{Kind: Multi, Sources: []Ref{from}, Destinations: []Ref{to}, Limit: limit})
	return true
}

// maker is the operation of this segment that wrote a place, or only copies from it; −1
// without one.
func (e *emission) maker(r Ref) int {
	for i := len(e.ops) - 1; i >= e.segment; i-- {
		op := &e.ops[i]
		if op.Flags&Pairs != 0 || len(op.Destinations) == 0 || len(op.Destinations) == MaxRanks {
			continue
		}
		if op.Kind == Multi && len(op.Sources) == 1 && op.Sources[0] == r ||
			(op.Kind == Multi || op.Kind == WordReduce) && op.Destinations[0] == r {
			return i
		}
	}
	return -1
}

// add appends a data operation. A copy of what another one moves becomes another
// destination of that one.
func (e *emission) add(op Op) {
	if op.Kind == Multi && len(op.Sources) == 1 && op.Flags == 0 {
		if at := e.maker(op.Sources[0]); at >= 0 && e.ops[at].Kind == Multi && e.ops[at].Limit == op.Limit && len(e.ops[at].Sources) == 1 {
			e.ops[at].Destinations = append(e.ops[at].Destinations, op.Destinations...)
			e.written.add(e.real(op.Destinations))
			return
		}
	}
	reads, writes := e.real(op.Sources), e.real(op.Destinations)
	if e.written.meet(reads) || e.written.meet(writes) || e.read.meet(writes) {
		op.Flags |= Barrier // other threads may have done that
		e.newSegment()
	}
	e.read.add(reads)
	e.written.add(writes)
	if !e.pair(op) {
		e.ops = append(e.ops, op)
	}
}

// pair joins a copy to the copies before it, so that they run side by side; false where it
// cannot.
func (e *emission) pair(op Op) bool {
	last := len(e.ops) - 1
	if last < e.segment || op.Flags != 0 || op.copies() != 1 {
		return false
	}
	to := &e.ops[last]
	n := to.copies()
	switch {
	case to.Kind != op.Kind || to.Flags&^Pairs != 0 || n == 0 || n > 1 && to.Flags&Pairs == 0:
		return false
	case op.Kind == Multi && (n == maxPairs || to.Limit != op.Limit), n == MaxRanks-1:
		return false
	case op.Kind != Multi:
		if n == 1 {
			to.Limits = []int64{to.Limit}
		}
		to.Limit, to.Limits = max(to.Limit, op.Limit), append(to.Limits, op.Limit)
	}
	to.Flags |= Pairs
	to.Sources, to.PacketSources = append(to.Sources, op.Sources...), append(to.PacketSources, op.PacketSources...)
	to.Destinations, to.PacketTargets = append(to.Destinations, op.Destinations...), append(to.PacketTargets, op.PacketTargets...)
	return true
}

// copies is how many places an operation moves, each to one other, by copying, putting or
// unpacking them; 0 where it does something else.
func (op *Op) copies() int {
	switch {
	case op.Kind == Multi && len(op.Sources) == len(op.Destinations):
		return len(op.Sources)
	case op.Kind.puts() && len(op.Sources) == len(op.PacketTargets):
		return len(op.Sources)
	case op.Kind.takes() && len(op.Sources)+len(op.PacketTargets) == 0 && len(op.PacketSources) == len(op.Destinations):
		return len(op.PacketSources)
	}
	return 0
}

func (e *emission) newSegment() {
	e.segment = len(e.ops)
	clear(e.written)
	clear(e.read)
}

// touched are the places of a segment's operations.
type touched map[Ref]struct{}

func (p *touched) add(refs []Ref) {
	if *p == nil {
		*p = touched{}
	}
	for _, r := range refs {
		(*p)[r] = struct{}{}
	}
}

func (p touched) meet(refs []Ref) bool {
	return slices.ContainsFunc(refs, func(r Ref) bool { _, ok := p[r]; return ok })
}

// real are places with input and output under one name where they are one memory.
func (e *emission) real(refs []Ref) []Ref {
	if !e.c.o.InPlace {
		return refs
	}
	out := slices.Clone(refs)
	for i := range out {
		r := &out[i]
		if b := schedule.Buffer(r.Buffer); b == schedule.Input || b == schedule.Output {
			r.Offset += e.c.at.layout.Shift(e.st.ranks[r.Rank], b) * int64(e.c.o.Size)
			r.Buffer = uint8(schedule.Output)
		}
	}
	return out
}

// signal raises a peer's flag; signals of one step are one operation.
func (e *emission) signal(peer int, line uint8, value, per int, relaxed bool) {
	e.sync(Op{Kind: Signal, Line: line, Peers: 1 << peer, Lane: e.st.lane, Value: value, PerSlice: per}, relaxed)
}

func (e *emission) wait(peer int, line uint8, value, per int, relaxed bool) {
	e.sync(Op{Kind: Wait, Line: line, Peers: 1 << peer, Lane: e.st.lane, Value: value, PerSlice: per}, relaxed)
}

func (e *emission) sync(op Op, relaxed bool) {
	if relaxed {
		op.Flags |= Relaxed
	}
	if op.Kind == Wait && relaxed && e.hoist(op) {
		return
	}
	if n := len(e.ops) - 1; n >= 0 {
		last := &e.ops[n]
		if last.joins(op) {
			last.Peers |= op.Peers
			return
		}
	}
	e.ops = append(e.ops, op)
	if op.Kind == Wait || !relaxed {
		e.newSegment()
	}
}

// hoist puts a wait for a peer's beginning ahead of the data operations of this segment,
// so that those and what the wait is for run side by side; false where there are none.
// Nobody waits for them, since signals end a segment or come before it.
func (e *emission) hoist(op Op) bool {
	if e.segment == len(e.ops) {
		return false
	}
	for i := e.segment; i < len(e.ops); i++ {
		if e.ops[i].Kind != Multi {
			return false
		}
	}
	if e.segment > 0 {
		if at := &e.ops[e.segment-1]; at.joins(op) {
			at.Peers |= op.Peers
			return true
		}
	}
	e.ops = slices.Insert(e.ops, e.segment, op)
	e.segment++
	return true
}

// joins reports whether two signals or waits are one.
func (op *Op) joins(o Op) bool {
	return op.Kind == o.Kind && op.Line == o.Line && op.Value == o.Value && op.PerSlice == o.PerSlice && op.Flags == o.Flags &&
		op.Peers&o.Peers == 0
}
