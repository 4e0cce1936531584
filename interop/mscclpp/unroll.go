package mscclpp

import (
	"fmt"

	"railyard/model/units"
)

// pieces are those that each chunk of a pipeline is gone through in here: what orders two of them orders all.
const pieces = 2

// unrolled is the plan without groups of thread blocks and pipelines, in chunks so small that each thread block's
// share and each piece is a whole number of them; parts is how many of them a chunk has become.
func (f *File) unrolled() (out *File, parts int, err error) {
	parts = 1
	for i := range f.GPUs {
		for j := range f.GPUs[i].Blocks {
			if parts, err = finer(parts, f.GPUs[i].Blocks[j].Ops); err != nil {
				return nil, 0, err
			}
		}
	}
	copied := *f
	copied.GPUs = make([]GPU, len(f.GPUs))
	for i, g := range f.GPUs {
		g.Input, g.Output, g.Scratch = g.Input*parts, g.Output*parts, g.Scratch*parts
		if most := max(g.Input, g.Output, g.Scratch); most > maxChunks {
			return nil, 0, fmt.Errorf("gpu %d: shares of thread blocks and pieces of pipelines cut a buffer into %d: at most %d", i, most,
				maxChunks)
		}
		g.Blocks = make([]Block, len(f.GPUs[i].Blocks))
		for j, tb := range f.GPUs[i].Blocks {
			tb.Ops = nil
			for k := range f.GPUs[i].Blocks[j].Ops {
				tb.Ops = f.GPUs[i].Blocks[j].Ops[k].unrolled(tb.Ops, k, parts)
			}
			g.Blocks[j] = tb
		}
		copied.GPUs[i] = g
	}
	return &copied, parts, nil
}

// finer is the least number that operations' shares and pieces and so many parts divide.
func finer(parts int, ops []Op) (int, error) {
	for i := range ops {
		n := 1
		if g := ops[i].Group; g != nil {
			n = g.Size
		}
		if len(ops[i].Ops) > 0 {
			inner, err := finer(1, ops[i].Ops)
			if err != nil {
				return 0, err
			}
			n = pieces * inner
		}
		parts = parts / int(units.GCD(int64(parts), int64(n))) * n
		if parts > maxChunks {
			return 0, fmt.Errorf("shares of thread blocks and pieces of pipelines cut a chunk into more than %d", maxChunks)
		}
	}
	return parts, nil
}

// unrolled appends what an operation is, the number'th of its thread block.
func (op Op) unrolled(out []Op, number, parts int) []Op {
	for piece := range pieces {
		for _, inner := range op.Ops {
			inner.line, inner.number = op.line, number
			unit := op.Pieces.Chunks * parts / pieces
			if inner.Src, inner.Dst = inner.share(inner.Src, parts), inner.share(inner.Dst, parts); len(inner.Src) > 0 {
				inner.Src, inner.Dst = nth(inner.Src, piece, unit), nth(inner.Dst, piece, unit)
				if len(inner.Src) == 0 {
					continue // had less
				}
			}
			out = append(out, inner)
		}
	}
	if op.Name == "pipeline" {
		return out
	}
	op.number = number
	op.Src, op.Dst = op.share(op.Src, parts), op.share(op.Dst, parts)
	return append(out, op)
}

// share is what the thread block does of buffers whose chunks have so many parts.
func (op *Op) share(list []Buffer, parts int) (out []Buffer) {
	for _, b := range list {
		b.Index, b.Size = b.Index*parts, b.Size*parts
		if g := op.Group; g != nil {
			b.Size /= g.Size
			b.Index += g.Block * b.Size
		}
		out = append(out, b)
	}
	return out
}

// nth is the n'th piece of unit chunks of buffers.
func nth(list []Buffer, n, unit int) (out []Buffer) {
	for _, b := range list {
		b.Index, b.Size = b.Index+n*unit, min(b.Size-n*unit, unit)
		if b.Size > 0 {
			out = append(out, b)
		}
	}
	return out
}
