package mscclpp

import (
	"errors"
	"fmt"
	"slices"

	"railyard/interop/foreign"
	"railyard/model/program"
)

// operand is where chunks of a GPU are.
type operand struct {
	gpu     int
	place   program.Place
	n       int
	packets bool
}

// target is what an operation reads or writes as one: chunks of a GPU, or by a switch of all GPUs of a group.
type target struct {
	at      []operand
	packets bool
}

// of is the part of a GPU; the only one where there are no others.
func (t target) of(gpu int) operand {
	i := slices.IndexFunc(t.at, func(o operand) bool { return o.gpu == gpu })
	return t.at[max(i, 0)]
}

// resolve finds a buffer of a kind (see side).
func (f *File) resolve(g *GPU, tb *Block, op *Op, b Buffer, kind byte) (target, error) {
	t := target{packets: kind == 'p' || kind == 'q' || kind == 't'}
	gpus, name := []int{g.ID}, b.Type
	switch kind {
	case 'l', 'p':
		if b.Remote != nil || b.Switch != nil {
			return t, errors.New("must be local")
		}
	case 'r', 'q':
		if b.Remote == nil || b.Switch != nil {
			return t, errors.New("must be a peer's")
		}
		ids := tb.remotes(op.Type)
		if *b.Remote < 0 || *b.Remote >= len(ids) || ids[*b.Remote] < 0 || ids[*b.Remote] >= len(g.RemoteBuffers) {
			return t, fmt.Errorf("buffer_id %d: the thread block has %d of type %q", *b.Remote, len(ids), op.Type)
		}
		r := g.RemoteBuffers[ids[*b.Remote]]
		gpus, name = []int{r.Rank}, r.Type
	default:
		if b.Remote != nil || b.Switch == nil {
			return t, errors.New("must be a switch's")
		}
		ids, groups := tb.channels(through), g.groups()
		if *b.Switch < 0 || *b.Switch >= len(ids) || ids[*b.Switch] < 0 || ids[*b.Switch] >= len(groups) {
			return t, fmt.Errorf("switch_channel_id %d: the thread block has %d", *b.Switch, len(ids))
		}
		gpus, name = groups[ids[*b.Switch]].ranks, groups[ids[*b.Switch]].buffer
	}
	for _, gpu := range gpus {
		size := 0
		if gpu >= 0 && gpu < len(f.GPUs) {
			size = f.GPUs[gpu].size(name)
		}
		if b.Index < 0 || b.Size < 1 || b.Index > maxChunks || b.Size > maxChunks || b.Index+b.Size > size {
			return t, fmt.Errorf("chunks %d to %d of a buffer with %d", b.Index, b.Index+b.Size-1, size)
		}
		buf, _ := foreign.BufferOf(name) // of another name it has no chunks
		t.at = append(t.at, operand{gpu, program.Place{Buf: buf, At: b.Index}, b.Size, t.packets})
	}
	return t, nil
}

// mover makes two-sided operations of a one-sided one of a thread block.
type mover struct {
	l          *program.Linear
	gpu, block int
	src, dst   []target
}

// move moves each source to its destination, or combines all sources: the result lies at the first destination,
// and goes from there to all others.
func (m *mover) move(equal bool) {
	if equal {
		for i := range m.src {
			m.copy(m.src[i].of(m.gpu), m.dst[i].of(m.gpu))
		}
		return
	}
	from := m.src[0].of(m.gpu)
	if len(m.src) > 1 || len(m.src[0].at) > 1 {
		from = m.dst[0].of(m.gpu)
		m.combine(from)
	}
	for _, d := range m.dst {
		if own := d.of(m.gpu); own != from {
			m.copy(from, own)
		}
		if peers := m.others(d); len(peers) > 0 {
			m.l.Multicast(m.thread(m.gpu), peers, from.place, d.at[0].place, from.n)
		}
	}
}

func (m *mover) thread(gpu int) program.Thread { return program.Thread{Rank: gpu, Block: m.block} }

// others are the other ranks of a switch's group.
func (m *mover) others(t target) (out []int) {
	for _, o := range t.at {
		if len(t.at) > 1 && o.gpu != m.gpu {
			out = append(out, o.gpu)
		}
	}
	return out
}

func (m *mover) copy(from, to operand) {
	if from.gpu == to.gpu && from.packets {
		m.l.Unpack(m.thread(from.gpu), from.place, to.place, from.n)
		return
	}
	if from.gpu == to.gpu {
		m.l.Copy(m.thread(from.gpu), from.place, to.place, from.n)
		return
	}
	msg := m.l.Send(m.thread(from.gpu), to.gpu, from.place, from.n)
	if to.gpu == m.gpu {
		m.l.Recv(msg, m.block, to.place)
	} else {
		m.l.Deliver(msg, m.block, to.place)
	}
}

// combine reduces all sources into a place of the GPU.
func (m *mover) combine(dst operand) {
	var local []program.Place
	for _, s := range m.src {
		if own := s.of(m.gpu); own.gpu == m.gpu && len(s.at) == 1 {
			local = append(local, own.place)
		}
	}
	sum := m.src[0].of(m.gpu).place
	if len(local) > 1 {
		m.l.Reduce(m.thread(m.gpu), local, dst.place, dst.n)
		sum = dst.place
	}
	for _, s := range m.src {
		own := s.of(m.gpu)
		switch peers := m.others(s); {
		case len(peers) > 0:
			m.l.SwitchReduce(m.thread(m.gpu), peers, own.place, dst.place, dst.n)
		case own.gpu != m.gpu:
			m.l.RecvReduce(m.l.Send(m.thread(own.gpu), m.gpu, own.place, own.n), m.block, sum, dst.place)
			sum = dst.place
		}
	}
}
