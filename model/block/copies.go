package block

import (
	"fmt"

	"railyard/model/schedule"
)

// Copying is a schedule run by copy engines: DMA moves the bytes, short kernels signal,
// wait and reduce. A stage is one phase of one slice; its kernel runs when its copies
// have ended and tells the peers, waits for theirs, then does the phase's local work.
type Copying struct {
	Ranks, Blocks int
	Scratch       int64
	Start, End    []Lane      // by rank: handshakes around all copies
	Local         []Lane      // by rank: copies within the rank, beside everything else; may be empty
	Stages        []CopyStage // in the order in which copies are queued
}

// CopyStage is a phase of a slice.
type CopyStage struct {
	Phase, Slice int
	Copies       [][]Transfer // by rank
	Kernel       []Lane       // by rank; nil where nothing is to be done before the end
}

// CompileCopies turns a schedule whose phases are all direct into copies and kernels.
// Blocks are the thread blocks of a reducing kernel.
func CompileCopies(s *schedule.Schedule, o Options) (*Copying, error) {
	if len(s.Channels) != 1 {
		return nil, fmt.Errorf("copy engines take schedules of one channel, not %d", len(s.Channels))
	}
	for i, ph := range s.Channels[0].Phases {
		if ph.Gen != schedule.GenDirect {
			return nil, fmt.Errorf("phase %d is %s: copy engines take direct phases, where nothing is forwarded", i, ph.Gen)
		}
	}
	blocks := o.Instances
	o.Instances, o.Mechanism = 1, Pull
	s, err := inPlace(s, o)
	if err != nil {
		return nil, err
	}
	c := newCompiler(s, o)
	d := &dma{c: c, p: &Copying{Ranks: c.s.Spec.Ranks, Blocks: blocks, Scratch: c.at.scratch(0) * int64(o.Size)}}
	return d.p, d.compile()
}

// dma compiles for copy engines.
type dma struct {
	c *compiler
	p *Copying
}

func (d *dma) compile() error {
	ch := &d.c.s.Channels[0]
	phases, err := d.c.marked(d.c.phases(0))
	if err != nil {
		return err
	}
	d.p.Local = make([]Lane, d.p.Ranks)
	// Slice p of a phase is queued before slice p−1 of the next one, which has to wait for
	// a reduction.
	for t := range ch.Slices + len(phases) - 1 {
		for p, st := range phases {
			if slice := t - p; slice >= 0 && slice < ch.Slices {
				if err := d.stage(st, p, slice); err != nil {
					return err
				}
			}
		}
	}
	last := len(phases)*ch.Slices + 2
	for r := range d.p.Ranks {
		d.p.Start = append(d.p.Start, handshake(d.p.Ranks, r, 1, Relaxed))
		d.p.End = append(d.p.End, handshake(d.p.Ranks, r, last, 0))
	}
	return nil
}

// handshake tells all peers and waits for all of them.
func handshake(ranks, rank, value int, flags uint8) Lane {
	peers := (uint32(1)<<ranks - 1) &^ (1 << rank)
	l := Lane{Slices: 1}
	if peers != 0 {
		l.Body = []Op{{Kind: Signal, Flags: flags, Line: Ready, Peers: peers, Value: value},
			{Kind: Wait, Flags: flags, Line: Ready, Peers: peers, Value: value}}
	}
	return l
}

func (d *dma) stage(st *strand, phase, slice int) error {
	s := CopyStage{Phase: phase, Slice: slice, Copies: make([][]Transfer, d.p.Ranks)}
	work := phase < len(d.c.s.Channels[0].Phases)-1
	for r, steps := range st.steps {
		// Stages are numbered in the order of the queue: a peer's flag only grows.
		l := handshake(d.p.Ranks, r, 2+len(d.p.Stages), 0)
		meeting := len(l.Body)
		for i := range steps {
			if err := d.step(st, &l, &s.Copies[r], &steps[i], r, slice); err != nil {
				return err
			}
		}
		work = work || len(l.Body) > meeting
		s.Kernel = append(s.Kernel, l)
	}
	if !work {
		s.Kernel = nil
	}
	d.p.Stages = append(d.p.Stages, s)
	return nil
}

func (d *dma) step(st *strand, l *Lane, copies *[]Transfer, s *step, rank, slice int) error {
	switch s.op.Kind {
	case schedule.Recv:
		return nil
	case schedule.Send:
		from, limits := d.c.refs(st, rank, s.op.Src)
		to, ends := d.c.refs(st, s.msg.to, s.msg.recv.Dst)
		for i := range from {
			if off, n := d.part(shorter(limits[i], ends[i]), slice); n > 0 {
				*copies = append(*copies, Transfer{moved(from[i], off), moved(to[i], off), n})
			}
		}
		return nil
	case schedule.RecvReduce:
		return fmt.Errorf("copy engines cannot combine what they receive: use direct phases")
	}
	sources := s.op.Srcs
	if s.op.Kind == schedule.Copy {
		sources = []schedule.Loc{s.op.Src}
	}
	dst, limits := d.c.refs(st, rank, s.op.Dst)
	for i := range dst {
		off, n := d.part(limits[i], slice)
		if n == 0 {
			continue
		}
		op := Op{Kind: Multi, Destinations: []Ref{moved(dst[i], off)}, Limit: n}
		for _, src := range sources {
			refs, _ := d.c.refs(st, rank, src)
			op.Sources = append(op.Sources, moved(refs[i], off))
		}
		if s.final {
			op.Flags |= Scale
		}
		to := l
		if s.op.Kind == schedule.Copy && s.op.Src.Buf == schedule.Input {
			to = &d.p.Local[rank]
			to.Slices = 1
		}
		to.Unit = max(to.Unit, (n/int64(d.p.Blocks)+16)/16*16)
		to.Body = append(to.Body, op)
	}
	return nil
}

// part is a slice of a place: where it begins and how long it is.
func (d *dma) part(limit int64, slice int) (off, n int64) {
	size := int64(d.c.o.Size)
	off = d.c.at.stride(0) * size * int64(slice)
	n = d.c.at.unit(0) * size
	if limit >= 0 {
		n = min(n, limit-off)
	}
	return off, max(n, 0)
}

func moved(r Ref, by int64) Ref {
	r.Offset += by
	return r
}
