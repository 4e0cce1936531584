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

func (o *stagedOp) graphs(count int) ([]driver.Graph, error) {
	return o.m.n.capture(count, o.launch)
}

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

// stages is a schedule over several nodes with the interpreter of this node's kernels.
type stages struct {
	p        *block.Staged
	kernel   source
	encoding block.Encoding
	longest  int // bytes of a lane
	threads  int
}

func (n *Node) stagesOf(s *schedule.Schedule, cfg Config, how Method) (*stages, error) {
	p, err := n.compileStages(s, cfg, &how)
	if err != nil {
		return nil, err
	}
	options, err := kernelOptions(cfg)
	if err != nil {
		return nil, err
	}
	lanes := []block.Lane{{Slices: 1}} // which counts launches
	for _, k := range p.Of(n.others.node) {
		lanes = slices.Concat(lanes, slices.Concat(k.Lanes...))
	}
	x := &stages{p: p, encoding: block.Encoding{Forms: block.FormsOf(how.Threads, lanes...), Instances: p.Instances}, threads: how.Threads}
	x.kernel = interpreter(append(options, threadsOption(how)), x.encoding.Forms)
	if x.longest = x.encoding.LaneBytes(lanes...); x.longest > maxLane {
		return nil, fmt.Errorf("a stage of %d bytes: plan with fewer chunks or slices", x.longest)
	}
	return x, nil
}

// loadStages makes a schedule over several nodes ready to launch.
func (n *Node) loadStages(ctx context.Context, s *schedule.Schedule, cfg Config, how Method) (operation, error) {
	x, err := n.stagesOf(s, cfg, how)
	if err != nil {
		return nil, err
	}
	p := x.p
	m, err := newMemory(ctx, n, s, cfg, needs{scratch: p.Scratch, half: p.PacketHalf, control: p.ControlBytes(),
		plan: int64(x.longest) * int64(p.Lanes+1), empty: p.Mechanism.Empty()})
	if err != nil {
		return nil, err
	}
	key, err := n.kernels(x.kernel)
	if err != nil {
		return nil, err
	}
	o := &stagedOp{m: m, link: n.others.link, ranks: make([]stagedRank, len(n.gpus))}
	return o, n.each(func(g *gpu) error {
		kernel, err := g.modules[key].Kernel("run_plan")
		if err != nil {
			return err
		}
		return (&stagePlacer{o: o, stages: x, g: g, kernel: kernel}).place()
	})
}

// stagePlacer puts one GPU's plans into its memory.
type stagePlacer struct {
	*stages
	o      *stagedOp
	g      *gpu
	kernel driver.Kernel
	plans  int64 // bytes placed
}

func (x *stagePlacer) place() (err error) {
	n, r := x.o.m.n, &x.o.ranks[x.g.Rank]
	for _, stages := range x.p.Streams {
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
	all.Blocks = (all.Blocks + library) * len(x.p.Streams)
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

// launch puts stages on the GPU's stream and, where there are several, on side streams; events order them.
func (o *stagedOp) launch(g *gpu, turn int) error {
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
