package mscclpp

import (
	"slices"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/program"
)

// play makes sure that a plan's operations run to their end and that signals, semaphores, barriers, packets and
// nops order all uses of the same memory; l, where there is one, is told what they do, and race takes the first race, which
// ends it where there is none.
func (f *File) play(spec collective.Spec, unit int, l *program.Linear, race *error) error {
	w := &lowering{f: f, l: l, peer: f.pairs(), p: &foreign.Play{Op: "op", Race: race,
		Order:  "no signal, semaphore and nop order them",
		Memory: foreign.Memory{Spec: spec, Unit: unit, InPlace: f.InPlace}}}
	for g := range f.GPUs {
		for b := range f.GPUs[g].Blocks {
			if err := w.block(&f.GPUs[g], &f.GPUs[g].Blocks[b]); err != nil {
				return err
			}
		}
	}
	return w.p.Run()
}

// lowering makes actions of operations.
type lowering struct {
	f    *File
	p    *foreign.Play
	l    *program.Linear // nil: nobody is told
	peer map[end]end
}

// end is a GPU's channel.
type end struct {
	gpu  int
	kind string
	id   int
}

// pairs joins the k-th channel from a to b with the k-th from b to a.
func (f *File) pairs() map[end]end {
	out := map[end]end{}
	for _, kind := range []string{memory, port} {
		between := map[[2]int][]int{}
		for g := range f.GPUs {
			for id, peer := range f.GPUs[g].peers(kind) {
				between[[2]int{g, peer}] = append(between[[2]int{g, peer}], id)
			}
		}
		for key, ids := range between {
			back := between[[2]int{key[1], key[0]}]
			for k := range min(len(ids), len(back)) {
				out[end{key[0], kind, ids[k]}] = end{key[1], kind, back[k]}
			}
		}
	}
	return out
}

func (w *lowering) block(g *GPU, tb *Block) error {
	var all []foreign.Action
	met := map[int]int{} // by barrier: how often
	for i := range tb.Ops {
		op := &tb.Ops[i]
		list := []foreign.Action{{}}
		a := &list[0]
		var err error
		switch op.Name {
		case "nop":
			a.Together = true
		case "barrier":
			list = w.barrier(g, tb, op, met[*op.BarrierID])
			met[*op.BarrierID]++
		case "signal", "rlxsignal":
			a.Gives, err = w.signals(g, tb, op)
		case "wait", "rlxwait":
			for _, c := range op.Channels {
				a.Takes = append(a.Takes, w.signal(end{g.ID, op.Type, tb.channels(op.Type)[c]}))
			}
		case "sem_acquire":
			a.Takes = w.semaphores(g, op)
		case "sem_release":
			a.Gives = w.semaphores(g, op)
		case "flush":
		default:
			if err = w.data(g, tb, op, a); err == nil && forms[op.Name].signals {
				a.Announces = true
				a.Gives, err = w.signals(g, tb, op)
			}
		}
		if err != nil {
			return foreign.At(op.line, "gpu %d tb %d op %d (%s): %w", g.ID, tb.ID, op.number, op.Name, err)
		}
		for k := range list {
			list[k].Line, list[k].Number, list[k].Name = op.line, op.number, op.Name
		}
		all = append(all, list...)
	}
	w.p.Add(g.ID, tb.ID, all)
	return nil
}

// signal is that a channel's end has been signalled.
func (w *lowering) signal(e end) foreign.Point {
	return w.p.Point(0, "a signal", e.gpu, slices.Index([]string{memory, port}, e.kind), e.id)
}

// signals are those that an operation gives to its channels' other ends.
func (w *lowering) signals(g *GPU, tb *Block, op *Op) (out []foreign.Point, err error) {
	for _, c := range op.Channels {
		own := end{g.ID, op.Type, tb.channels(op.Type)[c]}
		to, ok := w.peer[own]
		if !ok {
			return nil, foreign.At(0, "gpu %d has no channel to gpu %d that would belong to this one", g.peers(op.Type)[own.id], g.ID)
		}
		out = append(out, w.signal(to))
	}
	return out, nil
}

func (w *lowering) semaphores(g *GPU, op *Op) (out []foreign.Point) {
	for _, s := range op.Semaphores {
		out = append(out, w.p.Point(min(max(g.Semaphores[s].Init, 0), maxChunks), "a semaphore", g.ID, s))
	}
	return out
}

// barrier arrives, and then waits for all thread blocks that meet there for the time'th time.
func (w *lowering) barrier(g *GPU, tb *Block, op *Op, time int) []foreign.Action {
	arrive, leave := foreign.Action{Together: true}, foreign.Action{Together: true}
	for i := range g.Blocks {
		if g.Blocks[i].meets(*op.BarrierID) == 0 {
			continue
		}
		at := w.p.Point(0, "a barrier", g.ID, *op.BarrierID*maxChunks+time, i)
		if leave.After = append(leave.After, at); i == tb.ID {
			arrive.Raises = []foreign.Point{at}
		}
	}
	return []foreign.Action{arrive, leave}
}

// meets is how often a thread block comes to a barrier.
func (tb *Block) meets(barrier int) (n int) {
	for i := range tb.Ops {
		for _, op := range append([]Op{tb.Ops[i]}, tb.Ops[i].Ops...) {
			if op.Name == "barrier" && op.BarrierID != nil && *op.BarrierID == barrier {
				n++
			}
		}
	}
	return n
}

// data says what an operation uses, and tells the linear program.
func (w *lowering) data(g *GPU, tb *Block, op *Op, a *foreign.Action) error {
	f := op.form()
	m := mover{l: w.l, gpu: g.ID, block: tb.ID}
	for i, side := range []struct {
		list []Buffer
		form side
		out  *[]target
	}{{op.Src, f.src, &m.src}, {op.Dst, f.dst, &m.dst}} {
		kinds, _ := side.form.kinds(len(side.list))
		for k, b := range side.list {
			t, err := w.f.resolve(g, tb, op, b, kinds[k])
			if err != nil {
				return err
			}
			for _, x := range t.at {
				a.Uses = append(a.Uses, foreign.Access{GPU: x.gpu, At: x.place, N: x.n, Packets: t.packets, Write: i == 1})
			}
			if t.packets { // beside what is no packet
				for i := range t.at {
					t.at[i].place.At += w.f.GPUs[t.at[i].gpu].Scratch
				}
			}
			*side.out = append(*side.out, t)
		}
	}
	if w.l != nil {
		a.Data = func(*program.Message) *program.Message {
			m.move(f.equal)
			return nil
		}
	}
	return nil
}
