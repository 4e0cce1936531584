package mscclxml

import (
	"fmt"
	"io"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/program"
	"railyard/model/schedule"
)

// Import reads a file and makes a schedule of it, for buffers that are gone through in so
// many pieces, one behind the other, as MSCCL does with large ones; the dialect's limits do
// not matter. The root of a broadcast or reduce is not in the file and is taken to be rank 0.
// The schedule is as good as the file: schedule.Check says whether it is right. A file with a race is read where race takes
// it: as what it does if that goes well; schedules wait for what they read.
func Import(r io.Reader, pieces int, race *error) (*schedule.Schedule, error) {
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	if err := validate(f, Dialect{"any executor", maxNumber, maxNumber, maxNumber, maxNumber, ""}, race); err != nil {
		return nil, err
	}
	return f.schedule(pieces, race)
}

// Bounds of what is imported.
const (
	maxChunks  = 1 << 16
	maxScratch = 1 << 18
	maxGPUs    = 1 << 12
)

// schedule is the schedule that a valid file describes, of a buffer in so many pieces.
func (f *File) schedule(pieces int, race *error) (*schedule.Schedule, error) {
	k, err := collectives.Kind(f.Coll)
	if err != nil {
		return nil, err
	}
	spec := collective.Spec{Kind: k, Ranks: len(f.GPUs)}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if f.ChunksPerLoop%spec.Blocks() != 0 {
		return nil, fmt.Errorf("line %d: algo: nchunksperloop=%d is no multiple of the %d blocks of %v", f.Line, f.ChunksPerLoop,
			spec.Blocks(), k)
	}
	if f.ChunksPerLoop > maxChunks || len(f.GPUs) > maxGPUs {
		return nil, fmt.Errorf("line %d: algo: %d chunks on %d gpus: at most %d on %d", f.Line, f.ChunksPerLoop, len(f.GPUs), maxChunks,
			maxGPUs)
	}
	unit := f.ChunksPerLoop / spec.Blocks()
	scratch := make([]int, len(f.GPUs))
	for i, g := range f.GPUs {
		if scratch[i] = g.Scratch; g.Scratch > maxScratch {
			return nil, fmt.Errorf("line %d: gpu %d: s_chunks=%d: at most %d", g.Line, g.ID, g.Scratch, maxScratch)
		}
		if err := sizes(&g, spec, unit); err != nil {
			return nil, err
		}
	}
	l := program.NewLinear(spec, unit, f.InPlace && !f.OutOfPlace, scratch)
	if err := f.play(l, race); err != nil {
		return nil, err
	}
	s := l.Sliced(pieces)
	s.Algorithm, s.Inputs = f.Name, map[string]string{"imported": "msccl-xml"}
	s.Protocol = protocols[f.Proto]
	return s, s.Validate()
}

// sizes checks that a buffer has no more chunks than the collective gives it. An
// in-place file may have larger ones than it uses.
func sizes(g *GPU, spec collective.Spec, unit int) error {
	for _, b := range []struct {
		name string
		buf  schedule.Buffer
		have int
	}{{"i_chunks", schedule.Input, g.Input}, {"o_chunks", schedule.Output, g.Output}} {
		want := unit * spec.Blocks()
		if schedule.OnlyBlock(spec, g.ID, b.buf) >= 0 {
			want = unit
		}
		if b.have > want {
			return fmt.Errorf("line %d: gpu %d: %s=%d, but %v with %d chunks has %d there", g.Line, g.ID, b.name, b.have, spec.Kind,
				unit*spec.Blocks(), want)
		}
	}
	return nil
}

func place(p Place) program.Place {
	b, _ := foreign.BufferOf(p.Buf) // nops have no place
	return program.Place{Buf: b, At: p.Off}
}

// emit tells a linear program what a step does with the message that it takes, and returns the one that it gives.
// What a step passes on without keeping it has space of its own in scratch.
func (s *Step) emit(l *program.Linear, at program.Thread, tb *Block, in *program.Message) *program.Message {
	k, src, dst := kinds[s.Type], place(s.Src), place(s.Dst)
	switch {
	case s.Type == "nop":
		return nil
	case s.Type == "cpy":
		l.Copy(at, src, dst, s.Count)
	case s.Type == "re":
		l.Reduce(at, []program.Place{dst, src}, dst, s.Count)
	case k.recv:
		if s.Type == "rrs" {
			dst = l.Spare(at.Rank, s.Count)
		}
		src = dst // of what is passed on
		if k.reduce {
			l.RecvReduce(in, at.Block, place(s.Src), dst)
		} else {
			l.Recv(in, at.Block, dst)
		}
	}
	if !k.send {
		return nil
	}
	return l.Send(at, tb.Send, src, s.Count)
}
