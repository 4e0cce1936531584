// Package proxy carries bytes between ranks of different nodes for kernels, which cannot reach a network: a thread looks at the bells
// that they raise in host memory, puts what lies in their slots into those of the receivers, and raises flags there
// for which the receivers' kernels wait (model/block, CompileProxied). What moves the bytes is a net.Transport.
package proxy

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"railyard/exec/net"
	"railyard/model/block"
)

// Proxy is that of a process: it carries for all of its ranks.
type Proxy struct {
	Place
	transport net.Transport
	windows   uint32 // numbers given so far
}

// Place is what a process is among the others, each of which has as many ranks, that follow one another.
type Place struct {
	Process, Size int
	Ranks         int // of each process
}

// Meet connects the proxies of all processes, which call it with as many ranks each.
func Meet(ctx context.Context, o net.Options, exchange net.Exchange, ranks int) (*Proxy, error) {
	t, err := net.Connect(ctx, o, exchange)
	if err != nil {
		return nil, err
	}
	return New(t, Place{Process: o.Process, Size: o.Size, Ranks: ranks}), nil
}

// New is the proxy of a process whose peers have theirs. It owns the transport.
func New(t net.Transport, at Place) *Proxy { return &Proxy{Place: at, transport: t} }

// Close ends the connections, when all processes have ended all rounds.
func (x *Proxy) Close() error { return x.transport.Close() }

// SlotsAt is where slots lie in the memory that a rank shares with the proxy: behind bells and flags.
func SlotsAt(p *block.Program) int64 { return int64(p.BellLines()) * block.FlagLine }

// Bytes is how much that memory is.
func Bytes(p *block.Program) int64 { return SlotsAt(p) + int64(p.SlotTurns)*p.SlotBytes }

// Round is a program's messages while they are carried.
type Round struct {
	x         *Proxy
	slots     int64 // bytes of a launch's
	turns     int   // launches that have some
	bells     []*bell
	stretches []block.Stretch // of the message that is put
	peers     []int           // processes in other nodes
	held      []bool          // by process: what is put to it waits for the rest
	windows   uint32
	end       int            // the signal that says so:
	ends      []atomic.Int64 // by process: it has nothing more to put
	ending    atomic.Bool
	done      chan struct{}
	failure   error // once done is closed
}

// bell is one instance's.
type bell struct {
	*block.Bell
	instance int
	raised   *atomic.Int64
	told     int
	after    int    // what is raised no further than so far behind what was told can wait
	slots    []byte // of the rank
	peer     int
	window   uint32
	signal   int
}

// Begin carries what a program's kernels leave in the memory of this process's ranks, from launch 1 on, until End. All processes
// begin; kernels are launched when all have. Where the network fails, lost is called with the reason, and no more is carried.
func (x *Proxy) Begin(ctx context.Context, p *block.Program, memory [][]byte, lost func(error)) (*Round, error) {
	r := &Round{x: x, slots: p.SlotBytes, turns: p.SlotTurns, windows: x.windows, end: p.BellLines(), ends: make([]atomic.Int64, x.Size),
		held: make([]bool, x.Size), done: make(chan struct{})}
	x.windows += uint32(p.Ranks)
	own := x.Process * x.Ranks
	for peer := range x.Size {
		if p.Node[peer*x.Ranks] != p.Node[own] {
			r.peers = append(r.peers, peer)
		}
	}
	for i, m := range memory {
		clear(m[:SlotsAt(p)])
		if err := r.open(p, own+i, m); err != nil {
			return nil, err
		}
	}
	go r.run(ctx, lost)
	return r, nil
}

// open lets peers write into a rank's memory, and finds its bells.
func (r *Round) open(p *block.Program, rank int, memory []byte) error {
	slots := memory[SlotsAt(p):]
	var flags []*atomic.Int64
	for line := range p.BellLines() {
		flags = append(flags, number(memory, line*block.FlagLine+block.FlagPlace))
	}
	for _, peer := range r.peers {
		if err := r.x.transport.Register(peer, r.windows+uint32(rank), slots, append(slices.Clip(flags), &r.ends[peer])); err != nil {
			return err
		}
	}
	for i := range p.Bells[rank] {
		b := &p.Bells[rank][i]
		after := 0
		if b.Line == block.Taken {
			after = b.Launches(p.SlotTurns/2 - 1)
		}
		for instance := range p.Instances {
			r.bells = append(r.bells, &bell{Bell: b, instance: instance, after: after, slots: slots, peer: b.To / r.x.Ranks,
				window: r.windows + uint32(b.To),
				raised: number(memory, p.BellLine(b.Lane, instance, b.To, b.Line)*block.FlagLine),
				signal: p.BellLine(b.Lane, instance, rank, b.Line)})
		}
	}
	return nil
}

// number is a word of memory that kernels or the network write.
func number(memory []byte, at int) *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&memory[at])) }

// Who finds nothing to do so often waits for the network, for so long at a time: a processor may be wanted elsewhere.
const (
	idleTurns = 2000
	idleWait  = 20 * time.Microsecond
)

// run carries until the end, on a thread of its own.
func (r *Round) run(ctx context.Context, lost func(error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.done)
	for idle := 0; ; idle++ {
		ending := r.ending.Load() // then no bell is raised any more
		put, err := r.put()
		arrived := false
		if err == nil {
			arrived, err = r.take(ctx, idle)
		}
		if err != nil {
			r.failure = err
			lost(err)
			return
		}
		if put || arrived {
			idle = 0
		}
		if ending && !put {
			break
		}
	}
	r.failure = r.leave(ctx)
}

// take is what arrives; it waits where nothing has been to do so often.
func (r *Round) take(ctx context.Context, idle int) (arrived bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if idle > idleTurns {
		return r.x.transport.Wait(idleWait)
	}
	return r.x.transport.Poll()
}

// put goes round all bells once; what is put to a peer meanwhile leaves together.
func (r *Round) put() (moved bool, err error) {
	for _, b := range r.bells {
		for raised := int(b.raised.Load()); b.told+b.after < raised; moved = true {
			if !r.held[b.peer] {
				r.held[b.peer] = true
				r.x.transport.Hold(b.peer)
			}
			if err := r.serve(b, raised); err != nil {
				return true, err
			}
		}
	}
	for _, peer := range r.peers {
		if r.held[peer] {
			r.held[peer] = false
			if err := r.x.transport.Release(peer); err != nil {
				return true, err
			}
		}
	}
	return moved, nil
}

// serve puts the next message of a bell: the flag goes with the last bytes. What was taken is said of
// several launches at once: who waits for it does so for one of so many before.
func (r *Round) serve(b *bell, raised int) error {
	before := b.told
	if b.Line == block.Taken {
		b.told = raised
		return r.x.transport.Signal(b.peer, b.window, b.signal, int64(raised-before))
	}
	b.told = b.Next(before)
	add := int64(b.told - before)
	launch, slice, message := b.Step(b.told)
	skipped := int64(launch%r.turns) * r.slots
	stretches := b.AppendStretches(r.stretches[:0], message, slice, b.instance)
	r.stretches = stretches
	if len(stretches) == 0 {
		return r.x.transport.Signal(b.peer, b.window, b.signal, add)
	}
	for i, p := range stretches {
		raise := int64(0)
		if i == len(stretches)-1 {
			raise = add
		}
		from := skipped + p.From
		bytes := b.slots[from : from+p.Bytes : from+p.Bytes]
		if err := r.x.transport.Put(b.peer, b.window, skipped+p.At, b.signal, raise, [][]byte{bytes}); err != nil {
			return err
		}
	}
	return nil
}

// leave waits until nothing is under way in either direction, and takes back what peers were allowed.
func (r *Round) leave(ctx context.Context) error {
	t, own := r.x.transport, r.x.Process*r.x.Ranks
	for _, peer := range r.peers {
		if err := t.Signal(peer, r.windows+uint32(peer*r.x.Ranks), r.end, 1); err != nil {
			return err
		}
	}
	waiting := func(peer int) bool { return r.ends[peer].Load() == 0 }
	for slices.ContainsFunc(r.peers, waiting) || t.Backlog() > 0 {
		if _, err := t.Wait(time.Millisecond); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for _, peer := range r.peers {
		for rank := range r.x.Ranks {
			t.Withdraw(peer, r.windows+uint32(own+rank))
		}
	}
	return nil
}

// End carries what has been left so far, in all launches, which have ended, and no more. All processes call it.
func (r *Round) End() error {
	r.ending.Store(true)
	<-r.done
	if r.failure != nil {
		return fmt.Errorf("messages between nodes: %w", r.failure)
	}
	return nil
}
