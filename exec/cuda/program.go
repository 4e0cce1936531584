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
	l.param.Turn = uint32(turn % block.EpochWords) // the words that count launches
	return l.kernel.Launch(on, l.shape, driver.Bytes(l.param))
}

// programOp is a block program.
type programOp struct {
	m       *memory
	ranks   []launches
	special []string // by rank: the key of its specialised kernel, "" without one
}

func (o *programOp) memory() *memory { return o.m }

func (o *programOp) specialised() bool {
	return slices.ContainsFunc(o.special, func(key string) bool { return key != "" })
}

// close unloads specialised kernels; interpreters serve other programs, too.
func (o *programOp) close() error {
	return o.m.n.each(func(g *gpu) error {
		key := o.special[g.Rank]
		m, ok := g.modules[key]
		if !ok {
			return nil
		}
		delete(g.modules, key)
		return m.Unload()
	})
}

func (o *programOp) launch(g *gpu, i int) error { return o.ranks[g.Rank].run(g.Stream, i) }

func (o *programOp) graphs(count int) ([]driver.Graph, error) {
	return o.m.n.capture(count, o.launch)
}

// code is a schedule in the programs and kernels that run it.
type code interface {
	// source is the kernel of a rank of the node.
	source(place int) source
	needs() needs
	// load makes it ready to launch; the operation is closed after an error, too.
	load(m *memory) (operation, error)
}

// compile makes of a schedule what runs it here.
func (n *Node) compile(s *schedule.Schedule, cfg Config, how Method) (code, error) {
	switch {
	case n.staged() && how.Proxied:
		return n.proxiedOf(s, cfg, how)
	case n.stages(how):
		return n.stagesOf(s, cfg, how)
	case how.Mechanism == block.Copies:
		return n.copiesOf(s, cfg, how)
	}
	p, err := block.Compile(s, how.options(cfg))
	if err != nil {
		return nil, err
	}
	return codeOf(p, cfg, how)
}

// load compiles a schedule for the GPUs and makes it ready to launch. Where kernels over nodes do not fit at once, on some process's
// GPUs, all take fewer streams, and then fewer blocks.
func (n *Node) load(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	for how = n.roomy(how); ; {
		o, err := n.loadAs(ctx, s, cfg, how)
		if !errors.Is(err, ErrRoom) || !n.staged() || !how.shrink() {
			return o, err
		}
	}
}

func (n *Node) loadAs(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	c, err := n.compile(s, cfg, how)
	if err := n.agree(ctx, err); err != nil {
		return nil, err
	}
	m, err := newMemory(ctx, n, s, cfg, c.needs())
	if err != nil {
		return nil, err
	}
	o, err := c.load(m)
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// Prepare compiles what a run needs into the cache, for each rank. Several may run at
// once.
func (n *Node) Prepare(s *schedule.Schedule, cfg Config, how Method) error {
	c, err := n.compile(s, cfg, n.roomy(how))
	if err != nil {
		return err
	}
	for _, g := range n.gpus {
		if _, err := c.source(g.place).compile(g.Arch); err != nil {
			return err
		}
	}
	return nil
}

// fits refuses a launch whose blocks cannot all run at once, where so many ranks share a GPU: they wait for one another.
func (n *Node) fits(g *gpu, k driver.Kernel, d driver.Dim, share int) error {
	return n.within(g, k, d, share, MaxBlocks)
}

// within does so where room says how many blocks a launch may have on a GPU that holds so many, which so many ranks share.
func (n *Node) within(g *gpu, k driver.Kernel, d driver.Dim, share int, room func(resident, share int) int) error {
	each, err := k.Resident(d)
	if err != nil {
		return err
	}
	most := room(each*g.Multiprocessors, share)
	if d.Blocks > most {
		shared := ""
		if share > 1 {
			shared = fmt.Sprintf(", which %d ranks share", share)
		}
		return fmt.Errorf("%w: %d blocks of %d threads at once and %d fit (%d on each of %d multiprocessors%s): use fewer channels, "+
			"phases or blocks a lane",
			ErrRoom, d.Blocks, d.Threads, most, each, g.Multiprocessors, shared)
	}
	return nil
}
