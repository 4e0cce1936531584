package mscclxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxFile bounds what Read takes.
const maxFile = 64 << 20

// Read reads the form of a file; Validate checks the rest.
func Read(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	p := &parser{d: xml.NewDecoder(bytes.NewReader(data)), f: &File{}}
	for {
		err := p.token()
		switch {
		case errors.Is(err, io.EOF) && p.f.Line > 0:
			return p.f, nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("no algo element: this is no MSCCL file")
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
}

// parser goes through the elements; they nest one way only.
type parser struct {
	d    *xml.Decoder
	f    *File
	path []string
	line int
}

// parents is where each element stands.
var parents = map[string]string{"algo": "", "gpu": "algo", "tb": "gpu", "step": "tb"}

func (p *parser) token() error {
	tok, err := p.d.Token()
	p.line, _ = p.d.InputPos()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case xml.StartElement:
		return p.open(t)
	case xml.EndElement:
		p.path = p.path[:len(p.path)-1]
	case xml.CharData:
		if len(bytes.TrimSpace(t)) > 0 {
			return fmt.Errorf("unexpected text %.20q", t)
		}
	}
	return nil
}

func (p *parser) open(t xml.StartElement) error {
	name, inside := t.Name.Local, ""
	if len(p.path) > 0 {
		inside = p.path[len(p.path)-1]
	}
	want, known := parents[name]
	if !known || want != inside || name == "algo" && p.f.Line > 0 {
		return fmt.Errorf("unexpected element %s", name)
	}
	p.path = append(p.path, name)
	a := attrs{element: name, values: map[string]string{}}
	for _, x := range t.Attr {
		if _, twice := a.values[x.Name.Local]; twice {
			return fmt.Errorf("%s: attribute %s twice", name, x.Name.Local)
		}
		a.values[x.Name.Local] = x.Value
	}
	switch name {
	case "algo":
		p.algo(&a)
	case "gpu":
		p.f.GPUs = append(p.f.GPUs, GPU{ID: a.int("id"), Input: a.int("i_chunks"), Output: a.int("o_chunks"), Scratch: a.int("s_chunks"), Line: p.line})
	case "tb":
		g := &p.f.GPUs[len(p.f.GPUs)-1]
		g.Blocks = append(g.Blocks, Block{ID: a.int("id"), Send: a.int("send"), Recv: a.int("recv"), Channel: a.int("chan"), Line: p.line})
	case "step":
		g := &p.f.GPUs[len(p.f.GPUs)-1]
		tb := &g.Blocks[len(g.Blocks)-1]
		tb.Steps = append(tb.Steps, p.step(&a))
	}
	return a.err
}

func (p *parser) algo(a *attrs) {
	_, p.f.hasOutOfPlace = a.values["outofplace"]
	p.f.Name, p.f.Proto, p.f.Coll = a.text("name"), a.text("proto"), a.text("coll")
	p.f.Channels, p.f.ChunksPerLoop, p.f.declaredGPUs = a.int("nchannels"), a.int("nchunksperloop"), a.int("ngpus")
	p.f.InPlace, p.f.Line = a.int("inplace") != 0, p.line
	p.f.OutOfPlace = !p.f.InPlace
	if p.f.hasOutOfPlace {
		p.f.OutOfPlace = a.int("outofplace") != 0
	}
	for name, to := range map[string]*int64{"minBytes": &p.f.MinBytes, "maxBytes": &p.f.MaxBytes} {
		if _, ok := a.values[name]; ok {
			*to = a.int64(name)
		}
	}
}

func (p *parser) step(a *attrs) Step {
	return Step{Type: a.text("type"), S: a.int("s"), Src: Place{a.text("srcbuf"), a.int("srcoff")}, Dst: Place{a.text("dstbuf"), a.int("dstoff")},
		Count: a.int("cnt"), DepBlock: a.int("depid"), DepStep: a.int("deps"), HasDep: a.int("hasdep") != 0, Line: p.line}
}

// attrs are an element's attributes; the first mistake stays.
type attrs struct {
	element string
	values  map[string]string
	err     error
}

func (a *attrs) text(name string) string {
	v, ok := a.values[name]
	if !ok && a.err == nil {
		a.err = fmt.Errorf("%s: attribute %s is missing", a.element, name)
	}
	return v
}

func (a *attrs) int64(name string) int64 {
	v := a.text(name)
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s: %s=%q is not a number", a.element, name, v)
	}
	return n
}

// maxNumber bounds sizes and numbers of parts.
const maxNumber = 1 << 24

func (a *attrs) int(name string) int {
	n := a.int64(name)
	if (n < -1 || n > maxNumber) && a.err == nil {
		a.err = fmt.Errorf("%s: %s=%d is out of range", a.element, name, n)
	}
	return int(n)
}
