//go:build cgo

package cuda

import (
	"errors"
	"fmt"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/schedule"
)

// operation is a collective that can be launched on one GPU; all GPUs launch the same
// ones in the same order.
type operation interface {
	// queue puts the operation numbered i on the GPU's stream; into a graph, too.
	queue(g *gpu, i int) error
	// launch runs it at once.
	launch(g *gpu, i int) error
	memory() *memory
	// close frees what was loaded for it alone; nothing of it may run.
	close() error
}

// launches is a kernel with one rank's plan.
type launches struct {
	kernel driver.Kernel
	shape  driver.Dim
	param  parameter
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
		key := o.special[g.rank]
		if key == "" {
			return nil
		}
		m := g.modules[key]
		delete(g.modules, key)
		return m.Unload()
	})
}

func (o *programOp) launch(g *gpu, i int) error { return o.queue(g, i) }

func (o *programOp) queue(g *gpu, i int) error {
	l := &o.ranks[g.rank]
	l.param.word(sideAt, uint32(i&1))
	return l.kernel.Launch(g.stream, l.shape, l.param)
}

// load compiles a schedule for the GPUs and makes it ready to launch.
func (n *Node) load(s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	if how.Copies {
		return n.loadCopies(s, cfg, how)
	}
	p, err := block.Compile(s, how.options(cfg))
	if err != nil {
		return nil, err
	}
	var longest int64
	for r := range p.Ranks {
		longest = max(longest, int64(len(p.Encode(r))))
	}
	m, err := newMemory(n, s, cfg, p.Scratch, p.PacketHalf, p.ControlBytes(), longest)
	if err != nil {
		return nil, err
	}
	o := &programOp{m: m, ranks: make([]launches, p.Ranks), special: make([]string, p.Ranks)}
	if err := o.place(p, how); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// place puts every rank's plan into its parameter or its memory.
func (o *programOp) place(p *block.Program, how Method) error {
	return o.m.n.each(func(g *gpu) error {
		plan := p.Encode(g.rank)
		key, name, shared, err := g.choose(o.m.cfg, p, how, len(plan))
		if err != nil {
			return err
		}
		if how.Specialise {
			o.special[g.rank] = key
		}
		l := &o.ranks[g.rank]
		l.shape = driver.Dim{Blocks: p.Blocks(), Threads: how.Threads, Shared: shared, Overlap: how.Overlap && g.overlap}
		l.param = o.m.parameter(g.rank)
		l.param.shape(len(p.Lanes[g.rank]), p.Instances)
		if l.kernel, err = g.modules[key].Kernel(name); err != nil {
			return err
		}
		if err := g.fits(l.kernel, l.shape); err != nil {
			return err
		}
		switch name {
		case "run_inline":
			copy(l.param[dataAt:], plan)
		case "run_stored":
			at := g.pool.At + driver.Ptr(o.m.plan)
			l.param.long(planAt, uint64(at))
			return driver.Upload(at, plan)
		}
		return nil
	})
}

// choose loads the interpreter, or the rank's specialised kernel, and says which kernel
// runs the plan and how much shared memory it needs.
func (g *gpu) choose(cfg Config, p *block.Program, how Method, plan int) (key, name string, shared int, err error) {
	options, err := defines(cfg.DType, cfg.Op)
	if err != nil {
		return "", "", 0, err
	}
	if how.Specialise {
		constants := p.Constants(g.rank)
		key = fmt.Sprint("run.cu", options, constants)
		return key, "run_special", 0, g.load(key, "run.cu", append(options, "-DSPECIALISED"), map[string]string{"constants.cuh": constants})
	}
	options = append(options, interpreterOptions(p.Shape())...)
	key = fmt.Sprint("run.cu", options)
	if err := g.load(key, "run.cu", options, nil); err != nil {
		return "", "", 0, err
	}
	if plan <= inlineBytes {
		return key, "run_inline", 0, nil
	}
	shared = p.MaxLaneBytes() + 8*buffers*block.MaxRanks
	if shared > 200<<10 {
		return "", "", 0, fmt.Errorf("a lane of %d bytes: plan with fewer operations a lane", shared)
	}
	return key, "run_stored", shared, nil
}

// interpreterOptions make an interpreter for plans of a shape: what they do not need would
// only make it slower.
func interpreterOptions(s block.Shape) []string {
	return []string{fmt.Sprintf("-DPEERS=%d", s.Width), fmt.Sprintf("-DKINDS=%d", s.Kinds)}
}

// fits refuses a launch whose blocks cannot all run at once: they wait for one another.
func (g *gpu) fits(k driver.Kernel, d driver.Dim) error {
	each, err := k.Resident(d)
	if err != nil {
		return err
	}
	if d.Blocks > each*g.sms {
		return fmt.Errorf("the schedule needs %d blocks of %d threads at once and %d fit (%d on each of %d multiprocessors): use fewer channels, phases or blocks a lane",
			d.Blocks, d.Threads, each*g.sms, each, g.sms)
	}
	return nil
}
