package mscclxml

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"railyard/model/collective"
	"railyard/model/program"
	"railyard/model/schedule"
)

// Import reads a file and makes a schedule of it, for buffers that are gone through in so
// many slices, one behind the other, as MSCCL does with large ones; the dialect's limits do
// not matter. The root of a broadcast or reduce is not in the file and is taken to be rank 0.
// The schedule is as good as the file: schedule.Check says whether it is right.
func Import(r io.Reader, slices int) (*schedule.Schedule, error) {
	f, err := Read(r)
	if err != nil {
		return nil, err
	}
	if err := Validate(f, Dialect{"any executor", maxNumber, maxNumber, maxNumber, maxNumber, ""}); err != nil {
		return nil, err
	}
	return f.Schedule(slices)
}

// Bounds of what is imported.
const (
	maxChunks  = 1 << 16
	maxScratch = 1 << 18
	maxGPUs    = 1 << 12
)

// Schedule is the schedule that a valid file describes, over slices.
func (f *File) Schedule(slices int) (*schedule.Schedule, error) {
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
	p := &player{l: program.NewLinear(spec, unit, f.InPlace && !f.OutOfPlace, scratch)}
	if err := whole(f, p); err != nil {
		return nil, err
	}
	s := p.l.Sliced(slices)
	s.Algorithm, s.Inputs = f.Name, map[string]string{"imported": "msccl-xml"}
	for proto, name := range protoNames {
		if name == f.Proto {
			s.Protocol = proto
		}
	}
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
		if program.Only(spec, g.ID, b.buf) >= 0 {
			want = unit
		}
		if b.have > want {
			return fmt.Errorf("line %d: gpu %d: %s=%d, but %v with %d chunks has %d there", g.Line, g.ID, b.name, b.have, spec.Kind,
				unit*spec.Blocks(), want)
		}
	}
	return nil
}

// player makes a linear program of what happens in a run.
type player struct {
	l      *program.Linear
	passed map[int]program.Place // by gpu: where a forwarding step keeps its data
}

// buffers by their names in files.
var buffers = map[string]schedule.Buffer{"i": schedule.Input, "o": schedule.Output, "s": schedule.Scratch}

// bufName is the name of a buffer in files.
func bufName(b schedule.Buffer) string {
	for _, name := range slices.Sorted(maps.Keys(buffers)) {
		if buffers[name] == b {
			return name
		}
	}
	return ""
}

func place(p Place) program.Place { return program.Place{Buf: buffers[p.Buf], At: p.Off} }

func (p *player) local(at program.Thread, s *Step) {
	if s.Type == "cpy" {
		p.l.Copy(at, place(s.Src), place(s.Dst), s.Count)
		return
	}
	p.l.Reduce(at, []program.Place{place(s.Dst), place(s.Src)}, place(s.Dst), s.Count)
}

func (p *player) send(at program.Thread, to int, s *Step) *program.Message {
	from := place(s.Src)
	if kept, ok := p.passed[at.Rank]; ok {
		from = kept
		delete(p.passed, at.Rank)
	}
	return p.l.Send(at, to, from, s.Count)
}

// recv takes a message; a step that passes it on without keeping it has it in scratch.
func (p *player) recv(at program.Thread, s *Step, m *program.Message, forward bool) {
	k, dst := kinds[s.Type], place(s.Dst)
	if s.Type == "rrs" {
		dst = p.l.Spare(at.Rank, s.Count)
	}
	if k.reduce {
		p.l.RecvReduce(m, at.Block, place(s.Src), dst)
	} else {
		p.l.Recv(m, at.Block, dst)
	}
	if forward {
		if p.passed == nil {
			p.passed = map[int]program.Place{}
		}
		p.passed[at.Rank] = dst
	}
}
