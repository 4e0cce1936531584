package mscclpp

import (
	"bytes"
	"encoding/json"
	"io"

	"railyard/interop/foreign"
)

// Read reads the form of a plan; Validate checks the rest. Keys that are not known are
// passed over, as the executor does.
func Read(r io.Reader) (*File, error) {
	data, err := foreign.Read(r, 64)
	if err != nil {
		return nil, err
	}
	f := &File{}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(f); err != nil {
		return nil, foreign.JSONError(data, dec, err)
	}
	locate(f, data)
	return f, nil
}

// locator notes the lines on which the plan's objects begin.
type locator struct {
	dec  *json.Decoder
	data []byte
	at   int64 // counted up to here
	line int
	f    *File
	gpu  *GPU
	tb   *Block
	next [3]int // the next GPU, thread block and operation
}

// locate fills in the lines of GPUs, thread blocks and operations of decoded data.
func locate(f *File, data []byte) {
	l := &locator{dec: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1, f: f}
	f.line = 1
	if t, err := l.dec.Token(); err == nil && t == json.Delim('{') {
		l.object(0)
	}
}

// lists are the keys whose lists hold the objects of each depth.
var lists = [...]string{"gpus", "threadblocks", "ops"}

// object goes through an object's keys; depth is that of the lists inside it.
func (l *locator) object(depth int) {
	for l.dec.More() {
		key, err := l.dec.Token()
		if err != nil {
			return
		}
		if depth < len(lists) && key == lists[depth] {
			l.list(depth)
			continue
		}
		var skip json.RawMessage
		if l.dec.Decode(&skip) != nil {
			return
		}
	}
	_, _ = l.dec.Token() // the end, which the first decoder has seen
}

func (l *locator) list(depth int) {
	if t, err := l.dec.Token(); err != nil || t != json.Delim('[') {
		return
	}
	l.next[depth] = 0
	for l.dec.More() {
		if t, err := l.dec.Token(); err != nil || t != json.Delim('{') {
			return
		}
		l.mark(depth)
		l.object(depth + 1)
	}
	_, _ = l.dec.Token()
}

// mark sets the line of the next object of a depth.
func (l *locator) mark(depth int) {
	offset := l.dec.InputOffset()
	l.line += bytes.Count(l.data[l.at:offset], []byte("\n"))
	l.at = offset
	i := l.next[depth]
	l.next[depth]++
	switch {
	case depth == 0 && i < len(l.f.GPUs):
		l.gpu, l.tb = &l.f.GPUs[i], nil
		l.gpu.line = l.line
	case depth == 1 && l.gpu != nil && i < len(l.gpu.Blocks):
		l.tb = &l.gpu.Blocks[i]
		l.tb.line = l.line
	case depth == 2 && l.tb != nil && i < len(l.tb.Ops):
		l.tb.Ops[i].line = l.line
	}
}
