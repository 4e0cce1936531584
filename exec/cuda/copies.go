//go:build cgo

package cuda

import (
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

// copiesCode is a schedule for copy engines with the interpreter of its kernels.
type copiesCode struct {
	*plans
	p       *block.Copying
	streams int
}

func (n *Node) copiesOf(s *schedule.Schedule, cfg Config, how Method) (code, error) {
	if n.GPUs() < len(n.gpus) {
		return nil, fmt.Errorf("copy engines: not where ranks share a GPU, whose queues would wait for one another")
	}
	p, err := block.CompileCopies(s, how.options(cfg))
	if err != nil {
		return nil, err
	}
	lanes := slices.Concat(p.Start, p.End, p.Local)
	for _, st := range p.Stages {
		lanes = append(lanes, st.Kernel...)
	}
	x, err := plansOf(cfg, how, p.Blocks, lanes...)
	return &copiesCode{x, p, max(how.Streams, 1)}, err
}

func (c *copiesCode) source(int) source { return c.plans.source }

func (c *copiesCode) needs() needs {
	program := &block.Program{Ranks: c.p.Ranks, Instances: c.p.Blocks, Lanes: [][]block.Lane{make([]block.Lane, 1)}}
	return needs{scratch: c.p.Scratch, control: program.ControlBytes(), plan: c.bytes(3 + len(c.p.Stages))}
}

func (c *copiesCode) load(m *memory) (operation, error) {
	o := &copiesOp{m: m, p: c.p, streams: c.streams, ranks: make([]copyRank, len(m.n.gpus))}
	if most := len(m.n.gpus[0].marks); len(c.p.Stages) > most {
		return o, fmt.Errorf("%d stages: use fewer slices", len(c.p.Stages))
	}
	err := m.loaded(func(g *gpu) error {
		x, err := c.placer(m, g)
		if err != nil {
			return err
		}
		if _, err := g.Side(c.streams); err != nil {
			return err
		}
		return c.place(x, &o.ranks[g.Rank])
	})
	if err != nil {
		return o, err
	}
	return o, m.n.each(o.capture)
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

// place puts one GPU's plans into its memory.
func (c *copiesCode) place(x *placer, r *copyRank) (err error) {
	place := x.g.place
	put := func(lane block.Lane, blocks int, last bool) (l launches) {
		if err == nil {
			l, err = x.launch([]block.Lane{lane}, c.p.Blocks, blocks, last)
		}
		if err == nil {
			err = x.m.n.fits(x.g, x.kernel, l.shape, x.m.n.share)
		}
		return l
	}
	r.start = put(c.p.Start[place], 1, false)
	if len(c.p.Local[place].Body) > 0 {
		r.local = put(c.p.Local[place], c.p.Blocks, false)
	}
	r.stages = make([]launches, len(c.p.Stages))
	for i, s := range c.p.Stages {
		if s.Kernel != nil {
			r.stages[i] = put(s.Kernel[place], c.p.Blocks, false)
		}
	}
	r.end = put(c.p.End[place], 1, true)
	return err
}

// queue puts copies on side streams and kernels on the GPU's stream; events order
// them.
func (o *copiesOp) queue(g *gpu, turn int) error {
	lanes, err := g.Side(o.streams)
	if err != nil {
		return err
	}
	q := &copyQueue{o: o, g: g, r: &o.ranks[g.Rank], turn: turn, lanes: lanes, reduced: map[int]bool{}}
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
