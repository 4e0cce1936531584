//go:build cgo

package cuda

import (
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/exec/proxy"
	"railyard/model/block"
	"railyard/model/schedule"
)

// proxiedOp is a schedule over several processes in one kernel a rank, whose messages to other nodes a proxy carries.
type proxiedOp struct {
	m     *memory
	ranks [][]launches // by rank and turn of the slots
	round *proxy.Round // nil where it did not come to that
}

func (o *proxiedOp) memory() *memory { return o.m }

func (o *proxiedOp) close() error {
	if o.round == nil {
		return nil
	}
	return o.round.End()
}

// launch runs the kernel for the slots that the launch numbered i + 1 has.
func (o *proxiedOp) launch(g *gpu, i int) error {
	turns := o.ranks[g.Rank]
	return turns[(i+1)%len(turns)].run(g.Stream, i)
}

func (o *proxiedOp) graphs(count int) ([]driver.Graph, error) {
	return o.m.n.capture(count, o.launch)
}

// proxiedCode is such a program with the interpreters of its ranks.
type proxiedCode struct {
	*programCode
	n *Node
}

func (n *Node) proxiedOf(s *schedule.Schedule, cfg Config, how Method) (code, error) {
	s, piece := InPieces(s, cfg.Count*int64(cfg.DType.Size()))
	if how.Blocks == 0 {
		how.Blocks = max(min(int(piece/blockPiece), how.kernel), 1)
	}
	p, err := block.CompileProxied(s, how.options(cfg), n.others.nodes)
	if err != nil {
		return nil, err
	}
	if slots := int64(p.SlotTurns) * p.SlotBytes; slots > mostSlots {
		return nil, fmt.Errorf("%d bytes of slots for a rank's messages by proxy, at most %d are taken: use engine=stages", slots,
			int64(mostSlots))
	}
	how.Specialise = false // plans name the memory of a run
	x, err := codeOf(p, cfg, how)
	if err != nil {
		return nil, err
	}
	for _, plans := range x.plans {
		plans.encoding.Node = p.Node
	}
	return &proxiedCode{x, n}, nil
}

func (c *proxiedCode) source(place int) source { return c.programCode.source(c.n.number(place)) }

func (c *proxiedCode) needs() needs {
	x := c.programCode.needs()
	x.plan *= int64(c.p.SlotTurns)
	return x
}

func (c *proxiedCode) load(m *memory) (operation, error) {
	o := &proxiedOp{m: m, ranks: make([][]launches, len(m.n.gpus))}
	shared := make([][]byte, len(m.n.gpus))
	err := m.loaded(func(g *gpu) (err error) {
		if err := g.share(proxy.Bytes(c.p)); err != nil {
			return err
		}
		shared[g.Rank] = g.shared.Bytes
		o.ranks[g.Rank], err = c.place(m, g)
		return err
	})
	if err == nil {
		o.round, err = m.n.others.proxy.Begin(m.ctx, c.p, shared, m.n.others.networkLost)
	}
	return o, err
}

// share makes memory that the GPU's kernels have with a proxy; what is large enough stays.
func (g *gpu) share(bytes int64) (err error) {
	if g.shared != nil && int64(len(g.shared.Bytes)) >= bytes {
		return nil
	}
	if err := g.unshare(); err != nil {
		return err
	}
	g.shared, err = driver.AllocHost(int(bytes))
	return err
}

func (g *gpu) unshare() (err error) {
	if g.shared != nil {
		err, g.shared = g.shared.Free(), nil
	}
	return err
}

// place puts a rank's plan into its memory, once for each turn of the slots.
func (c *proxiedCode) place(m *memory, g *gpu) (all []launches, err error) {
	all = make([]launches, c.p.SlotTurns)
	rank := m.n.number(g.place)
	x, err := c.plans[rank].placer(m, g)
	if err != nil {
		return nil, err
	}
	x.rank = rank
	for turn := range all {
		x.address = func(r block.Ref) uint64 { return uint64(c.ref(m, g, turn, r)) }
		if all[turn], err = x.launch(c.p.Lanes[rank], c.p.Instances, c.p.Blocks(), true); err != nil {
			return nil, err
		}
		all[turn].shape.Overlap = c.how.Overlap && g.Overlap
	}
	return all, m.n.fits(g, x.kernel, all[0].shape, m.n.Share()) // kernels of all nodes wait for one another
}

// ref is the address of a place, whose rank is numbered as the schedule does, for launches of a turn.
func (c *proxiedCode) ref(m *memory, g *gpu, turn int, r block.Ref) driver.Ptr {
	switch r.Buffer {
	case block.BellBuffer:
		return g.shared.At + driver.Ptr(r.Offset)
	case block.SlotBuffer:
		return g.shared.At + driver.Ptr(proxy.SlotsAt(c.p)+int64(turn)*c.p.SlotBytes+r.Offset)
	}
	r.Rank = slices.Index(m.n.others.nodes[m.n.others.node], r.Rank)
	return m.ref(r)
}
