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
	ranks []launches
	round *proxy.Round // nil where it did not come to that
}

func (o *proxiedOp) memory() *memory { return o.m }

func (o *proxiedOp) close() error {
	if o.round == nil {
		return nil
	}
	return o.round.End()
}

func (o *proxiedOp) launch(g *gpu, i int) error { return o.ranks[g.Rank].run(g.Stream, i) }

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
		plans.source.options = append(slices.Clip(plans.source.options), fmt.Sprintf("-DSLOT_TURNS=%d", p.SlotTurns))
	}
	return &proxiedCode{x, n}, nil
}

func (c *proxiedCode) source(place int) source { return c.programCode.source(c.n.number(place)) }

func (c *proxiedCode) load(m *memory) (operation, error) {
	o := &proxiedOp{m: m, ranks: make([]launches, len(m.n.gpus))}
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

// place puts a rank's plan into its memory.
func (c *proxiedCode) place(m *memory, g *gpu) (l launches, err error) {
	rank := m.n.number(g.place)
	x, err := c.plans[rank].placer(m, g)
	if err != nil {
		return l, err
	}
	x.rank, x.address = rank, func(r block.Ref) uint64 { return c.ref(m, g, r) }
	if l, err = x.launch(c.p.Lanes[rank], c.p.Instances, c.p.Blocks(), true); err != nil {
		return l, err
	}
	l.param.SlotLines = uint32(c.p.SlotBytes / block.FlagLine)
	l.shape.Overlap = c.how.Overlap && g.Overlap
	return l, m.n.fits(g, x.kernel, l.shape, m.n.Share()) // kernels of all nodes wait for one another
}

// slot marks references to slots, as kernel/src/plan.cuh has it.
const slot = 1 << 63

// ref is the address of a place, whose rank is numbered as the schedule does; of slots in those that launches have first.
func (c *proxiedCode) ref(m *memory, g *gpu, r block.Ref) uint64 {
	switch r.Buffer {
	case block.BellBuffer:
		return uint64(g.shared.At) + uint64(r.Offset)
	case block.SlotBuffer:
		return slot | (uint64(g.shared.At) + uint64(proxy.SlotsAt(c.p)+r.Offset))
	}
	r.Rank = slices.Index(m.n.others.nodes[m.n.others.node], r.Rank)
	return uint64(m.ref(r))
}
