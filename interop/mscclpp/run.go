package mscclpp

import (
	"fmt"
	"slices"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/program"
	"railyard/model/schedule"
)

// runner plays a plan's thread blocks, in turn, until nothing moves. Vector clocks say
// which operations a thread block knows to have ended; a use of memory that conflicts
// with one it does not know of is an error.
type runner struct {
	f       *File
	h       *program.Linear // nil: only check
	threads []thread
	peer    map[end]end     // the other end of a channel
	signals map[end][][]int // clocks of signals that nobody waited for yet
	mem     foreign.Memory
	clocked bool // uses of memory are checked
}

// thread is a thread block's state.
type thread struct {
	gpu, block, op int
	known          []int // by thread: operations known to have ended; its own: before the last nop
	heard          []int // the same by signals that only a nop tells all threads of
}

// end is a GPU's channel, or (of kind semaphore) one of its semaphores.
type end struct {
	gpu  int
	kind string
	id   int
}

func newRunner(f *File, spec collective.Spec, unit int, h *program.Linear) *runner {
	r := &runner{f: f, h: h, peer: map[end]end{}, signals: map[end][][]int{},
		mem: foreign.Memory{Spec: spec, Unit: unit, InPlace: f.InPlace}}
	for g := range f.GPUs {
		for b := range f.GPUs[g].Blocks {
			r.threads = append(r.threads, thread{gpu: g, block: b})
		}
		for i, s := range f.GPUs[g].Semaphores {
			for range min(max(s.Init, 0), maxChunks) {
				r.signals[end{g, semaphore, i}] = append(r.signals[end{g, semaphore, i}], nil)
			}
		}
	}
	if r.clocked = len(r.threads) <= foreign.MaxClocks; r.clocked {
		for i := range r.threads {
			r.threads[i].known, r.threads[i].heard = make([]int, len(r.threads)), make([]int, len(r.threads))
		}
	}
	r.pair()
	return r
}

// pair joins the k-th channel from a to b with the k-th from b to a.
func (r *runner) pair() {
	for _, kind := range []string{memory, port} {
		between := map[[2]int][]int{}
		for g := range r.f.GPUs {
			for id, peer := range r.f.GPUs[g].peers(kind) {
				between[[2]int{g, peer}] = append(between[[2]int{g, peer}], id)
			}
		}
		for key, ids := range between {
			back := between[[2]int{key[1], key[0]}]
			for k := range min(len(ids), len(back)) {
				r.peer[end{key[0], kind, ids[k]}] = end{key[1], kind, back[k]}
			}
		}
	}
}

// run plays in rounds, in which each thread block goes on behind its next wait: about
// what happens side by side.
func (r *runner) run() error {
	for moved := true; moved; {
		moved = false
		for t := range r.threads {
			for waited := false; !waited; {
				waited = r.waits(t)
				ok, err := r.advance(t)
				if err != nil {
					return err
				}
				if !ok {
					break
				}
				moved = true
			}
		}
	}
	for t := range r.threads {
		if th := &r.threads[t]; th.op < len(r.block(t).Ops) {
			return r.fail(t, "waits for ever")
		}
	}
	return nil
}

func (r *runner) block(t int) *Block {
	return &r.f.GPUs[r.threads[t].gpu].Blocks[r.threads[t].block]
}

func (r *runner) fail(t int, format string, args ...any) error {
	th := &r.threads[t]
	op := &r.block(t).Ops[th.op]
	return foreign.At(op.line, "gpu %d tb %d op %d (%s): %s", th.gpu, th.block, th.op, op.Name, fmt.Sprintf(format, args...))
}

// waits reports whether a thread block's next operation waits for others.
func (r *runner) waits(t int) bool {
	ops, at := r.block(t).Ops, r.threads[t].op
	return at < len(ops) && (ops[at].Name == "wait" || ops[at].Name == "rlxwait" || ops[at].Name == "sem_acquire")
}

// advance does a thread block's next operation if it can.
func (r *runner) advance(t int) (bool, error) {
	th := &r.threads[t]
	if th.op == len(r.block(t).Ops) {
		return false, nil
	}
	op := &r.block(t).Ops[th.op]
	ok, err := true, error(nil)
	switch op.Name {
	case "nop":
		r.join(th.known, th.heard)
		r.note(th.known, t, th.op)
	case "signal", "rlxsignal":
		err = r.signal(t, op)
	case "wait", "rlxwait", "sem_acquire":
		ok = r.take(t, r.inbox(t, op))
	case "sem_release":
		for _, e := range r.inbox(t, op) {
			r.signals[e] = append(r.signals[e], slices.Clone(th.known))
		}
	case "flush":
	default:
		err = r.move(t, op)
	}
	if ok && err == nil {
		th.op++
	}
	return ok, err
}

func (r *runner) join(a, b []int) {
	for i, n := range b {
		a[i] = max(a[i], n)
	}
}

// note sets how many of a thread's operations a clock knows to have ended.
func (r *runner) note(clock []int, t, ops int) {
	if r.clocked {
		clock[t] = ops
	}
}

// inbox are the channels and semaphores that an operation names.
func (r *runner) inbox(t int, op *Op) []end {
	ids := r.block(t).channels(op.Type)
	var out []end
	for _, s := range op.Semaphores {
		out = append(out, end{r.threads[t].gpu, semaphore, s})
	}
	for _, c := range op.Channels {
		out = append(out, end{r.threads[t].gpu, op.Type, ids[c]})
	}
	return out
}

// signal tells the peers what all threads of the block know to be done.
func (r *runner) signal(t int, op *Op) error {
	for _, e := range r.inbox(t, op) {
		to, ok := r.peer[e]
		if !ok {
			return r.fail(t, "gpu %d has no channel to gpu %d that would belong to this one", r.f.GPUs[e.gpu].peers(e.kind)[e.id], e.gpu)
		}
		clock := slices.Clone(r.threads[t].known)
		if op.Name == "pws" || op.Name == "pwsf" {
			r.note(clock, t, r.threads[t].op+1)
		}
		r.signals[to] = append(r.signals[to], clock)
	}
	return nil
}

// take waits for one signal on each channel.
func (r *runner) take(t int, ends []end) bool {
	need := map[end]int{}
	for _, e := range ends {
		if need[e]++; len(r.signals[e]) < need[e] {
			return false
		}
	}
	for _, e := range ends {
		r.join(r.threads[t].heard, r.signals[e][0])
		r.signals[e] = r.signals[e][1:]
	}
	return true
}

var bufferOf = map[string]schedule.Buffer{"i": schedule.Input, "o": schedule.Output, "s": schedule.Scratch}
