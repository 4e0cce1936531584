package mscclxml

import (
	"fmt"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/program"
)

// runner plays a file's steps until nothing moves.
type runner struct {
	f      *File
	h      *player // nil: only progress counts
	whole  bool    // messages as wholes, connections without bounds
	clocks *clocks
	at     [][]position
	queues map[link]*queue
}

// position is where a thread block is: in step, with done chunks of it.
type position struct{ step, recvd, sent int }

type link struct{ channel, from, to int }

// queue is what is under way on a connection.
type queue struct {
	chunks int
	msgs   []sent
}

type sent struct {
	step  *Step
	data  *program.Message
	clock []int
}

// whole plays whole messages: it finds those whose ends do not fit, and steps that
// nothing keeps from using memory at the same time.
func whole(f *File, h *player) error {
	r := &runner{f: f, h: h, whole: true}
	blocks := 0
	for _, g := range f.GPUs {
		blocks += len(g.Blocks)
	}
	if k, err := collectives.Kind(f.Coll); err == nil && blocks <= foreign.MaxClocks {
		spec := collective.Spec{Kind: k, Ranks: len(f.GPUs)}
		r.clocks = newClocks(f, spec, max(f.ChunksPerLoop/spec.Blocks(), 1))
	}
	return r.run()
}

func (r *runner) run() error {
	r.queues = map[link]*queue{}
	r.at = make([][]position, len(r.f.GPUs))
	for g := range r.at {
		r.at[g] = make([]position, len(r.f.GPUs[g].Blocks))
	}
	for moved := true; moved; {
		moved = false
		for _, receiving := range []bool{false, true} {
			any, err := r.round(receiving)
			if err != nil {
				return err
			}
			moved = moved || any
		}
	}
	return r.ended()
}

// round has each thread block receive once, or do all that it can before it receives
// again: about what happens side by side.
func (r *runner) round(receiving bool) (moved bool, err error) {
	for g := range r.at {
		for b := range r.at[g] {
			for r.receives(g, b) == receiving {
				ok, err := r.advance(g, b)
				if err != nil {
					return moved, err
				}
				if !ok {
					break
				}
				if moved = true; receiving {
					break
				}
			}
		}
	}
	return moved, nil
}

// receives reports whether a thread block's next step does.
func (r *runner) receives(g, b int) bool {
	tb, pos := &r.f.GPUs[g].Blocks[b], &r.at[g][b]
	return pos.step < len(tb.Steps) && kinds[tb.Steps[pos.step].Type].recv
}

// advance does what a thread block can do next.
func (r *runner) advance(g, b int) (bool, error) {
	tb, pos := &r.f.GPUs[g].Blocks[b], &r.at[g][b]
	if pos.step == len(tb.Steps) {
		return false, nil
	}
	s := &tb.Steps[pos.step]
	k := kinds[s.Type]
	if s.DepBlock >= 0 && r.at[g][s.DepBlock].step <= s.DepStep {
		return false, nil
	}
	if r.whole || !k.recv && !k.send {
		return r.message(g, tb, pos, s, k)
	}
	return r.piece(g, tb, pos, s, k), nil
}

func (r *runner) queue(channel, from, to int) *queue {
	key := link{channel, from, to}
	if r.queues[key] == nil {
		r.queues[key] = &queue{}
	}
	return r.queues[key]
}

// message does a step at once, which may have no message.
func (r *runner) message(g int, tb *Block, pos *position, s *Step, k kind) (bool, error) {
	var in sent
	if k.recv {
		q := r.queue(tb.Channel, tb.Recv, g)
		if len(q.msgs) == 0 {
			return false, nil
		}
		in = q.msgs[0]
		q.msgs = q.msgs[1:]
		if in.step.Count != s.Count {
			return false, at(s, g, tb, "takes %d chunks, but gpu %d sends %d (line %d)", s.Count, tb.Recv, in.step.Count, in.step.Line)
		}
	}
	out := sent{step: s}
	if r.clocks != nil {
		var err error
		if out.clock, err = r.clocks.step(g, tb, s, in.clock); err != nil {
			return false, err
		}
	}
	switch {
	case r.h == nil || s.Type == "nop":
	case k.recv:
		r.h.recv(program.Thread{Rank: g, Block: tb.ID}, s, in.data, k.send)
	case !k.send:
		r.h.local(program.Thread{Rank: g, Block: tb.ID}, s)
	}
	if k.send {
		q := r.queue(tb.Channel, g, tb.Send)
		if r.h != nil {
			out.data = r.h.send(program.Thread{Rank: g, Block: tb.ID}, tb.Send, s)
		}
		q.msgs = append(q.msgs, out)
	}
	*pos = position{step: pos.step + 1}
	return true, nil
}

// at is an error of a step.
func at(s *Step, g int, tb *Block, format string, args ...any) error {
	return foreign.At(s.Line, "gpu %d tb %d step %d (%s): %s", g, tb.ID, s.S, s.Type, fmt.Sprintf(format, args...))
}

// ended says who still waits and which messages nobody took.
func (r *runner) ended() error {
	for g := range r.at {
		for b, pos := range r.at[g] {
			tb := &r.f.GPUs[g].Blocks[b]
			if pos.step == len(tb.Steps) {
				continue
			}
			s := &tb.Steps[pos.step]
			why := "waits for ever"
			if kinds[s.Type].send && !r.whole {
				why = fmt.Sprintf("waits for ever: connections hold %d chunks", r.f.slots())
			}
			return at(s, g, tb, "%s", why)
		}
	}
	var lost *sent
	var where link
	for key, q := range r.queues {
		if len(q.msgs) > 0 && (lost == nil || q.msgs[0].step.Line < lost.step.Line) {
			lost, where = &q.msgs[0], key
		}
	}
	if lost != nil {
		return fmt.Errorf("line %d: gpu %d never receives what gpu %d sends on channel %d", lost.step.Line, where.to, where.from,
			where.channel)
	}
	return nil
}
