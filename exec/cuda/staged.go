//go:build cgo

package cuda

import (
	"context"
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
	"railyard/model/schedule"
)

// stagedOp is a schedule over several processes: kernels on this one's GPUs, and messages to others between them.
type stagedOp struct {
	m     *memory
	p     *block.Staged
	link  Link
	ranks []stagedRank
}

// stagedRank is what one GPU does.
type stagedRank struct {
	streams [][]stagedStep
	end     launches // counts the launch
}

// stagedStep is a stage: a kernel, where there is one, then messages.
type stagedStep struct {
	kernel   launches
	messages []Message
}

func (o *stagedOp) memory() *memory { return o.m }

// close has nothing to free: interpreters serve other programs, too.
func (o *stagedOp) close() error { return nil }

func (o *stagedOp) launch(g *gpu, i int) error { return o.queue(g, i) }

// blocksOfStages are the thread blocks of a kernel of stages where a method leaves them open.
const blocksOfStages = 64

// compileStages compiles a schedule for all processes; kernels have about as many blocks as use links well.
func (n *Node) compileStages(s *schedule.Schedule, cfg Config, how *Method) (*block.Staged, error) {
	if how.Blocks == 0 {
		one := *how
		one.Blocks = 1
		p, err := block.CompileStages(s, one.options(cfg), n.others.nodes, n.others.link.Streams())
		if err != nil {
			return nil, err
		}
		how.Blocks = max(blocksOfStages/max(p.Blocks()*len(p.Streams), 1), 1)
	}
	return block.CompileStages(s, how.options(cfg), n.others.nodes, n.others.link.Streams())
}

// loadStages makes a schedule over several processes ready to launch.
func (n *Node) loadStages(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	p, err := n.compileStages(s, cfg, &how)
	if err != nil {
		return nil, err
	}
	options, err := kernelOptions(cfg)
	if err != nil {
		return nil, err
	}
	var lanes []block.Lane
	plan := int64(0)
	for _, k := range p.Of(n.others.node) {
		lanes = slices.Concat(lanes, slices.Concat(k.Lanes...))
	}
	e := block.Encoding{Forms: block.FormsOf(how.Threads, append(lanes, block.Lane{Slices: 1})...), Instances: p.Instances}
	longest := e.LaneBytes(append(lanes, block.Lane{})...)
	if longest > maxLane {
		return nil, fmt.Errorf("a stage of %d bytes: plan with fewer chunks or slices", longest)
	}
	plan = int64(longest) * int64(p.Lanes+1)
	m, err := newMemory(ctx, n, s, cfg, needs{scratch: p.Scratch, half: p.PacketHalf, control: p.ControlBytes(), plan: plan,
		empty: p.Mechanism.Empty()})
	if err != nil {
		return nil, err
	}
	key, err := n.kernels(interpreter(append(options, threadsOption(how)), e.Forms))
	if err != nil {
		return nil, err
	}
	o := &stagedOp{m: m, p: p, link: n.others.link, ranks: make([]stagedRank, len(n.gpus))}
	return o, n.each(func(g *gpu) error {
		x := stagePlacer{o: o, g: g, encoding: e, longest: longest, threads: how.Threads}
		if x.kernel, err = g.modules[key].Kernel("run_plan"); err != nil {
			return err
		}
		return x.place()
	})
}

// stagePlacer puts one GPU's plans into its memory.
type stagePlacer struct {
	o        *stagedOp
	g        *gpu
	kernel   driver.Kernel
	encoding block.Encoding
	longest  int
	threads  int
	plans    int64 // bytes placed
}

func (x *stagePlacer) place() (err error) {
	n, r := x.o.m.n, &x.o.ranks[x.g.Rank]
	for _, stages := range x.o.p.Streams {
		var steps []stagedStep
		for _, st := range stages {
			var step stagedStep
			if k := st.Kernels[n.others.node]; k != nil {
				if step.kernel, err = x.launches(k.Lanes[x.g.place], k.Instances); err != nil {
					return err
				}
			}
			step.messages = x.messages(st.Group)
			steps = append(steps, step)
		}
		r.streams = append(r.streams, steps)
	}
	if r.end, err = x.launches([]block.Lane{{Slices: 1}}, 1); err == nil {
		r.end.param.Advance = 1
	}
	return err
}

// launches is a kernel of lanes with so many blocks each. Those of all streams, and the library's, run at once.
func (x *stagePlacer) launches(lanes []block.Lane, instances int) (launches, error) {
	const library = 32 // blocks of its kernels
	l := launches{kernel: x.kernel, shape: driver.Dim{Blocks: len(lanes) * instances, Threads: x.threads, Shared: x.longest},
		param: x.o.m.parameter(x.g.place, len(lanes), instances)}
	l.param.Advance = 0
	if err := x.o.m.putPlan(x.g, x.encoding, lanes, x.longest, x.plans, l.param); err != nil {
		return l, err
	}
	x.plans += int64(x.longest * len(lanes))
	all := l.shape
	all.Blocks = (all.Blocks + library) * len(x.o.p.Streams)
	return l, x.o.m.n.fits(x.g, x.kernel, all)
}

// messages are a rank's ends of a group's.
func (x *stagePlacer) messages(group []block.Transfer) (out []Message) {
	n := x.o.m.n
	own := n.number(x.g.place)
	at := func(r block.Ref) driver.Ptr {
		r.Rank = x.g.place
		return x.o.m.ref(r)
	}
	for _, t := range group {
		switch own {
		case t.From.Rank:
			out = append(out, Message{Send: true, Peer: t.To.Rank, At: at(t.From), Bytes: t.Bytes})
		case t.To.Rank:
			out = append(out, Message{Peer: t.From.Rank, At: at(t.To), Bytes: t.Bytes})
		}
	}
	return out
}

// queue puts stages on the GPU's stream and, where there are several, on side streams; events order them.
func (o *stagedOp) queue(g *gpu, turn int) error {
	r := &o.ranks[g.Rank]
	streams := append([]driver.Stream{g.Stream}, g.side[:max(len(r.streams)-1, 0)]...)
	for k, s := range streams[1:] {
		if err := follow(s, g.Stream, g.marks[2*k]); err != nil {
			return err
		}
	}
	most := 0
	for _, steps := range r.streams {
		most = max(most, len(steps))
	}
	for i := range most {
		for k, steps := range r.streams {
			if i < len(steps) {
				if err := o.step(g, k, &steps[i], streams[k], turn); err != nil {
					return err
				}
			}
		}
	}
	for k, s := range streams[1:] {
		if err := follow(g.Stream, s, g.marks[2*k+1]); err != nil {
			return err
		}
	}
	return r.end.run(g.Stream, turn)
}

// follow makes a stream wait for what another has been given so far.
func follow(s, ahead driver.Stream, mark driver.Event) error {
	if err := mark.Record(ahead); err != nil {
		return err
	}
	return s.Wait(mark)
}

func (o *stagedOp) step(g *gpu, set int, s *stagedStep, on driver.Stream, turn int) error {
	if err := s.kernel.run(on, turn); err != nil || len(s.messages) == 0 {
		return err
	}
	if err := o.link.Post(g.Rank, set, s.messages, on); err != nil {
		return err
	}
	return g.Use() // which the library may have changed
}
