//go:build cgo

package cuda

import (
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

// stages reports whether a method runs schedules in stages.
func (n *Node) stages(how Method) bool { return n.staged() && !how.Proxied }

// roomy is a method over nodes with as many streams as stages have a link for, and the most blocks that either engine takes.
func (n *Node) roomy(how Method) Method {
	switch {
	case n.stages(how):
		how.Streams, how.kernel = n.others.link.Streams(), BlocksOfStages
	case n.staged():
		how.kernel = mostBlocks
	}
	return how
}

// shrink makes such a method take less of a GPU at once, where it can.
func (how *Method) shrink() bool {
	switch {
	case how.Streams > 1:
		how.Streams /= 2
	case how.Blocks == 0 && how.kernel > 1:
		how.kernel /= 2
	default:
		return false
	}
	return true
}

// compileStages compiles a schedule for all processes; kernels have about as many blocks as use links well.
func (n *Node) compileStages(s *schedule.Schedule, cfg Config, how *Method) (*block.Staged, error) {
	if how.Blocks == 0 {
		one := *how
		one.Blocks = 1
		p, err := block.CompileStages(s, one.options(cfg), n.others.nodes, how.Streams)
		if err != nil {
			return nil, err
		}
		how.Blocks = max(how.kernel/max(p.Blocks()*len(p.Streams), 1), 1)
	}
	return block.CompileStages(s, how.options(cfg), n.others.nodes, how.Streams)
}

// stagedCode is a schedule over several nodes with the interpreter of this node's kernels.
type stagedCode struct {
	*plans
	p *block.Staged
	n *Node
}

// counting is the lane of a kernel that only counts the launch.
var counting = []block.Lane{{Slices: 1}}

func (n *Node) stagesOf(s *schedule.Schedule, cfg Config, how Method) (code, error) {
	p, err := n.compileStages(s, cfg, &how)
	if err != nil {
		return nil, err
	}
	lanes := counting
	for _, k := range p.Of(n.others.node) {
		lanes = slices.Concat(lanes, slices.Concat(k.Lanes...))
	}
	x, err := plansOf(cfg, how, p.Instances, lanes...)
	return &stagedCode{x, p, n}, err
}

func (c *stagedCode) source(int) source { return c.plans.source }

func (c *stagedCode) needs() needs {
	return needs{scratch: c.p.Scratch, half: c.p.PacketHalf, control: c.p.ControlBytes(), plan: c.bytes(c.p.Lanes + 1),
		empty: c.p.Mechanism.Empty()}
}

func (c *stagedCode) load(m *memory) (operation, error) {
	o := &stagedOp{m: m, link: m.n.others.link, ranks: make([]stagedRank, len(m.n.gpus))}
	return o, m.loaded(func(g *gpu) error {
		x, err := c.placer(m, g)
		if err != nil {
			return err
		}
		return c.place(x, &o.ranks[g.Rank])
	})
}

// place puts one GPU's plans into its memory.
func (c *stagedCode) place(x *placer, r *stagedRank) (err error) {
	for _, stages := range c.p.Streams {
		var steps []stagedStep
		for _, st := range stages {
			var step stagedStep
			if k := st.Kernels[c.n.others.node]; k != nil {
				if step.kernel, err = x.launch(k.Lanes[x.g.place], k.Instances, k.Blocks(), false); err != nil {
					return err
				}
				if err = c.fits(x, step.kernel.shape); err != nil {
					return err
				}
			}
			step.messages = x.messages(st.Group)
			steps = append(steps, step)
		}
		r.streams = append(r.streams, steps)
	}
	r.end, err = x.launch(counting, 1, 1, true)
	return err
}

// fits: on each stream a kernel follows the library's, whose blocks wait for ranks of other nodes: all of a GPU's run at once. None
// begins before the one ahead of it has ended.
func (c *stagedCode) fits(x *placer, d driver.Dim) error {
	d.Blocks = max(d.Blocks, LibraryBlocks) * len(c.p.Streams)
	return c.n.within(x.g, x.kernel, d, c.n.Share(), func(resident, share int) int { return resident / share })
}

// messages are a rank's ends of a group's.
func (x *placer) messages(group []block.Transfer) (out []Message) {
	n := x.m.n
	own := n.number(x.g.place)
	at := func(r block.Ref) driver.Ptr {
		r.Rank = x.g.place
		return x.m.ref(r)
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
	side, err := g.Side(max(len(r.streams)-1, 0))
	if err != nil {
		return err
	}
	streams := append([]driver.Stream{g.Stream}, side...)
	if err := g.Fork(side, func() error { return o.steps(g, streams, turn) }); err != nil {
		return err
	}
	return r.end.run(g.Stream, turn)
}

// steps are those of all streams by turns.
func (o *stagedOp) steps(g *gpu, streams []driver.Stream, turn int) error {
	for i, more := 0, true; more; i++ {
		more = false
		for k, steps := range o.ranks[g.Rank].streams {
			if i >= len(steps) {
				continue
			}
			more = true
			if err := o.step(g, k, &steps[i], streams[k], turn); err != nil {
				return err
			}
		}
	}
	return nil
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
