package mscclpp

import (
	"fmt"
	"slices"
	"strings"
)

// form is what an operation consists of.
type form struct {
	channels   bool // needs channel_ids
	semaphores bool
	src, dst   side
	equal      bool   // as many sources as destinations, one for one
	kind       string // of the channels; "" is any
	signals    bool   // and tells the other ends
}

// side is what buffers stand on one side of an operation: l local, r a peer's, s a switch's, and of packets p, q, t;
// + repeats the last.
type side string

// kinds are those of n buffers; false where so many cannot be.
func (s side) kinds(n int) (side, bool) {
	more := strings.HasSuffix(string(s), "+")
	if s = side(strings.TrimSuffix(string(s), "+")); n < len(s) || !more && n > len(s) {
		return "", false
	}
	return s + side(strings.Repeat(string(s[max(len(s)-1, 0):]), n-len(s))), true
}

// forms are the operations, as getOpType in execution_plan.cc names them and execution_kernel.hpp does them.
var forms = map[string]form{
	"nop":         {},
	"put":         {channels: true, src: "l+", dst: "r+", equal: true},
	"pws":         {channels: true, src: "l+", dst: "r+", equal: true, kind: port, signals: true},
	"pwsf":        {channels: true, src: "l+", dst: "r+", equal: true, kind: port, signals: true},
	"get":         {channels: true, src: "r+", dst: "l+", equal: true, kind: memory},
	"copy":        {src: "l", dst: "l"},
	"signal":      {channels: true},
	"wait":        {channels: true},
	"rlxsignal":   {channels: true},
	"rlxwait":     {channels: true},
	"flush":       {channels: true, kind: port},
	"re":          {src: "l+", dst: "l"},
	"res":         {src: "l+", dst: "lr+", kind: memory},
	"rre":         {src: "lr+", dst: "l", kind: memory},
	"rres":        {src: "lr+", dst: "lr+", kind: memory},
	"ppkt":        {channels: true, src: "l+", dst: "q+", equal: true},
	"rppkt":       {channels: true, src: "p", dst: "q+"},
	"cpkt":        {src: "l", dst: "p"},
	"upkt":        {src: "p", dst: "l"},
	"repkt":       {src: "lp+", dst: "l"},
	"respkt":      {src: "lp+", dst: "lq+", kind: memory},
	"recpkt":      {src: "lp+", dst: "lp"},
	"recspkt":     {src: "lp+", dst: "lpq+", kind: memory},
	"glres":       {src: "s", dst: "s", kind: through},
	"gstore":      {src: "l", dst: "s", kind: through},
	"gstorepkt":   {src: "p", dst: "t", kind: through},
	"sem_acquire": {semaphores: true},
	"sem_release": {semaphores: true},
	"barrier":     {},
	"pipeline":    {},
}

// form is the operation's; a port takes packets as they lie.
func (op *Op) form() form {
	f := forms[op.Name]
	if op.Name == "ppkt" && op.Type == port {
		f.src = "p+"
	}
	return f
}

func (v *validator) op(g *GPU, tb *Block, op *Op, at string) {
	f := op.form()
	if _, ok := forms[op.Name]; !ok {
		v.Add(op.line, "%s: this operation is not known", at)
		return
	}
	// Memory needs no channel to put.
	if f.channels && !(len(f.dst) > 0 && op.Type == memory && len(op.Channels) == 0) {
		v.channels(tb, op, f, at)
	}
	if f.kind != "" && op.Type != f.kind {
		v.Add(op.line, "%s: channel_type %q: must be %s", at, op.Type, f.kind)
	}
	if f.semaphores && (len(op.Semaphores) == 0 || len(op.Semaphores) > maxSemaphores) {
		v.Add(op.line, "%s: %d semaphores: must be from 1 to %d", at, len(op.Semaphores), maxSemaphores)
	}
	for _, id := range op.Semaphores {
		if id < 0 || id >= len(g.Semaphores) {
			v.Add(op.line, "%s: semaphore %d: the gpu has %d", at, id, len(g.Semaphores))
		}
	}
	if x := op.Group; x != nil && (x.Size < 1 || x.Size > maxBlocks || x.Block < 0 || x.Block >= x.Size) {
		v.Add(op.line, "%s: thread block %d of a group of %d", at, x.Block, x.Size)
	}
	v.side(g, tb, op, op.Src, f.src, "source", at)
	v.side(g, tb, op, op.Dst, f.dst, "destination", at)
	if f.equal && len(op.Src) != len(op.Dst) {
		v.Add(op.line, "%s: %d sources but %d destinations", at, len(op.Src), len(op.Dst))
	}
	v.operands(op, f, at)
	switch op.Name {
	case "barrier":
		v.barrier(g, op, at)
	case "pipeline":
		v.pipeline(g, tb, op, at)
	}
}

// barrier checks that as many thread blocks meet as it waits for, equally often.
func (v *validator) barrier(g *GPU, op *Op, at string) {
	if op.BarrierID == nil || *op.BarrierID < 0 || *op.BarrierID >= maxBarriers {
		v.Add(op.line, "%s: barrier_id must be from 0 to %d", at, maxBarriers-1)
		return
	}
	n := 0
	for i := range g.Blocks {
		if g.Blocks[i].meets(*op.BarrierID) > 0 {
			n++
		}
	}
	if n != op.NumBlocks {
		v.Add(op.line, "%s: num_threadblocks %d: %d meet at barrier %d", at, op.NumBlocks, n, *op.BarrierID)
	}
}

func (v *validator) pipeline(g *GPU, tb *Block, op *Op, at string) {
	if p := op.Pieces; p == nil || p.Bytes < 1 || p.Chunks < 1 || p.Chunks > maxChunks || len(op.Ops) == 0 {
		v.Add(op.line, "%s: it needs operations, and an iter_context with unit_size and num_chunks from 1 on", at)
		return
	}
	for i := range op.Ops {
		inner := &op.Ops[i]
		if inner.line = op.line; inner.Name == "pipeline" {
			v.Add(op.line, "%s: a pipeline in a pipeline", at)
			continue
		}
		v.op(g, tb, inner, fmt.Sprintf("%s %d (%s)", at, i, inner.Name))
	}
}

func (v *validator) channels(tb *Block, op *Op, f form, at string) {
	have := len(tb.channels(op.Type))
	if len(op.Channels) == 0 || len(op.Channels) > maxPerOp {
		v.Add(op.line, "%s: %d channels: must be from 1 to %d", at, len(op.Channels), maxPerOp)
	}
	for _, id := range op.Channels {
		if id < 0 || id >= have {
			v.Add(op.line, "%s: channel %d: the thread block has %d of type %q", at, id, have, op.Type)
		}
	}
	if op.Type == port && len(f.dst) > 0 && len(op.Channels) != len(op.Dst) {
		v.Add(op.line, "%s: %d channels for %d destinations: a port needs one for each", at, len(op.Channels), len(op.Dst))
	}
}

func (v *validator) side(g *GPU, tb *Block, op *Op, list []Buffer, s side, word, at string) {
	kinds, ok := s.kinds(len(list))
	if !ok || len(list) > maxOperands {
		v.Add(op.line, "%s: %d %ss: wrong number, or more than %d", at, len(list), word, maxOperands)
		return
	}
	for i, b := range list {
		if _, err := v.f.resolve(g, tb, op, b, kinds[i]); err != nil {
			v.Add(op.line, "%s: %s %d: %w", at, word, i, err)
		}
	}
}

// size is the chunks of a buffer; of an unknown one none.
func (g *GPU) size(name string) int {
	return map[string]int{"i": g.Input, "o": g.Output, "s": g.Scratch}[name]
}

// operands checks what the executor's code takes for granted.
func (v *validator) operands(op *Op, f form, at string) {
	all := slices.Concat(op.Src, op.Dst)
	for _, b := range all {
		if len(all) > 0 && b.Size != all[0].Size && !f.equal {
			v.Add(op.line, "%s: operands of %d and %d chunks", at, all[0].Size, b.Size)
			return
		}
	}
	if (op.Name == "rre" || op.Name == "rres") && len(op.Src) > 0 && len(op.Dst) > 0 && op.Src[0].Type != op.Dst[0].Type {
		v.Add(op.line, "%s: from buffer %s to %s: the executor writes to its first source's buffer", at, op.Src[0].Type, op.Dst[0].Type)
	}
	if !f.equal || len(op.Src) != len(op.Dst) {
		return
	}
	for i := range op.Src {
		switch {
		case op.Src[i].Size != op.Dst[i].Size:
			v.Add(op.line, "%s: %d chunks to a place for %d", at, op.Src[i].Size, op.Dst[i].Size)
		case op.Type == memory && op.Name != "get" && op.Src[i].Type != op.Src[0].Type:
			v.Add(op.line, "%s: sources in buffers %s and %s: the executor takes the first one's for all", at, op.Src[0].Type,
				op.Src[i].Type)
		case op.Name == "get" && op.Src[i].Index != op.Dst[i].Index:
			v.Add(op.line, "%s: chunk %d to %d: the executor's get works with equal offsets only", at, op.Src[i].Index, op.Dst[i].Index)
		}
	}
}
