//go:build cgo

package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/block"
	"railyard/model/schedule"
)

// Run checks and times a schedule. The error names who waited for whom where a wait
// expires; when ctx ends, all kernels do.
func (n *Node) Run(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Spec.Ranks != n.total() {
		return nil, fmt.Errorf("a schedule for %d ranks on %d GPUs", s.Spec.Ranks, n.total())
	}
	op, err := n.load(ctx, s, cfg, how)
	if err != nil {
		return nil, err
	}
	return n.run(ctx, op, cfg)
}

// run checks and times an operation, and frees it.
func (n *Node) run(ctx context.Context, op operation, cfg Config) (*Result, error) {
	r := &runner{n: n, op: op, cfg: cfg, ctx: ctx}
	out, err := r.all()
	if x, ok := op.(*programOp); ok && out != nil {
		out.Specialised = x.specialised()
	}
	if n.after(err); n.Abandoned() {
		return out, err
	}
	return out, errors.Join(err, op.close())
}

// all checks, times, and checks what the timed operations have left.
func (r *runner) all() (*Result, error) {
	out := &Result{Wrong: -1}
	var d *data
	var err error
	if r.cfg.Checks > 0 {
		if d, err = newData(r.op.memory()); err != nil {
			return nil, err
		}
		if out.Wrong, err = r.check(d); err != nil {
			return nil, err
		}
	}
	if r.cfg.Replays > 0 && !r.cfg.NoGraph {
		if out.Ranks, err = r.graph(); err != nil {
			return nil, err
		}
		out.Times = gpus.Slowest(out.Ranks)
	}
	if r.cfg.Stream {
		if out.Stream, err = r.stream(); err != nil {
			return nil, err
		}
	}
	if r.cfg.Checks > 0 && !r.cfg.InPlace { // the inputs are still those of the last epoch
		wrong, err := d.wrong()
		if err != nil {
			return nil, err
		}
		out.Wrong += wrong
	}
	out.Launches = r.launches
	return out, r.n.gather(r.ctx, out)
}

// runner launches an operation again and again.
type runner struct {
	n        *Node
	op       operation
	cfg      Config
	ctx      context.Context
	done     int // operations launched; replays of graphs are none
	launches int // all operations that ran
}

// launch puts operations on all GPUs' streams, when all processes are ready for them.
func (r *runner) launch(count int) error {
	if err := r.n.together(r.ctx); err != nil {
		return err
	}
	from := r.done
	r.done += count
	r.launches += count
	return r.n.each(func(g *gpu) error {
		for i := range count {
			if err := r.op.launch(g, from+i); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *runner) check(d *data) (wrong int64, err error) {
	for d.epoch = range r.cfg.Checks {
		d.random = d.epoch%3 == 2
		if err := r.n.together(r.ctx); err != nil { // nobody reads the inputs before any more
			return 0, err
		}
		if err := d.fill(); err != nil {
			return 0, err
		}
		if err := r.launch(1); err != nil {
			return 0, err
		}
		if err := r.n.settle(r.ctx); err != nil {
			return 0, err
		}
		w, err := d.wrong()
		if err != nil {
			return 0, err
		}
		wrong += w
	}
	return wrong, nil
}

// graph replays Iterations operations on each GPU: of each GPU one sample a
// replay, the time between events divided by the operations.
func (r *runner) graph() ([][]time.Duration, error) {
	// A replay begins where the capture began. The first operations of a library connect ranks.
	for r.done == 0 || r.done%block.EpochWords != 0 {
		if err := r.launch(1); err != nil {
			return nil, err
		}
	}
	if err := r.n.settle(r.ctx); err != nil {
		return nil, err
	}
	graphs, err := r.op.graphs(r.cfg.Iterations)
	if err != nil {
		return nil, err
	}
	r.launches += r.cfg.Iterations * r.n.replays(r.cfg)
	return r.n.replay(r.ctx, r.cfg, graphs)
}

// capture records operations on each GPU, which queue puts on its stream.
func (n *Node) capture(count int, queue func(g *gpu, turn int) error) ([]driver.Graph, error) {
	if count%block.EpochWords != 0 {
		return nil, fmt.Errorf("%d operations in a graph: must be a multiple of %d", count, block.EpochWords)
	}
	graphs := make([]driver.Graph, len(n.gpus))
	return graphs, n.each(func(g *gpu) (err error) {
		graphs[g.Rank], err = g.Stream.Capture(func() error {
			for i := range count {
				if err := queue(g, i); err != nil {
					return err
				}
			}
			return nil
		})
		return err
	})
}

// replay times graphs of cfg.Iterations operations, one for each GPU, and frees them: each replay behind a gate, or in a row where
// processes open gates of their own.
func (n *Node) replay(ctx context.Context, cfg Config, graphs []driver.Graph) (out [][]time.Duration, err error) {
	defer func() {
		if !n.Abandoned() {
			_ = n.each(func(g *gpu) error { return graphs[g.Rank].Destroy() })
		}
	}()
	launch := func(g *gpu) error { return graphs[g.Rank].Launch(g.Stream) }
	if n.staged() {
		out, err = n.inRow(ctx, n.replays(cfg), launch)
	} else {
		out, err = n.oneByOne(ctx, n.replays(cfg), launch)
	}
	for rank := range out {
		out[rank] = out[rank][len(out[rank])-cfg.Replays:]
		for i := range out[rank] {
			out[rank][i] /= time.Duration(cfg.Iterations)
		}
	}
	return out, err
}

// replays are how many of a graph run, timed or not.
func (n *Node) replays(cfg Config) int {
	if n.staged() { // two at least warm up
		return max(cfg.warmReplays(), 1) + 1 + cfg.Replays
	}
	return cfg.warmReplays() + cfg.Replays
}

// oneByOne is what work takes on each GPU so many times, each behind a gate.
func (n *Node) oneByOne(ctx context.Context, times int, work func(g *gpu) error) ([][]time.Duration, error) {
	out := make([][]time.Duration, len(n.gpus))
	for range times {
		t, err := n.timed(ctx, work)
		if err != nil {
			return nil, err
		}
		for rank := range t {
			out[rank] = append(out[rank], t[rank])
		}
	}
	return out, nil
}

// inRow is the same for work that goes on and on: whoever began first has waited for the others by then. The first two times are missing.
func (n *Node) inRow(ctx context.Context, times int, work func(g *gpu) error) (out [][]time.Duration, err error) {
	marks := make([]gpus.Marks, len(n.gpus))
	defer func() {
		if !n.Abandoned() {
			err = errors.Join(err, n.each(func(g *gpu) error { return marks[g.Rank].Destroy() }))
		}
	}()
	err = n.each(func(g *gpu) (err error) {
		marks[g.Rank], err = gpus.NewMarks(times)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := n.behindOneGate(ctx, marks, work); err != nil {
		return nil, err
	}
	out = make([][]time.Duration, len(n.gpus))
	return out, n.each(func(g *gpu) (err error) {
		out[g.Rank], err = marks[g.Rank].Times()
		return err
	})
}

// behindOneGate does work ahead of each mark, and waits until it has ended. The gate opens once the first is queued: all might not
// fit into a queue that does not empty.
func (n *Node) behindOneGate(ctx context.Context, marks []gpus.Marks, work func(g *gpu) error) error {
	const first = 2
	queue := func(g *gpu, list gpus.Marks) error {
		for _, m := range list {
			if err := work(g); err != nil {
				return err
			}
			if err := m.Record(g.Stream); err != nil {
				return err
			}
		}
		return nil
	}
	gate, err := n.newGate()
	if err != nil {
		return err
	}
	defer gate.open()
	err = n.each(func(g *gpu) error {
		if err := gate.hold(g); err != nil {
			return err
		}
		return queue(g, marks[g.Rank][:first])
	})
	if err != nil {
		return err
	}
	if err := n.together(ctx); err != nil {
		return err
	}
	gate.open()
	if err := n.each(func(g *gpu) error { return queue(g, marks[g.Rank][first:]) }); err != nil {
		return err
	}
	return n.settle(ctx)
}

// timed runs work on every GPU between two events and returns the times between. A gate
// before the first event holds all GPUs until everything is queued on all.
func (n *Node) timed(ctx context.Context, work func(g *gpu) error) ([]time.Duration, error) {
	gate, err := n.newGate()
	if err != nil {
		return nil, err
	}
	defer gate.open()
	err = n.each(func(g *gpu) error {
		if err := gate.hold(g); err != nil {
			return err
		}
		return g.marked(work)
	})
	if err != nil {
		return nil, err
	}
	if err := n.together(ctx); err != nil {
		return nil, err
	}
	gate.open()
	return n.between(ctx)
}

// marked does work between two events.
func (g *gpu) marked(work func(g *gpu) error) error {
	if err := g.began.Record(g.Stream); err != nil {
		return err
	}
	if err := work(g); err != nil {
		return err
	}
	return g.ended.Record(g.Stream)
}

// between is what passed between the GPUs' events, when all work has ended.
func (n *Node) between(ctx context.Context) ([]time.Duration, error) {
	if err := n.settle(ctx); err != nil {
		return nil, err
	}
	out := make([]time.Duration, len(n.gpus))
	return out, n.each(func(g *gpu) (err error) {
		out[g.Rank], err = g.ended.Since(g.began)
		return err
	})
}

func slowest(times []time.Duration) (most time.Duration) {
	for _, t := range times {
		most = max(most, t)
	}
	return most
}

// stream times operations launched one by one.
func (r *runner) stream() (out []time.Duration, err error) {
	for range r.cfg.Replays {
		from := r.done
		r.done += r.cfg.loop()
		r.launches += r.cfg.loop()
		t, err := r.n.loop(r.ctx, r.cfg, func(g *gpu, i int) error { return r.op.launch(g, from+i) })
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// loop launches cfg.loop() operations on every GPU's stream, one after another from the
// GPU's own thread, and returns what one takes on the slowest. No gate holds them back: as
// in nccl-tests' loop, where the host is slower than the GPUs, the host is what is timed.
func (n *Node) loop(ctx context.Context, cfg Config, launch func(g *gpu, i int) error) (time.Duration, error) {
	count := cfg.loop()
	err := n.each(func(g *gpu) error {
		return g.marked(func(g *gpu) error {
			for i := range count {
				if err := launch(g, i); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	t, err := n.between(ctx)
	return slowest(t) / time.Duration(count), err
}
