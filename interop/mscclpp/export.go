package mscclpp

import (
	"encoding/json"
	"fmt"
	"io"

	"railyard/model/program"
	"railyard/model/schedule"
)

// Options of an export.
type Options struct {
	InPlace bool  // input and output are the same memory
	Nodes   []int // the node of each rank: ranks of different nodes talk over ports; nil: all are on one
}

// Export makes the plan of a schedule that schedule.Check accepts. Pipeline slices are
// left out: the plan moves each chunk as a whole.
//
// Each channel of the schedule is one strand of operations. What fits not into a thread
// block goes on in the next one, which waits for a semaphore of the first. What a rank
// receives is put where it shall be if nothing has used that place before, else into
// scratch of its own; therefore a sender waits for its receiver only once, when the
// receiver has started.
func Export(s *schedule.Schedule, o Options) (*File, error) {
	coll, err := collectives.Of(s.Spec.Kind)
	if err != nil {
		return nil, err
	}
	if s.Protocol != schedule.Simple {
		return nil, fmt.Errorf("protocol %s needs packet operations, which are not written: plan with --proto simple", s.Protocol)
	}
	if o.InPlace {
		s, err = schedule.InPlace(s)
	} else {
		err = schedule.Check(s, nil)
	}
	if err != nil {
		return nil, err
	}
	p, err := program.Build(s, maxChunks)
	if err != nil {
		return nil, err
	}
	p.InPlace = o.InPlace
	f := &File{Name: s.Algorithm, Collective: coll, Protocol: "Simple", InPlace: o.InPlace, Alignment: 16, Threads: 1024}
	if err := adapters(s, o.Nodes); err != nil {
		return nil, err
	}
	b := newBuilder(p, o)
	for r := range p.Ranks {
		f.GPUs = append(f.GPUs, b.gpu(r))
	}
	f.bound()
	if err := Validate(f); err != nil {
		return nil, fmt.Errorf("the plan does not fit MSCCL++'s executor: %w; "+
			"plan with fewer channels (--channels 1) or another --algo", err)
	}
	return f, nil
}

// Write writes the plan as JSON.
func (f *File) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(f)
}

// message is where the data of a message land at the receiver.
type message struct {
	at     program.Place
	direct bool // where they shall be
}

// msgKey names a message.
type msgKey struct{ channel, from, to, seq int }

// link is a connection of a strand, one way.
type link struct{ channel, from, to int }

// builder makes the GPUs.
type builder struct {
	p       *program.Program
	o       Options
	scratch []int
	landing map[msgKey]message
	links   []link       // in order
	last    map[link]int // number of its messages
}

func newBuilder(p *program.Program, o Options) *builder {
	b := &builder{p: p, o: o, scratch: append([]int(nil), p.Scratch...), landing: map[msgKey]message{}, last: map[link]int{}}
	for r := range p.Ranks {
		b.land(r)
	}
	n := p.Spec.Ranks
	for c := range p.Channels {
		for from := range n {
			for to := range n {
				if b.last[link{c, from, to}] > 0 {
					b.links = append(b.links, link{c, from, to})
				}
			}
		}
	}
	return b
}

// land decides where what a rank receives is put.
func (b *builder) land(r int) {
	used := map[program.Place]bool{}
	shared := func(p program.Place, k int) program.Place {
		p.At += k
		return b.p.Memory(r, p)
	}
	for i := range b.p.Ranks[r] {
		s := &b.p.Ranks[r][i]
		if s.Kind == schedule.Recv || s.Kind == schedule.RecvReduce {
			m := message{at: s.Dst, direct: s.Kind == schedule.Recv}
			for k := range s.Count {
				m.direct = m.direct && !used[shared(s.Dst, k)]
			}
			if !m.direct {
				m.at = program.Place{Buf: schedule.Scratch, At: b.scratch[r]}
				b.scratch[r] += s.Count
			}
			b.landing[msgKey{s.Channel, s.Peer, r, s.Seq}] = m
			b.last[link{s.Channel, s.Peer, r}]++
		}
		for k := range s.Count {
			for _, p := range s.Reads() {
				used[shared(p, k)] = true
			}
			if s.Writes() {
				used[shared(s.Dst, k)] = true
			}
		}
	}
}

// kind is the type of channel between two ranks.
func (b *builder) kind(x, y int) string {
	if b.o.Nodes != nil && b.o.Nodes[x] != b.o.Nodes[y] {
		return port
	}
	return memory
}

// gpu makes a rank's part of the plan.
func (b *builder) gpu(r int) GPU {
	g := &gpuBuilder{builder: b, rank: r, channelOf: map[link]int{}, remote: map[remoteKey]int{},
		out: GPU{ID: r, Input: b.p.Input[r], Output: b.p.Output[r], Blocks: []Block{}, Channels: []Channels{},
			RemoteBuffers: []RemoteBuffer{}, Semaphores: []Semaphore{}}}
	for _, kind := range []string{memory, port} {
		g.connect(kind)
	}
	for c := range b.p.Channels {
		g.strand(c)
	}
	g.out.Scratch = b.scratch[r]
	return g.out
}

// connect makes the rank's channels of a type: one for each connection, either way. Both
// ends number them alike, by strand, sender and receiver.
func (g *gpuBuilder) connect(kind string) {
	ch := Channels{Type: kind}
	for _, l := range g.links {
		peer := l.to
		if l.to == g.rank {
			peer = l.from
		}
		if (l.from == g.rank || l.to == g.rank) && g.kind(l.from, l.to) == kind {
			g.channelOf[l] = len(ch.To)
			ch.To = append(ch.To, peer)
		}
	}
	if len(ch.To) > 0 {
		g.out.Channels = append(g.out.Channels, ch)
	}
}

// remoteKey is a peer's buffer by a type of channel.
type remoteKey struct {
	rank int
	buf  schedule.Buffer
	kind string
}
