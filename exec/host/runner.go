package host

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"railyard/exec/cluster"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// runner holds the memory and the ranks of a run, those of this process.
type runner[T element] struct {
	team
	s       *schedule.Schedule
	cfg     Config
	k       *kernels[T]
	layout  *schedule.Layout
	mem     []memory[T] // by rank; empty elsewhere
	first   int         // the first rank here
	ranks   []*rank[T]  // that are here
	signals [][]*atomic.Int64
}

// here reports whether a rank is of this process.
func (r *runner[T]) here(rank int32) bool {
	return int(rank) >= r.first && int(rank) < r.first+len(r.ranks)
}

func newRunner[T element](s *schedule.Schedule, cfg Config, k *kernels[T]) (*runner[T], error) {
	r := &runner[T]{s: s, cfg: cfg, k: k, layout: schedule.NewLayout(s, cfg.Count, 1), mem: make([]memory[T], s.Spec.Ranks)}
	first, behind := cfg.here(s)
	r.first = first
	r.init(behind - first)
	r.work = func(rank int, i int64) bool { return r.ranks[rank].iterate(i) }
	if cfg.Op == collective.Avg && s.Spec.Kind.Reduces() {
		r.after = r.divide
	}
	x := schedule.NewExpander(s)
	copies := x.ScratchCopies()
	for i := first; i < behind; i++ {
		r.allocate(i, copies)
		r.ranks = append(r.ranks, &rank[T]{r: r, id: int32(i)})
	}
	a := &assembly[T]{runner: r, x: x, index: map[connKey]*conn[T]{}}
	for c := range s.Channels {
		for rank := range s.Spec.Ranks {
			a.lanes(c, rank)
		}
	}
	if cfg.Over == nil {
		return r, nil
	}
	r.transport, r.meet = cfg.Over.net, r.begins
	r.crowded = r.crowd(cfg.Over.Local)
	return r, a.meet()
}

// begins waits until all processes begin an iteration, in as many steps as their number has digits: each
// tells those 1, 2, 4 … places on and waits for those as many before (Hensgen, Finkel, Manber 1988).
func (r *runner[T]) begins(i int64) bool {
	p := r.cfg.Over
	for step := 1; step < p.Size; step *= 2 {
		if err := p.net.Signal((p.Process+step)%p.Size, p.runs, beginSignal, 1); err != nil {
			r.fail(err)
			return false
		}
		if !r.await(r.signals[(p.Process+p.Size-step)%p.Size][beginSignal], i+1) {
			return false
		}
	}
	return true
}

// divide makes averages of sums, once nobody reads the sums any more.
func (r *runner[T]) divide() {
	for _, k := range r.ranks {
		if n := r.layout.Elements(int(k.id), schedule.Output); n > 0 {
			r.k.divide(r.mem[k.id].bufs[schedule.Output][:n], r.s.Spec.Ranks)
		}
	}
}

// measured is what a process has seen of a run.
type measured struct {
	Wrong int64
	Times []time.Duration   // of its ranks together
	Ranks [][]time.Duration // of each
}

// together makes the result of what all processes have seen: an iteration takes as long as on the process
// where it takes longest. Clocks are compared nowhere.
func (r *runner[T]) together(ctx context.Context, own measured) (*Result, error) {
	all := []measured{own}
	if p := r.cfg.Over; p != nil {
		if err := p.leave(ctx, r.signals); err != nil {
			return nil, err
		}
		var err error
		if all, err = cluster.Tell(ctx, p.group.Exchange, own); err != nil {
			return nil, err
		}
	}
	out := &Result{Times: make([]time.Duration, r.cfg.Iterations)}
	for i, m := range all {
		if len(m.Times) != len(out.Times) {
			return nil, fmt.Errorf("process %d ran %d iterations, this one %d: all must be given the same", i, len(m.Times), len(out.Times))
		}
		out.Wrong += m.Wrong
		out.Ranks = append(out.Ranks, m.Ranks...)
		for j, t := range m.Times {
			out.Times[j] = max(out.Times[j], t)
		}
	}
	return out, nil
}
