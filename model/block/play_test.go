package block

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// playOff runs stages as the GPUs would, on memory of bytes, one operation of one block or one message
// between nodes at a time, in an order that only flags, packets, streams and groups bound: the slow oracle
// of what is compiled. Bytes are added modulo 256. Of each rank, one launch follows another; when one
// begins its input is new and its output poisoned, when one ends its output has to be right.
type playOff struct {
	s        *schedule.Schedule
	o        Options
	p        *Staged
	layout   *schedule.Layout
	random   *rand.Rand
	node     []int // of each rank, whose memory those of others do not reach; nil: all do
	slots    int64 // bytes of a launch's
	turns    int   // launches that have slots
	launches int
	mem      map[[2]int][]byte // by rank and buffer
	flags    map[flagOf]int
	packets  map[packetAt]packet
	wanted   map[packetAt]bool      // what is ever taken
	waiting  map[any][]*playedBlock // for a flag (flagOf) or for a packet (packetAt)
	ranks    []playing
	pairs    []*playedPair
	bells    []*playedBell
}

// flagOf is a flag in the memory of to.
type flagOf struct {
	to, from, lane, instance int
	line                     uint8
}

// packetAt is a place in a half of a packet buffer.
type packetAt struct {
	rank, half int
	offset     int64
}

type packet struct {
	epoch int
	data  []byte
}

// playing is a rank's launch.
type playing struct {
	epoch   int
	streams []playedStream
}

// playedStream is how far a rank's stream has come.
type playedStream struct {
	stage  int
	blocks []*playedBlock // of the stage's kernel
	posted bool           // its group
	open   int            // messages of it
}

// playedPair is what two ranks have posted to one another's communicator of a stream, in order.
type playedPair struct {
	stream, from, to int
	sends, receives  []Transfer
	urgency          float64
}

// playedBell is a bell of an instance, with how far its proxy is: what it has raised for the receiver.
type playedBell struct {
	*Bell
	rank, instance int
	raised, told   int
	urgency        float64
}

// playedBlock is one thread block: of all that could go on, the most urgent does.
type playedBlock struct {
	rank, number, instance int
	stream                 int
	ranks                  []int // those that its kernel numbers
	lane                   *Lane
	at, slice              int // in body, slice after slice
	part                   int // before, body, after
	urgency                float64
	read, written          []stretch // since its threads last waited for one another
	took                   bool      // packets, since then
	waits                  bool      // for something that nobody has written since it was looked at
}

// stretch is bytes of memory.
type stretch struct {
	at Ref
	n  int64
}

func (s stretch) meets(list []stretch) bool {
	return slices.ContainsFunc(list, func(o stretch) bool {
		return s.at.Rank == o.at.Rank && s.at.Buffer == o.at.Buffer && s.at.Offset < o.at.Offset+o.n && o.at.Offset < s.at.Offset+s.n
	})
}

// playedLaunches are those of what has packets.
const playedLaunches = packetTurns + 1

// oneStage is a program for one node.
func oneStage(p *Program) *Staged {
	ranks := make([]int, p.Ranks)
	for r := range ranks {
		ranks[r] = r
	}
	return &Staged{Nodes: [][]int{ranks}, Streams: [][]Stage{{{Kernels: []*Program{p}}}}, Scratch: p.Scratch}
}

// proxied is what plays off a program whose messages between nodes proxies carry.
func proxied(s *schedule.Schedule, o Options, p *Program, random *rand.Rand) *playOff {
	x := newPlayOff(s, o, oneStage(p), random)
	x.node, x.slots, x.turns = p.Node, p.SlotBytes, p.SlotTurns
	x.launches = x.turns + 1
	for r := range s.Spec.Ranks {
		x.mem[[2]int{r, SlotBuffer}] = make([]byte, int64(p.SlotTurns)*p.SlotBytes)
		for i := range p.Bells[r] {
			for instance := range p.Instances {
				x.bells = append(x.bells, &playedBell{Bell: &p.Bells[r][i], rank: r, instance: instance, urgency: random.Float64()})
			}
		}
	}
	return x
}

func newPlayOff(s *schedule.Schedule, o Options, p *Staged, random *rand.Rand) *playOff {
	x := &playOff{s: s, o: o, p: p, layout: schedule.NewLayout(s, o.Count, 1), random: random, mem: map[[2]int][]byte{},
		flags: map[flagOf]int{}, packets: map[packetAt]packet{},
		launches: playedLaunches, wanted: map[packetAt]bool{}, waiting: map[any][]*playedBlock{}, ranks: make([]playing, s.Spec.Ranks)}
	for r := range s.Spec.Ranks {
		in, out := x.layout.Elements(r, schedule.Input), x.layout.Elements(r, schedule.Output)
		if o.InPlace {
			in, out = 0, max(in, out)
		}
		x.mem[[2]int{r, int(schedule.Input)}] = make([]byte, in*int64(o.Size))
		x.mem[[2]int{r, int(schedule.Output)}] = make([]byte, out*int64(o.Size))
		x.mem[[2]int{r, int(schedule.Scratch)}] = make([]byte, p.Scratch)
		x.mem[[2]int{r, ControlBuffer}] = make([]byte, FlagLine)
		x.wants(r)
	}
	return x
}

// wants goes through a rank's launch for what it takes, in both halves.
func (x *playOff) wants(rank int) {
	for stream, stages := range x.p.Streams {
		for stage := range stages {
			for _, b := range x.blocks(rank, stream, stage) {
				for op := b.op(); op != nil; op = b.op() {
					for i, r := range op.PacketSources {
						if _, n := b.shareOf(op, i); n > 0 {
							at := x.place(b, op, r)
							x.wanted[at] = true
							at.half ^= 1
							x.wanted[at] = true
						}
					}
					b.at++
				}
			}
		}
	}
}

// blocks are those of a rank in a stage's kernel.
func (x *playOff) blocks(rank, stream, stage int) (out []*playedBlock) {
	for n, ranks := range x.p.Nodes {
		p, local := x.p.Streams[stream][stage].Kernels[n], slices.Index(ranks, rank)
		if p == nil || local < 0 {
			continue
		}
		for l := range p.Lanes[local] {
			for i := range p.Instances {
				out = append(out, &playedBlock{rank: rank, number: l, instance: i, stream: stream, ranks: ranks, lane: &p.Lanes[local][l],
					urgency: x.random.Float64()})
			}
		}
	}
	return slices.DeleteFunc(out, func(b *playedBlock) bool { return b.op() == nil })
}

// input is byte i of a rank's input in a launch.
func input(epoch, rank int, i int64) byte { return byte(epoch*101 + rank*31 + int(i)*7) }

// bytes are the memory from a place on.
func (x *playOff) bytes(r Ref) []byte {
	r = x.physical(r)
	return x.mem[[2]int{r.Rank, int(r.Buffer)}][r.Offset:]
}

// physical is a place in the memory that it is in: in place input and output are one.
func (x *playOff) physical(r Ref) Ref {
	if x.o.InPlace && r.Buffer < uint8(schedule.Scratch) {
		_, n := x.layout.Block(0, schedule.Output, 0)
		shifted := x.s.Spec.Kind == collective.AllGather && r.Buffer == uint8(schedule.Input) ||
			x.s.Spec.Kind == collective.ReduceScatter && r.Buffer == uint8(schedule.Output)
		if shifted {
			r.Offset += int64(r.Rank) * n * int64(x.o.Size)
		}
		r.Buffer = uint8(schedule.Output)
	}
	return r
}

// begin is a rank's next launch.
func (x *playOff) begin(rank int) {
	k := &x.ranks[rank]
	k.epoch++
	for i := range x.mem[[2]int{rank, int(schedule.Output)}] {
		x.mem[[2]int{rank, int(schedule.Output)}][i] = 0xcc
	}
	in := x.bytes(Ref{Rank: rank, Buffer: uint8(schedule.Input)})
	for i := range x.layout.Elements(rank, schedule.Input) * int64(x.o.Size) {
		in[i] = input(k.epoch, rank, i)
	}
	k.streams = make([]playedStream, len(x.p.Streams))
	for n, stages := range x.p.Streams {
		if len(stages) > 0 {
			k.streams[n].blocks = x.blocks(rank, n, 0)
		}
	}
}

// goOn takes a rank's streams as far as they come without anybody's work; true at the end of its launch.
func (x *playOff) goOn(rank int) bool {
	ended := true
	for n := range x.ranks[rank].streams {
		k, stages := &x.ranks[rank].streams[n], x.p.Streams[n]
		for k.stage < len(stages) && len(k.blocks) == 0 {
			if !k.posted {
				k.open, k.posted = x.post(rank, n, stages[k.stage].Group), true
			}
			if k.open > 0 {
				break
			}
			if k.stage, k.posted = k.stage+1, false; k.stage < len(stages) {
				k.blocks = x.blocks(rank, n, k.stage)
			}
		}
		ended = ended && k.stage == len(stages)
	}
	return ended
}

// post posts a rank's messages of a group.
func (x *playOff) post(rank, stream int, group []Transfer) (open int) {
	for _, t := range group {
		if t.From.Rank == rank {
			p := x.pair(stream, rank, t.To.Rank)
			p.sends = append(p.sends, t)
			open++
		}
		if t.To.Rank == rank {
			p := x.pair(stream, t.From.Rank, rank)
			p.receives = append(p.receives, t)
			open++
		}
	}
	return open
}

func (x *playOff) pair(stream, from, to int) *playedPair {
	for _, p := range x.pairs {
		if p.stream == stream && p.from == from && p.to == to {
			return p
		}
	}
	p := &playedPair{stream: stream, from: from, to: to, urgency: x.random.Float64()}
	x.pairs = append(x.pairs, p)
	return p
}

// carry brings the first message that both ranks have posted.
func (x *playOff) carry(p *playedPair) error {
	from, to := p.sends[0], p.receives[0]
	p.sends, p.receives, p.urgency = p.sends[1:], p.receives[1:], x.random.Float64()
	if from.Bytes != to.Bytes {
		return fmt.Errorf("rank %d sends %d bytes where rank %d receives %d", p.from, from.Bytes, p.to, to.Bytes)
	}
	copy(x.bytes(to.To)[:to.Bytes], x.bytes(from.From)[:from.Bytes])
	x.ranks[p.from].streams[p.stream].open--
	x.ranks[p.to].streams[p.stream].open--
	return nil
}

// end checks a rank's output.
func (x *playOff) end(rank int) error {
	spec, size := x.s.Spec, int64(x.o.Size)
	out := x.bytes(Ref{Rank: rank, Buffer: uint8(schedule.Output)})
	for b := range spec.Blocks() {
		if !spec.Wants(rank, b) {
			continue
		}
		off, n := x.layout.Block(rank, schedule.Output, b)
		for i := range n * size {
			var want byte
			for r := range spec.Ranks {
				src, sb := r, b
				if !spec.Kind.Reduces() {
					src, sb = spec.Origin(rank, b)
				}
				from, _ := x.layout.Block(src, schedule.Input, sb)
				if want += input(x.ranks[rank].epoch, src, from*size+i); !spec.Kind.Reduces() {
					break
				}
			}
			if got := out[off*size+i]; got != want {
				return fmt.Errorf("launch %d, rank %d block %d byte %d: %d instead of %d", x.ranks[rank].epoch, rank, b, i, got, want)
			}
		}
	}
	return nil
}

// run plays all launches.
func (x *playOff) run() error {
	for r := range x.ranks {
		x.begin(r)
	}
	for {
		for r := range x.ranks {
			if err := x.follow(r); err != nil {
				return err
			}
		}
		b, p := x.next()
		bell := x.rung()
		switch {
		case bell != nil && (b == nil || bell.urgency > b.urgency):
			x.serve(bell)
		case p != nil && (b == nil || p.urgency > b.urgency):
			if err := x.carry(p); err != nil {
				return err
			}
		case b == nil:
			return x.ended()
		default:
			if err := x.play(b); err != nil {
				return err
			}
		}
	}
}

// follow goes on with a rank, from launch to launch.
func (x *playOff) follow(rank int) error {
	for x.goOn(rank) && x.ranks[rank].epoch <= x.launches {
		if err := x.end(rank); err != nil {
			return err
		}
		if x.ranks[rank].epoch == x.launches {
			x.ranks[rank].epoch++ // it has ended
			return nil
		}
		x.begin(rank)
	}
	return nil
}

// play does a block's next operation.
func (x *playOff) play(b *playedBlock) error {
	if err := x.do(b); err != nil {
		return err
	}
	if x.random.IntN(8) == 0 {
		b.urgency = x.random.Float64()
	}
	if b.op() == nil {
		k := &x.ranks[b.rank].streams[b.stream]
		k.blocks = slices.DeleteFunc(k.blocks, func(o *playedBlock) bool { return o == b })
	}
	return nil
}

// ended is the error of ranks that nobody lets go on.
func (x *playOff) ended() error {
	for r, k := range x.ranks {
		for _, s := range k.streams {
			for _, b := range s.blocks {
				return fmt.Errorf("launch %d, rank %d lane %d block %d waits for ever: %+v", k.epoch, r, b.number, b.instance, b.op())
			}
			if s.open > 0 {
				return fmt.Errorf("launch %d, rank %d waits for %d messages of stage %d", k.epoch, r, s.open, s.stage)
			}
		}
	}
	return nil
}

// next is the most urgent block that is ready, and the most urgent message.
func (x *playOff) next() (best *playedBlock, message *playedPair) {
	for _, k := range x.ranks {
		for _, s := range k.streams {
			for _, b := range s.blocks {
				if !b.waits && (best == nil || b.urgency > best.urgency) && x.ready(b) {
					best = b
				}
			}
		}
	}
	for _, p := range x.pairs {
		if len(p.sends) > 0 && len(p.receives) > 0 && (message == nil || p.urgency > message.urgency) {
			message = p
		}
	}
	return best, message
}

// op is what a block does next, nil at its end.
func (b *playedBlock) op() *Op {
	for ; b.part < 3; b.part++ {
		list := [][]Op{b.lane.Before, b.lane.Body, b.lane.After}[b.part]
		if b.at == len(list) && b.part == 1 && b.slice+1 < b.lane.Slices {
			b.at, b.slice = 0, b.slice+1
		}
		if b.at < len(list) {
			return &list[b.at]
		}
		b.at = 0
	}
	return nil
}

// seen is a place of the block's kernel as the schedule numbers ranks, in the launch's slots.
func (x *playOff) seen(b *playedBlock, r Ref) Ref {
	r.Rank = b.ranks[r.Rank]
	if r.Buffer == SlotBuffer {
		r.Offset += int64(x.ranks[b.rank].epoch%x.turns) * x.slots
	}
	return r
}

// rung is the most urgent bell that has been raised and not told.
func (x *playOff) rung() (best *playedBell) {
	for _, b := range x.bells {
		if b.raised > b.told && (best == nil || b.urgency > best.urgency) {
			best = b
		}
	}
	return best
}

// serve does a proxy's work: the next step of a bell.
func (x *playOff) serve(b *playedBell) {
	b.told = b.Next(b.told)
	epoch, slice, message := b.Step(b.told)
	for _, p := range message {
		skip, n := b.Share(p, slice, b.instance)
		skip += int64(epoch%x.turns) * x.slots
		copy(x.bytes(Ref{b.To, SlotBuffer, p.At + skip})[:n], x.bytes(Ref{b.rank, SlotBuffer, p.From + skip})[:n])
	}
	at := flagOf{b.To, b.rank, b.Lane, b.instance, b.Line}
	x.flags[at] = b.told
	x.wake(at)
	b.urgency = x.random.Float64()
}

// reaches reports whether a rank reaches another's memory.
func (x *playOff) reaches(a, b int) bool { return x.node == nil || x.node[a] == x.node[b] }

// in is the slice of what a block does next.
func (b *playedBlock) in() int {
	if b.part == 1 {
		return b.slice
	}
	return 0
}

// share is where the block's part of an operation begins, and its bytes.
func (b *playedBlock) share(limit int64) (skip, n int64) {
	skip = int64(b.in())*b.lane.Stride + int64(b.instance)*b.lane.Unit
	return skip, min(max(limit-skip, 0), b.lane.Unit)
}

// shareOf is that of pair i.
func (b *playedBlock) shareOf(op *Op, i int) (skip, n int64) {
	if op.Flags&Pairs != 0 && op.Limits != nil {
		return b.share(op.Limits[i])
	}
	return b.share(op.Limit)
}

// ready reports whether a block could go on; one that could not is looked at again when what it lacks is written.
func (x *playOff) ready(b *playedBlock) bool {
	op := b.op()
	epoch := x.ranks[b.rank].epoch
	if op.Kind == Wait {
		want := epoch<<20 | (op.Value + b.in()*op.PerSlice)
		if op.Flags&Earlier != 0 {
			if want = (epoch-op.PerSlice)<<20 | op.Value; epoch <= op.PerSlice {
				return true
			}
		}
		for peers := op.Peers; peers != 0; peers &= peers - 1 {
			at := flagOf{b.rank, b.ranks[bits.TrailingZeros32(peers)], op.Lane, b.instance, op.Line}
			if x.flags[at] < want {
				return x.wait(b, at)
			}
		}
	}
	for i, r := range op.PacketSources {
		if _, n := b.shareOf(op, i); n > 0 {
			if at := x.place(b, op, r); x.packets[at].epoch != epoch {
				return x.wait(b, at)
			}
		}
	}
	return true
}

// wait has a block wait for a flag or a packet: false.
func (x *playOff) wait(b *playedBlock, at any) bool {
	b.waits = true
	x.waiting[at] = append(x.waiting[at], b)
	return false
}

// wake has those who wait for a flag or a packet looked at again.
func (x *playOff) wake(at any) {
	for _, b := range x.waiting[at] {
		b.waits = false
	}
	delete(x.waiting, at)
}

// place is that of the block's part in a packet buffer.
func (x *playOff) place(b *playedBlock, op *Op, r Ref) packetAt {
	return packetAt{b.ranks[r.Rank], x.ranks[b.rank].epoch & 1, r.Offset + op.packetBytes(int64(b.in())*b.lane.Stride) +
		op.packetBytes(int64(b.instance)*b.lane.Unit)}
}

func (x *playOff) do(b *playedBlock) (err error) {
	op := b.op()
	if op.Kind == Wait || op.Kind == Signal && op.Flags&Relaxed == 0 || op.Flags&Barrier != 0 {
		b.read, b.written, b.took = nil, nil, false
	}
	switch op.Kind {
	case Wait:
	case Signal:
		err = x.raise(b, op)
	default:
		err = x.move(b, op)
	}
	b.at++
	return err
}

// raise raises flags, which only grow. What they give back, no thread may still be reading.
func (x *playOff) raise(b *playedBlock, op *Op) error {
	others := func(s stretch) bool { return s.at.Rank != b.rank || s.at.Buffer == SlotBuffer }
	if op.Line == Taken && (b.took || slices.ContainsFunc(b.read, others)) {
		return fmt.Errorf("%+v says that something was taken by threads that it does not wait for", op)
	}
	v := x.ranks[b.rank].epoch<<20 | (op.Value + b.in()*op.PerSlice)
	for peers := op.Peers; peers != 0; peers &= peers - 1 {
		if to := b.ranks[bits.TrailingZeros32(peers)]; !x.reaches(b.rank, to) {
			at := slices.IndexFunc(x.bells, func(o *playedBell) bool {
				return o.rank == b.rank && o.instance == b.instance && o.To == to && o.Lane == op.Lane && o.Line == op.Line
			})
			if at < 0 || x.bells[at].raised >= v {
				return fmt.Errorf("%+v raises a bell that there is not, or that was raised as far before", op)
			}
			x.bells[at].raised = v
			continue
		}
		f := flagOf{b.ranks[bits.TrailingZeros32(peers)], b.rank, op.Lane, b.instance, op.Line}
		if x.flags[f] >= v {
			return fmt.Errorf("flag %+v was %#x before it is %#x", f, x.flags[f], v)
		}
		x.flags[f] = v
		x.wake(f)
	}
	return nil
}

// move does an operation on data: of pairs each, else of all sources their sum.
func (x *playOff) move(b *playedBlock, op *Op) error {
	if op.Flags&Pairs == 0 {
		return x.combine(b, op, 0, op.Sources, op.PacketSources, op.Destinations, op.PacketTargets)
	}
	one := func(list []Ref, i int) []Ref {
		if i < len(list) {
			return list[i : i+1]
		}
		return nil
	}
	for i := range op.copies() {
		if err := x.combine(b, op, i, one(op.Sources, i), one(op.PacketSources, i), one(op.Destinations, i),
			one(op.PacketTargets, i)); err != nil {
			return err
		}
	}
	return nil
}

// apart refuses what some threads of a block may do before others have done what it rests on: another
// operation's threads need not be those that have the same bytes here.
func (x *playOff) apart(b *playedBlock, skip, n int64, sources, destinations []Ref) error {
	stretches := func(list []Ref) (out []stretch) {
		for _, r := range list {
			r = x.physical(x.seen(b, r))
			r.Offset += skip
			out = append(out, stretch{r, n})
		}
		return out
	}
	reads, writes := stretches(sources), stretches(destinations)
	for _, s := range reads {
		if s.meets(b.written) {
			return fmt.Errorf("%+v is read by threads that did not wait for those that wrote it", s)
		}
	}
	for _, s := range writes {
		if s.meets(b.written) || s.meets(b.read) {
			return fmt.Errorf("%+v is written by threads that did not wait for those that used it", s)
		}
	}
	b.read, b.written = append(b.read, reads...), append(b.written, writes...)
	return nil
}

func (x *playOff) combine(b *playedBlock, op *Op, i int, sources, packets, destinations, targets []Ref) error {
	skip, n := b.shareOf(op, i)
	if n == 0 {
		return nil
	}
	if err := x.apart(b, skip, n, sources, destinations); err != nil {
		return err
	}
	for _, r := range slices.Concat(sources, packets, destinations, targets) {
		if !x.reaches(b.rank, b.ranks[r.Rank]) {
			return fmt.Errorf("%+v is in another node than rank %d", r, b.rank)
		}
	}
	epoch, sum := x.ranks[b.rank].epoch, make([]byte, n)
	add := func(data []byte) {
		for k := range sum {
			sum[k] += data[k]
		}
	}
	for _, r := range sources {
		add(x.bytes(x.seen(b, r))[skip:])
	}
	for _, r := range packets {
		at := x.place(b, op, r)
		if int64(len(x.packets[at].data)) < n {
			return fmt.Errorf("%d bytes are taken of %d that were put", n, len(x.packets[at].data))
		}
		add(x.packets[at].data)
		delete(x.packets, at)
		b.took = true
	}
	for _, r := range destinations {
		copy(x.bytes(x.seen(b, r))[skip:], sum)
	}
	for _, r := range targets {
		at := x.place(b, op, r)
		if !x.wanted[at] {
			continue // of uneven counts more is put than is taken
		}
		if old, full := x.packets[at]; full {
			return fmt.Errorf("launch %d of rank %d puts packets where those of launch %d have not been taken", epoch, b.rank, old.epoch)
		}
		x.packets[at] = packet{epoch, slices.Clone(sum)}
		x.wake(at)
	}
	return nil
}
