package mscclpp

import (
	"railyard/model/program"
)

// operand is where an operation's buffer is.
type operand struct {
	gpu int
	at  program.Place
	n   int
}

// operands resolves buffers, local or remote.
func (r *runner) operands(t int, op *Op, list []Buffer) []operand {
	th := &r.threads[t]
	var out []operand
	for _, b := range list {
		gpu, name := th.gpu, b.Type
		if b.Remote != nil {
			remote := r.f.GPUs[th.gpu].RemoteBuffers[r.block(t).remotes(op.Type)[*b.Remote]]
			gpu, name = remote.Rank, remote.Type
		}
		out = append(out, operand{gpu, program.Place{Buf: bufferOf[name], At: b.Index}, b.Size})
	}
	return out
}

// move does an operation on data: it checks what it uses, and tells the linear program.
func (r *runner) move(t int, op *Op) error {
	src, dst := r.operands(t, op, op.Src), r.operands(t, op, op.Dst)
	for _, s := range src {
		if err := r.use(t, s.gpu, s.at, s.n, false); err != nil {
			return err
		}
	}
	for _, d := range dst {
		if err := r.use(t, d.gpu, d.at, d.n, true); err != nil {
			return err
		}
	}
	if r.h != nil {
		r.emit(r.threads[t].block, op, src, dst)
	}
	if op.Name == "pws" || op.Name == "pwsf" {
		return r.signal(t, op)
	}
	return nil
}

// emit makes two-sided operations of a one-sided one.
func (r *runner) emit(block int, op *Op, src, dst []operand) {
	thread := func(gpu int) program.Thread { return program.Thread{Rank: gpu, Block: block} }
	switch op.Name {
	case "put", "pws", "pwsf":
		for i := range src {
			r.h.Deliver(r.h.Send(thread(src[i].gpu), dst[i].gpu, src[i].at, src[i].n), block, dst[i].at)
		}
	case "get":
		for i := range src {
			r.h.Recv(r.h.Send(thread(src[i].gpu), dst[i].gpu, src[i].at, src[i].n), block, dst[i].at)
		}
	case "copy":
		r.h.Copy(thread(src[0].gpu), src[0].at, dst[0].at, src[0].n)
	case "re", "res":
		var places []program.Place
		for _, s := range src {
			places = append(places, s.at)
		}
		r.h.Reduce(thread(src[0].gpu), places, dst[0].at, dst[0].n)
	case "rre", "rres":
		own := src[0].at
		for _, s := range src[1:] {
			r.h.RecvReduce(r.h.Send(thread(s.gpu), dst[0].gpu, s.at, s.n), block, own, dst[0].at)
			own = dst[0].at
		}
	}
	if op.Name == "res" || op.Name == "rres" {
		for _, d := range dst[1:] {
			r.h.Deliver(r.h.Send(thread(dst[0].gpu), d.gpu, dst[0].at, d.n), block, d.at)
		}
	}
}
