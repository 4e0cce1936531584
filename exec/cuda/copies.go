//go:build cgo

package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/schedule"
)

// copiesOp is a schedule run by copy engines.
type copiesOp struct {
	m       *memory
	p       *block.Copying
	streams int
	ranks   []copyRank
}

// copyRank is what one GPU launches.
type copyRank struct {
	start, local, end launches
	stages            []launches
	graphs            [block.EpochWords]driver.Graph // one operation, by turn
}

func (o *copiesOp) memory() *memory { return o.m }

func (o *copiesOp) close() error {
	return o.m.n.each(func(g *gpu) (err error) {
		for _, graph := range o.ranks[g.Rank].graphs {
			err = errors.Join(err, graph.Destroy())
		}
		return err
	})
}

// loadCopies compiles a schedule for copy engines.
func (n *Node) loadCopies(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	if n.GPUs() < len(n.gpus) {
		return nil, fmt.Errorf("copy engines: not where ranks share a GPU, whose queues would wait for one another")
	}
	p, err := block.CompileCopies(s, how.options(cfg))
	if err != nil {
		return nil, err
	}
	program := &block.Program{Ranks: p.Ranks, Instances: p.Blocks, Lanes: make([][]block.Lane, p.Ranks)}
	for r := range program.Lanes {
		program.Lanes[r] = make([]block.Lane, 1)
	}
	src, err := copyingSource(p, cfg, how)
	if err != nil {
		return nil, err
	}
	_, longest := copyingEncoding(p, how)
	m, err := newMemory(ctx, n, s, cfg, needs{scratch: p.Scratch, control: program.ControlBytes(),
		plan: int64(longest * (3 + len(p.Stages)))})
	if err != nil {
		return nil, err
	}
	key, err := n.kernels(src)
	if err != nil {
		return nil, err
	}
	o := &copiesOp{m: m, p: p, streams: max(how.Streams, 1), ranks: make([]copyRank, len(n.gpus))}
	if 4+len(p.Stages)*(2+o.streams) > len(n.gpus[0].marks) {
		return nil, fmt.Errorf("%d stages on %d streams: use fewer slices", len(p.Stages), o.streams)
	}
	if err := n.each(func(g *gpu) error { return o.place(g, key, how) }); err != nil {
		return nil, err
	}
	if err := n.each(o.capture); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// capture makes graphs of one operation, for each turn. Copies between GPUs that are
// queued one by one can make the driver wait for a GPU, which then waits for a kernel
// that waits for another GPU's; a graph is handed over whole.
func (o *copiesOp) capture(g *gpu) (err error) {
	for turn := range o.ranks[g.Rank].graphs {
		o.ranks[g.Rank].graphs[turn], err = g.Stream.Capture(func() error { return o.queue(g, turn) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *copiesOp) launch(g *gpu, i int) error {
	return o.ranks[g.Rank].graphs[i%block.EpochWords].Launch(g.Stream)
}

func (o *copiesOp) graphs(count int) ([]driver.Graph, error) {
	return o.m.n.capture(count, o.queue)
}

// copyingLanes are those of all kernels.
func copyingLanes(p *block.Copying) []block.Lane {
	lanes := slices.Concat(p.Start, p.End, p.Local)
	for _, st := range p.Stages {
		lanes = append(lanes, st.Kernel...)
	}
	return lanes
}

// copyingEncoding is how the kernels' plans are written, and the longest's bytes.
func copyingEncoding(p *block.Copying, how Method) (block.Encoding, int) {
	lanes := copyingLanes(p)
	e := block.Encoding{Forms: block.FormsOf(how.Threads, lanes...), Instances: p.Blocks}
	return e, e.LaneBytes(lanes...)
}

// copyingSource is the kernel that runs them all.
func copyingSource(p *block.Copying, cfg Config, how Method) (source, error) {
	options, err := kernelOptions(cfg)
	if err != nil {
		return source{}, err
	}
	e, longest := copyingEncoding(p, how)
	if longest > maxLane {
		return source{}, fmt.Errorf("a stage of %d bytes: plan with fewer chunks or slices", longest)
	}
	return interpreter(append(options, threadsOption(how)), e.Forms), nil
}

func (o *copiesOp) place(g *gpu, key string, how Method) error {
	k, err := g.modules[key].Kernel("run_plan")
	if err != nil {
		return err
	}
	encoding, longest := copyingEncoding(o.p, how)
	plans := int64(0)
	set := func(l *launches, lane block.Lane, blocks int, last bool) error {
		*l = launches{kernel: k, shape: driver.Dim{Blocks: blocks, Threads: how.Threads, Shared: longest}, param: o.m.parameter(g.place, 1,
			o.p.Blocks)}
		if err := o.m.putPlan(g, encoding, []block.Lane{lane}, longest, plans, l.param); err != nil {
			return err
		}
		plans += int64(longest)
		if !last {
			l.param.Advance = 0
		}
		return o.m.n.fits(g, k, l.shape)
	}
	r := &o.ranks[g.Rank]
	if err := set(&r.start, o.p.Start[g.place], 1, false); err != nil {
		return err
	}
	if len(o.p.Local[g.place].Body) > 0 {
		if err := set(&r.local, o.p.Local[g.place], o.p.Blocks, false); err != nil {
			return err
		}
	}
	r.stages = make([]launches, len(o.p.Stages))
	for i, s := range o.p.Stages {
		if s.Kernel == nil {
			continue
		}
		if err := set(&r.stages[i], s.Kernel[g.place], o.p.Blocks, false); err != nil {
			return err
		}
	}
	return set(&r.end, o.p.End[g.place], 1, true)
}

// queue puts copies on side streams and kernels on the GPU's stream; events order
// them.
func (o *copiesOp) queue(g *gpu, turn int) error {
	q := &copyQueue{o: o, g: g, r: &o.ranks[g.Rank], turn: turn, lanes: g.side[:o.streams], reduced: map[int]driver.Event{}}
	if err := q.begin(); err != nil {
		return err
	}
	for j := range o.p.Stages {
		if err := q.stage(j); err != nil {
			return err
		}
	}
	if err := q.join(); err != nil {
		return err
	}
	return q.run(&q.r.end)
}
