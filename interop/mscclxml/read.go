package mscclxml

import (
	"io"
	"math"

	"railyard/interop/foreign"
)

// Read reads the form of a file; Validate checks the rest.
func Read(r io.Reader) (*File, error) {
	data, err := foreign.Read(r, 64)
	if err != nil {
		return nil, err
	}
	f := &File{}
	x := foreign.XML{What: "MSCCL file", DoubleQuotes: true, Open: f.open,
		Parents: map[string]string{"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}}
	return f, x.Read(data)
}

// open takes an element into the file.
func (f *File) open(e *foreign.Element) error {
	switch e.Name {
	case "algo":
		f.algo(e)
		return nil
	case "gpu":
		f.GPUs = append(f.GPUs, GPU{ID: number(e, "id"), Input: number(e, "i_chunks"), Output: number(e, "o_chunks"),
			Scratch: number(e, "s_chunks"), Line: e.Line})
		return nil
	}
	g := &f.GPUs[len(f.GPUs)-1]
	if e.Name == "tb" {
		g.Blocks = append(g.Blocks, Block{ID: number(e, "id"), Send: number(e, "send"), Recv: number(e, "recv"),
			Channel: number(e, "chan"), Line: e.Line})
		return nil
	}
	tb := &g.Blocks[len(g.Blocks)-1]
	tb.Steps = append(tb.Steps, step(e))
	return nil
}

func (f *File) algo(e *foreign.Element) {
	f.Name, f.Proto, f.Coll = e.Text("name"), e.Text("proto"), e.Text("coll")
	f.Channels, f.ChunksPerLoop, f.declaredGPUs = number(e, "nchannels"), number(e, "nchunksperloop"), number(e, "ngpus")
	f.InPlace, f.Line = number(e, "inplace") != 0, e.Line
	f.OutOfPlace = !f.InPlace
	if e.Has("outofplace") {
		f.OutOfPlace = number(e, "outofplace") != 0
	}
	for _, x := range []struct {
		name string
		to   *int64
	}{{"minBytes", &f.MinBytes}, {"maxBytes", &f.MaxBytes}} {
		if e.Has(x.name) {
			*x.to = e.Int(x.name, math.MinInt64, math.MaxInt64)
		}
	}
}

func step(e *foreign.Element) Step {
	return Step{Type: e.Text("type"), S: number(e, "s"), Src: Place{e.Text("srcbuf"), number(e, "srcoff")},
		Dst:   Place{e.Text("dstbuf"), number(e, "dstoff")},
		Count: number(e, "cnt"), DepBlock: number(e, "depid"), DepStep: number(e, "deps"), HasDep: flag(e, "hasdep"), Line: e.Line}
}

// maxNumber bounds sizes and numbers of parts.
const maxNumber = 1 << 24

func number(e *foreign.Element, name string) int { return int(e.Int(name, -1, maxNumber)) }

func flag(e *foreign.Element, name string) bool { return e.Int(name, 0, 1) == 1 }
