package proxy

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// fake is what kernels do, of this process's ranks, by goroutines: a block program without packets, on bytes that are
// added modulo 256. Ranks of a process are a node.
type fake struct {
	s      *schedule.Schedule
	p      *block.Program
	layout *schedule.Layout
	first  int
	shared [][]byte // with the proxy, by rank of the process
	mem    map[int][3][]byte
	flags  map[int][]atomic.Int64 // in memory of the node
	ctx    context.Context
}

func newFake(ctx context.Context, s *schedule.Schedule, p *block.Program, count int64, first, ranks int) *fake {
	x := &fake{s: s, p: p, layout: schedule.NewLayout(s, count, 1), first: first, mem: map[int][3][]byte{},
		flags: map[int][]atomic.Int64{}, ctx: ctx}
	for r := first; r < first+ranks; r++ {
		x.shared = append(x.shared, aligned(Bytes(p)))
		x.mem[r] = [3][]byte{make([]byte, x.layout.Elements(r, schedule.Input)), make([]byte, x.layout.Elements(r, schedule.Output)),
			make([]byte, p.Scratch)}
		x.flags[r] = make([]atomic.Int64, p.BellLines())
	}
	return x
}

// aligned is memory whose words are aligned, as make has it for what is not tiny.
func aligned(n int64) []byte { return make([]byte, max(n, 1<<10)) }

func input(epoch, rank int, i int64) byte { return byte(epoch*101 + rank*31 + int(i)*7) }

// launches runs all ranks so many times, each on its own, and says what was wrong.
func (x *fake) launches(n int) error {
	errs := make([]error, len(x.shared))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for epoch := 1; epoch <= n && errs[i] == nil; epoch++ {
				errs[i] = x.launch(epoch, x.first+i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *fake) launch(epoch, rank int) error {
	in, out := x.mem[rank][schedule.Input], x.mem[rank][schedule.Output]
	for i := range in {
		in[i] = input(epoch, rank, int64(i))
	}
	for i := range out {
		out[i] = 0xcc
	}
	var blocks sync.WaitGroup
	for l := range x.p.Lanes[rank] {
		for instance := range x.p.Instances {
			blocks.Go(func() {
				b := &fakeBlock{fake: x, rank: rank, epoch: epoch, instance: instance, lane: &x.p.Lanes[rank][l]}
				b.run(b.lane.Before, 0)
				for slice := range b.lane.Slices {
					b.run(b.lane.Body, slice)
				}
				b.run(b.lane.After, 0)
			})
		}
	}
	blocks.Wait()
	if x.ctx.Err() != nil {
		return context.Cause(x.ctx)
	}
	return x.check(epoch, rank)
}

func (x *fake) check(epoch, rank int) error {
	spec := x.s.Spec
	for b := range spec.Blocks() {
		if !spec.Wants(rank, b) {
			continue
		}
		off, n := x.layout.Block(rank, schedule.Output, b)
		for i := range n {
			var want byte
			for r := range spec.Ranks {
				src, sb := r, b
				if !spec.Kind.Reduces() {
					src, sb = spec.Origin(rank, b)
				}
				from, _ := x.layout.Block(src, schedule.Input, sb)
				if want += input(epoch, src, from+i); !spec.Kind.Reduces() {
					break
				}
			}
			if got := x.mem[rank][schedule.Output][off+i]; got != want {
				return fmt.Errorf("launch %d, rank %d block %d byte %d: %d instead of %d", epoch, rank, b, i, got, want)
			}
		}
	}
	return nil
}

// fakeBlock is a thread block.
type fakeBlock struct {
	*fake
	rank, epoch, instance int
	lane                  *block.Lane
}

func (b *fakeBlock) run(list []block.Op, slice int) {
	for i := range list {
		op := &list[i]
		value := int64(b.epoch<<20 | (op.Value + slice*op.PerSlice))
		if op.Flags&block.Earlier != 0 {
			value = int64((b.epoch-op.PerSlice)<<20 | op.Value)
		}
		for peers := op.Peers; peers != 0; peers &= peers - 1 {
			flag := b.flag(op, bits.TrailingZeros32(peers))
			if op.Kind == block.Signal {
				flag.Store(value)
			}
			for op.Kind == block.Wait && flag.Load() < value && b.ctx.Err() == nil && (op.Flags&block.Earlier == 0 || b.epoch > op.PerSlice) {
				runtime.Gosched()
			}
		}
		if op.Kind == block.Multi {
			b.multi(op, slice)
		}
	}
}

// flag is that between this block and a rank: here, there or with the proxy.
func (b *fakeBlock) flag(op *block.Op, peer int) *atomic.Int64 {
	switch line := func(of int) int { return b.p.BellLine(op.Lane, b.instance, of, op.Line) }; {
	case b.p.Node[peer] == b.p.Node[b.rank] && op.Kind == block.Wait:
		return &b.flags[b.rank][line(peer)]
	case b.p.Node[peer] == b.p.Node[b.rank]:
		return &b.flags[peer][line(b.rank)]
	case op.Kind == block.Wait:
		return number(b.shared[b.rank-b.first], line(peer)*block.FlagLine+block.FlagPlace)
	default:
		return number(b.shared[b.rank-b.first], line(peer)*block.FlagLine)
	}
}

func (b *fakeBlock) multi(op *block.Op, slice int) {
	skip := int64(slice)*b.lane.Stride + int64(b.instance)*b.lane.Unit
	n := min(max(op.Limit-skip, 0), b.lane.Unit)
	at := func(r block.Ref) []byte {
		if r.Buffer == block.SlotBuffer {
			return b.shared[r.Rank-b.first][SlotsAt(b.p)+int64(b.epoch%b.p.SlotTurns)*b.p.SlotBytes+r.Offset+skip:]
		}
		return b.mem[r.Rank][r.Buffer][r.Offset+skip:]
	}
	if n == 0 {
		return
	}
	pairs := op.Flags&block.Pairs != 0
	for k := range op.Destinations {
		sum := make([]byte, n)
		for i, src := range op.Sources {
			if pairs && i != k {
				continue
			}
			for j, v := range at(src)[:n] {
				sum[j] += v
			}
		}
		if pairs {
			copy(at(op.Destinations[k]), sum)
			continue
		}
		for _, dst := range op.Destinations {
			copy(at(dst), sum)
		}
		return
	}
}

// cases are what is played: each a schedule, how it is compiled, and for how many bytes.
var cases = []struct {
	kind   collective.Kind
	algo   string
	slices int
	count  int64
	o      block.Options
}{
	{collective.AllReduce, "ring", 1, 1000, block.Options{Instances: 1}},
	{collective.AllReduce, "two_shot", 3, 100_000, block.Options{Instances: 2, Mechanism: block.Push}},
	{collective.AllReduce, "direct", 1, 16, block.Options{Instances: 2}},
	{collective.AllGather, "ring", 2, 30_000, block.Options{Instances: 2, Mechanism: block.Push}},
	{collective.ReduceScatter, "direct", 1, 999, block.Options{Instances: 1}},
	{collective.Broadcast, "ring", 4, 3_000_001, block.Options{Instances: 2}}, // messages of more than a frame
	{collective.AllToAll, "direct", 1, 4096, block.Options{Instances: 1, Mechanism: block.Push}},
	{collective.Gather, "direct", 1, 5000, block.Options{Instances: 3}},
	{collective.Barrier, "direct", 1, 0, block.Options{Instances: 1}},
}
