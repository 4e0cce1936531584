//go:build cgo

package cuda

import (
	"context"
	"errors"
	"fmt"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/schedule"
)

// operation is a collective that can be launched on one GPU; all GPUs launch the same
// ones in the same order.
type operation interface {
	// launch runs the operation numbered i on the GPU's stream.
	launch(g *gpu, i int) error
	// graphs are so many operations, a graph for each GPU.
	graphs(count int) ([]driver.Graph, error)
	memory() *memory
	// close frees what was loaded for it alone; nothing of it may run.
	close() error
}

// launches is a kernel with one rank's plan.
type launches struct {
	kernel driver.Kernel
	shape  driver.Dim
	param  *parameter
}

// run launches the kernel, where there is one, as part of an operation of a number.
func (l *launches) run(on driver.Stream, turn int) error {
	if l.param == nil {
		return nil
	}
	l.param.turn(turn)
	return l.kernel.Launch(on, l.shape, driver.Bytes(l.param))
}

// programOp is a block program.
type programOp struct {
	m       *memory
	ranks   []launches
	special []string // by rank: the key of its specialised kernel, "" without one
}

func (o *programOp) memory() *memory { return o.m }

// close unloads specialised kernels; interpreters serve other programs, too.
func (o *programOp) close() error {
	return o.m.n.each(func(g *gpu) error {
		key := o.special[g.Rank]
		if key == "" {
			return nil
		}
		m := g.modules[key]
		delete(g.modules, key)
		return m.Unload()
	})
}

func (o *programOp) launch(g *gpu, i int) error { return o.ranks[g.Rank].run(g.Stream, i) }

func (o *programOp) graphs(count int) ([]driver.Graph, error) {
	return o.m.n.capture(count, o.launch)
}

// load compiles a schedule for the GPUs and makes it ready to launch.
func (n *Node) load(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	switch {
	case n.staged():
		return n.loadStages(ctx, s, cfg, how)
	case how.Mechanism == block.Copies:
		return n.loadCopies(ctx, s, cfg, how)
	}
	p, err := block.Compile(s, how.options(cfg))
	if err != nil {
		return nil, err
	}
	c, err := codeOf(p, cfg, how)
	if err != nil {
		return nil, err
	}
	m, err := newMemory(ctx, n, s, cfg, c.needs())
	if err != nil {
		return nil, err
	}
	o := &programOp{m: m, ranks: make([]launches, len(n.gpus)), special: make([]string, len(n.gpus))}
	if err := o.place(c); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// place loads every rank's kernel and puts its plan into its parameter or its memory.
func (o *programOp) place(c *code) error {
	return o.m.n.each(func(g *gpu) error {
		src := c.source(g.place)
		if err := g.load(src); err != nil {
			return err
		}
		key := src.key()
		if c.how.Specialise {
			o.special[g.Rank] = key
		}
		l := &o.ranks[g.Rank]
		l.shape = driver.Dim{Blocks: c.p.Blocks(), Threads: c.how.Threads, Shared: c.laneBytes, Overlap: c.how.Overlap && g.Overlap}
		l.param = o.m.parameter(g.place, len(c.p.Lanes[g.place]), c.p.Instances)
		var err error
		if l.kernel, err = g.modules[key].Kernel(c.entry()); err != nil {
			return err
		}
		if err := o.m.n.fits(g, l.kernel, l.shape); err != nil {
			return err
		}
		return o.m.put(g, c, l.param)
	})
}

// put writes a rank's plan where its kernel reads it.
func (m *memory) put(g *gpu, c *code, p *parameter) error {
	if c.how.Specialise {
		m.table(p)
		return nil
	}
	return m.putPlan(g, c.encoding[g.place], c.p.Lanes[g.place], c.laneBytes, 0, p)
}

// putPlan writes lanes into the GPU's memory, so many bytes behind where plans begin.
func (m *memory) putPlan(g *gpu, e block.Encoding, lanes []block.Lane, laneBytes int, behind int64, p *parameter) error {
	e.Address = m.address
	at := g.pool.At + driver.Ptr(m.plan+behind)
	p.Plan, p.LaneBytes = uint64(at), uint32(laneBytes)
	return driver.Upload(at, e.Encode(g.place, lanes, laneBytes))
}

// fits refuses a launch whose blocks cannot all run at once: they wait for one another.
func (n *Node) fits(g *gpu, k driver.Kernel, d driver.Dim) error {
	each, err := k.Resident(d)
	if err != nil {
		return err
	}
	most := MaxBlocks(each*g.Multiprocessors, n.share)
	if d.Blocks > most {
		shared := ""
		if n.share > 1 {
			shared = fmt.Sprintf(", which %d ranks share", n.share)
		}
		return fmt.Errorf("%w: %d blocks of %d threads at once and %d fit (%d on each of %d multiprocessors%s): use fewer channels, "+
			"phases or blocks a lane",
			ErrRoom, d.Blocks, d.Threads, most, each, g.Multiprocessors, shared)
	}
	return nil
}
