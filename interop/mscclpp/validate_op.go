package mscclpp

import (
	"fmt"
	"slices"
)

// form is what an operation consists of.
type form struct {
	channels   bool // needs channel_ids
	semaphores bool
	src, dst   side
	equal      bool   // as many sources as destinations
	kind       string // of the channels; "" is any
}

// side is what buffers stand on one side of an operation.
type side struct {
	local, remote int // at least; local ones first
	more          bool
}

// forms are the operations that are covered.
var forms = map[string]form{
	"nop":         {},
	"put":         {channels: true, src: side{local: 1, more: true}, dst: side{remote: 1, more: true}, equal: true},
	"pws":         {channels: true, src: side{local: 1, more: true}, dst: side{remote: 1, more: true}, equal: true, kind: port},
	"pwsf":        {channels: true, src: side{local: 1, more: true}, dst: side{remote: 1, more: true}, equal: true, kind: port},
	"get":         {channels: true, src: side{remote: 1, more: true}, dst: side{local: 1, more: true}, equal: true, kind: memory},
	"copy":        {src: side{local: 1}, dst: side{local: 1}},
	"signal":      {channels: true},
	"wait":        {channels: true},
	"rlxsignal":   {channels: true},
	"rlxwait":     {channels: true},
	"flush":       {channels: true, kind: port},
	"re":          {src: side{local: 1, more: true}, dst: side{local: 1}},
	"res":         {src: side{local: 1, more: true}, dst: side{local: 1, remote: 1, more: true}, kind: memory},
	"rre":         {src: side{local: 1, remote: 1, more: true}, dst: side{local: 1}, kind: memory},
	"rres":        {src: side{local: 1, remote: 1, more: true}, dst: side{local: 1, remote: 1, more: true}, kind: memory},
	"sem_acquire": {semaphores: true},
	"sem_release": {semaphores: true},
}

func (v *validator) op(g *GPU, tb *Block, i int) {
	op := &tb.Ops[i]
	at := fmt.Sprintf("gpu %d tb %d op %d (%s)", g.ID, tb.ID, i, op.Name)
	f, ok := forms[op.Name]
	if !ok || op.Group != nil {
		v.Add(op.line, "%s: this operation is not known, or not covered (packets, switches, barriers, pipelines, thread block groups)", at)
		return
	}
	if f.channels && !(f.equal && op.Type == memory && len(op.Channels) == 0) { // memory needs no channel to put
		v.channels(g, tb, op, f, at)
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
	v.side(g, tb, op, op.Src, f.src, "source", at)
	v.side(g, tb, op, op.Dst, f.dst, "destination", at)
	if f.equal && len(op.Src) != len(op.Dst) {
		v.Add(op.line, "%s: %d sources but %d destinations", at, len(op.Src), len(op.Dst))
	}
	v.operands(op, f, at)
}

func (v *validator) channels(g *GPU, tb *Block, op *Op, f form, at string) {
	have := len(tb.channels(op.Type))
	if len(op.Channels) == 0 || len(op.Channels) > maxPerOp {
		v.Add(op.line, "%s: %d channels: must be from 1 to %d", at, len(op.Channels), maxPerOp)
	}
	for _, id := range op.Channels {
		if id < 0 || id >= have {
			v.Add(op.line, "%s: channel %d: the thread block has %d of type %q", at, id, have, op.Type)
		}
	}
	if op.Type == port && f.src.local > 0 && len(op.Channels) != len(op.Dst) {
		v.Add(op.line, "%s: %d channels for %d destinations: a port needs one for each", at, len(op.Channels), len(op.Dst))
	}
}

func (v *validator) side(g *GPU, tb *Block, op *Op, list []Buffer, s side, word, at string) {
	least := s.local + s.remote
	if len(list) < least || !s.more && len(list) > least || len(list) > maxOperands {
		v.Add(op.line, "%s: %d %ss: wrong number, or more than %d", at, len(list), word, maxOperands)
		return
	}
	for i := range list {
		b := &list[i]
		remote := s.remote > 0 && i >= s.local
		size := 0
		switch {
		case b.Switch != nil || remote != (b.Remote != nil):
			v.Add(op.line, "%s: %s %d: local buffers must come first, remote ones as the operation needs them", at, word, i)
			return
		case remote:
			ids := tb.remotes(op.Type)
			if *b.Remote < 0 || *b.Remote >= len(ids) || ids[*b.Remote] < 0 || ids[*b.Remote] >= len(g.RemoteBuffers) {
				v.Add(op.line, "%s: buffer_id %d: the thread block has %d of type %q", at, *b.Remote, len(ids), op.Type)
				return
			}
			r := g.RemoteBuffers[ids[*b.Remote]]
			if r.Rank < 0 || r.Rank >= len(v.f.GPUs) {
				return // said already
			}
			size = v.f.GPUs[r.Rank].size(r.Type)
		default:
			size = g.size(b.Type)
		}
		if b.Index < 0 || b.Size < 1 || b.Index > maxChunks || b.Size > maxChunks || b.Index+b.Size > size {
			v.Add(op.line, "%s: %s %d: chunks %d to %d of a buffer with %d", at, word, i, b.Index, b.Index+b.Size-1, size)
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
