package mscclxml

import (
	"fmt"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/program"
)

// play makes sure that a file's steps run to their end and that dependences and messages order all uses of the
// same memory; l, where there is one, is told what they do, and race takes the first race, which ends it where there is none.
func (f *File) play(l *program.Linear, race *error) error {
	p := &foreign.Play{Op: "step", Race: race, Order: "neither a dependence nor a message orders them", Loose: true}
	if k, err := collectives.Kind(f.Coll); err == nil {
		spec := collective.Spec{Kind: k, Ranks: len(f.GPUs)}
		p.Loose, p.Memory = false, foreign.Memory{Spec: spec, Unit: max(f.ChunksPerLoop/spec.Blocks(), 1), InPlace: f.InPlace}
	}
	(&lowering{f: f, p: p, l: l}).file((*lowering).whole)
	if err := p.Run(); err != nil {
		return err
	}
	if lost, at := p.Left(message); lost != nil {
		return fmt.Errorf("line %d: gpu %d never receives what gpu %d sends on channel %d", lost.Line, at[2], at[1], at[0])
	}
	return nil
}

// playChunks makes sure that they do where connections hold few messages, of the fewest chunks: with the largest buffer.
func (f *File) playChunks() error {
	p := &foreign.Play{Op: "step", Loose: true}
	(&lowering{f: f, p: p}).file((*lowering).chunks)
	return p.Run()
}

// slots is how many messages a connection holds before its sender waits: NCCL's buffers have eight
// steps (NCCL_STEPS), of which a chunk takes four by Simple (MSCCL_CHUNKSTEPS) and one by LL and
// LL128 (src/include/msccl.h, src/collectives/device/msccl_interpreter.h).
func (f *File) slots() int {
	if f.Proto == "Simple" {
		return 2
	}
	return 8
}

// payload is how many bytes a message carries at most: NCCL's buffer of a protocol, an eighth or, by Simple, half of it, less flags
// (src/init.cc DEFAULT_BUFFSIZE, and src/misc/msccl/msccl_setup.cc in ROCm/rccl, mscclSetupCount).
var payload = map[string]int64{"Simple": 2 << 20, "LL": 32 << 10, "LL128": 576_000}

// together is how many chunks go as one message at least: as many as fit with the largest buffer that the file is for.
func (f *File) together() int {
	if f.MaxBytes <= 0 || f.ChunksPerLoop <= 0 {
		return 1
	}
	chunk := (f.MaxBytes-1)/int64(f.ChunksPerLoop) + 1
	return int(max(payload[f.Proto]/chunk, 1))
}

// message is what is under way on a connection.
const message = "a message"

// lowering makes actions of steps.
type lowering struct {
	f *File
	p *foreign.Play
	l *program.Linear // nil: nobody is told
}

// file adds all thread blocks, with each step's actions.
func (w *lowering) file(actions func(w *lowering, g int, tb *Block, s *Step) []foreign.Action) {
	for g := range w.f.GPUs {
		for b := range w.f.GPUs[g].Blocks {
			tb := &w.f.GPUs[g].Blocks[b]
			var all []foreign.Action
			for i := range tb.Steps {
				s := &tb.Steps[i]
				list := actions(w, g, tb, s)
				for k := range list {
					list[k].Line, list[k].Number, list[k].Name, list[k].Together, list[k].Announces = s.Line, s.S, s.Type, true, true
				}
				if s.DepBlock >= 0 {
					list[0].After = []foreign.Point{w.end(g, s.DepBlock, s.DepStep)}
				}
				if s.HasDep {
					list[len(list)-1].Raises = []foreign.Point{w.end(g, tb.ID, s.S)}
				}
				all = append(all, list...)
			}
			w.p.Add(g, tb.ID, all)
		}
	}
}

// end is that of a step that others depend on.
func (w *lowering) end(g, block, step int) foreign.Point {
	return w.p.Point(0, "a step that it depends on", g, block, step)
}

// whole is a step as one action, with its message as a whole.
func (w *lowering) whole(g int, tb *Block, s *Step) []foreign.Action {
	k, a := kinds[s.Type], foreign.Action{Count: s.Count}
	if k.recv {
		a.Takes = []foreign.Point{w.p.Point(0, message, tb.Channel, tb.Recv, g)}
	}
	if k.send {
		a.Gives = []foreign.Point{w.p.Point(0, message, tb.Channel, g, tb.Send)}
	}
	if k.src {
		a.Uses = append(a.Uses, foreign.Access{GPU: g, At: place(s.Src), N: s.Count})
	}
	if k.dst && s.Type != "rrs" {
		a.Uses = append(a.Uses, foreign.Access{GPU: g, At: place(s.Dst), N: s.Count, Write: true})
	}
	if w.l != nil {
		a.Data = func(in *program.Message) *program.Message {
			return s.emit(w.l, program.Thread{Rank: g, Block: tb.ID}, tb, in)
		}
	}
	return []foreign.Action{a}
}

// chunks are a step's actions message by message: what is received is passed on before the next one.
func (w *lowering) chunks(g int, tb *Block, s *Step) (out []foreign.Action) {
	k := kinds[s.Type]
	for at := 0; at < s.Count; at += w.f.together() {
		if k.recv {
			out = append(out, foreign.Action{Takes: []foreign.Point{w.p.Point(0, message, tb.Channel, tb.Recv, g)},
				Gives: []foreign.Point{w.free(tb.Channel, tb.Recv, g)}})
		}
		if k.send {
			out = append(out, foreign.Action{Takes: []foreign.Point{w.free(tb.Channel, g, tb.Send)},
				Gives: []foreign.Point{w.p.Point(0, message, tb.Channel, g, tb.Send)}})
		}
	}
	if len(out) == 0 {
		return make([]foreign.Action, 1)
	}
	return out
}

// free is what a connection has left.
func (w *lowering) free(channel, from, to int) foreign.Point {
	return w.p.Point(w.f.slots(), fmt.Sprintf("its receiver: connections hold %d messages", w.f.slots()), channel, from, to)
}
