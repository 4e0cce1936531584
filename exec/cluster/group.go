package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Group is the ranks of a run, all of which are there, agree, and hear of the first that is not any more.
type Group struct {
	world  World
	opt    Options
	self   greeting
	all    roster // once they are there
	ctx    context.Context
	end    context.CancelCauseFunc
	unbind func() bool // from the context of Join

	operation sync.Mutex
	number    uint32 // of operations

	mu     sync.Mutex
	links  []*link // by rank; all but rank 0 have one to it alone
	root   *root   // of rank 0 alone, where there are others
	closed bool
	work   sync.WaitGroup
}

// roster is what rank 0 tells all when they are there.
type roster struct {
	Hosts    []string // nodes, by rank
	Machines []string // what their operating systems are called
	Address  string   // of rank 0's node, as the others reach it
}

// Join waits until all ranks of a world are there and agree, and gives them to one another.
// Where one is missing, doubled, lost, or differs from rank 0, all that are there end with
// the same error. A cancelled ctx ends the group on all ranks, now and later. Whoever has joined closes
// the group, too when it has ended: rank 0 then waits until all have heard why.
func Join(ctx context.Context, w World, h Hello, opt Options) (*Group, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	self := greeting{Hello: h, Rank: w.Rank, Size: w.Size, Host: oneLine(cmp.Or(w.Host, machine)), Machine: machine}
	g := &Group{world: w, opt: opt, self: self, all: roster{Hosts: []string{self.Host}, Machines: []string{machine}},
		links: make([]*link, w.Size)}
	g.ctx, g.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if w.Size > 1 {
		if err := checkReach(w.Root, opt.Secret); err != nil {
			return nil, err
		}
		if w.Rank == 0 {
			err = g.receive(ctx)
		} else {
			err = g.dial(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Decline tells the other ranks of a world why this one will not join: they end with that reason, instead of waiting for it. It
// returns when they have heard, or have not come within opt.Linger.
func Decline(ctx context.Context, w World, reason error, opt Options) {
	opt, err := opt.withDefaults()
	if err != nil || w.Size < 2 {
		return
	}
	opt.Wait = opt.Linger
	_, _ = Join(ctx, w, Hello{Failed: oneLine(reason.Error())}, opt) // which never lets it in, and returns the reason
}

// Context is cancelled when the group ends before its time; its cause says why, in one line.
func (g *Group) Context() context.Context { return g.ctx }

// World is who this process is.
func (g *Group) World() World { return g.world }

// Host is the node that a rank is on.
func (g *Group) Host(rank int) string { return g.all.Hosts[rank] }

// Local is how many ranks share this one's machine, with it.
func (g *Group) Local() (n int) {
	for _, m := range g.all.Machines {
		if m == g.self.Machine {
			n++
		}
	}
	return n
}

// Address is this rank's node as the others reach it: on the network that RAILYARD_ROOT is in.
func (g *Group) Address() string {
	if g.world.Rank == 0 || g.world.Size == 1 {
		return g.all.Address
	}
	if own := g.links[0].local(); !own.IsLoopback() {
		return own.String()
	}
	return g.all.Address // this is rank 0's own node
}

// Gather hands the messages of all ranks, in order, to rank 0; the others get nil. All ranks
// call it; it returns when rank 0 has them.
func (g *Group) Gather(ctx context.Context, message []byte) ([][]byte, error) {
	var all [][]byte
	_, err := g.round(ctx, gather, message, func(parts [][]byte) []byte {
		all = parts
		return nil
	})
	return all, err
}

// Exchange hands the messages of all ranks, in order, to all.
func (g *Group) Exchange(ctx context.Context, message []byte) ([][]byte, error) {
	all, err := g.round(ctx, exchange, message, joinParts)
	if err != nil {
		return nil, err
	}
	return splitParts(all, g.world.Size)
}

// Barrier waits until all ranks have called it.
func (g *Group) Barrier(ctx context.Context) error {
	_, err := g.round(ctx, barrier, nil, func([][]byte) []byte { return nil })
	return err
}

// round is what all ranks do together: rank 0 has everybody's message and answers all.
func (g *Group) round(ctx context.Context, k kind, message []byte, answer func([][]byte) []byte) ([]byte, error) {
	g.operation.Lock()
	defer g.operation.Unlock()
	g.number++
	f := frame{k, g.number, message}
	if g.world.Rank != 0 {
		if err := g.send(0, f); err != nil {
			return nil, err
		}
		return g.take(ctx, 0, f)
	}
	parts := make([][]byte, g.world.Size)
	parts[0] = message
	for rank := 1; rank < g.world.Size; rank++ {
		var err error
		if parts[rank], err = g.take(ctx, rank, f); err != nil {
			return nil, err
		}
	}
	f.payload = answer(parts)
	for rank := 1; rank < g.world.Size; rank++ {
		if err := g.send(rank, f); err != nil {
			return nil, err
		}
	}
	return f.payload, nil
}

// send sends a frame; the error is why the group has ended, now or before.
func (g *Group) send(rank int, f frame) error {
	if len(f.payload) > maxPayload {
		return fmt.Errorf("%v of %d bytes: at most %d go over control connections", f.kind, len(f.payload), maxPayload)
	}
	if g.ctx.Err() == nil {
		if err := g.links[rank].send(f); err != nil {
			g.lost(g.links[rank], err)
		}
	}
	return context.Cause(g.ctx)
}

// take is what a rank says to this operation.
func (g *Group) take(ctx context.Context, rank int, f frame) ([]byte, error) {
	select {
	case got := <-g.links[rank].inbox:
		if got.kind == f.kind && got.number == f.number {
			return got.payload, nil
		}
		g.Abort(fmt.Errorf("%s is at operation %d (%v) where this rank is at %d (%v)", g.links[rank].peer.name(), got.number, got.kind,
			f.number,
			f.kind))
		return nil, context.Cause(g.ctx)
	case <-g.ctx.Done():
		return nil, context.Cause(g.ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Abort ends the group on all ranks, which hear this rank's reason; where another reason was earlier, that one. It
// returns when this rank's context has been cancelled with what all hear.
func (g *Group) Abort(err error) {
	if err == nil {
		err = errors.New("aborted without a reason")
	}
	text := oneLine(err.Error())
	if g.world.Rank == 0 {
		g.awaitLoss()
		g.finish(fmt.Errorf("%s: %s", g.self.name(), text))
		return
	}
	if g.ctx.Err() == nil && g.links[0] != nil && g.links[0].send(frame{reason, 0, []byte(text)}) == nil {
		select {
		case <-g.ctx.Done(): // rank 0 has told all, this rank with them
			return
		case <-time.After(g.opt.Dead):
		}
	}
	g.finish(fmt.Errorf("%s: %s", g.self.name(), text))
}

// awaitLoss gives control connections time to end: whoever reads a lost rank's data may notice it first, but the reason that all
// should hear is the loss, not what followed from it.
func (g *Group) awaitLoss() {
	select {
	case <-g.ctx.Done():
	case <-time.After(g.opt.Beat):
	}
}

// Close waits until all ranks have called it and leaves. Its error is why the group has ended before, which every rank then
// has been told.
func (g *Group) Close() error {
	g.mu.Lock()
	again := g.closed
	g.closed = true
	g.mu.Unlock()
	if again {
		return nil
	}
	_, err := g.round(g.ctx, bye, nil, func([][]byte) []byte { return nil })
	g.leave()
	return err
}

// leave ends whatever this rank still holds.
func (g *Group) leave() {
	if g.unbind != nil {
		g.unbind()
	}
	if g.root != nil {
		g.root.leave(g)
	} else if g.links[0] != nil {
		g.links[0].conn.Close()
	}
	g.work.Wait()
}

// finish cancels with the first reason and, on rank 0, tells it to all.
func (g *Group) finish(cause error) {
	g.end(cause)
	if g.root != nil {
		g.root.announceEnd(g)
	}
}

// lost ends the group for a rank that is not there any more.
func (g *Group) lost(l *link, err error) {
	g.finish(fmt.Errorf("lost %s: %s", l.peer.name(), why(err, g.opt.Dead)))
}

// listen reads a link until it ends.
func (g *Group) listen(l *link) {
	defer close(l.ended)
	for {
		f, err := readFrame(l.conn, maxPayload)
		switch {
		case err != nil && (l.left.Load() || g.ctx.Err() != nil):
			return
		case err != nil:
			g.lost(l, err)
			if g.root == nil {
				l.conn.Close()
			}
			return
		case f.kind == beat:
		case f.kind == reason:
			g.heard(l, string(f.payload))
			if g.root == nil {
				l.conn.Close()
				return
			}
		default:
			if f.kind == bye {
				l.left.Store(true)
			}
			select {
			case l.inbox <- f:
			default:
				g.finish(fmt.Errorf("%s sent %v before this rank had taken what it sent before", l.peer.name(), f.kind))
			}
		}
	}
}

// heard is a reason from the other end: rank 0 says what is true for all, others say what they met.
func (g *Group) heard(l *link, text string) {
	text = oneLine(text)
	if g.root != nil {
		text = l.peer.name() + ": " + text
		g.awaitLoss()
	}
	g.finish(errors.New(text))
}

// keep starts what a link needs as long as it is there.
func (g *Group) keep(l *link) {
	g.work.Add(2)
	go func() {
		defer g.work.Done()
		g.listen(l)
	}()
	go func() {
		defer g.work.Done()
		l.beats(g.opt.Beat)
	}()
}

// bind ends the group when the caller's context ends.
func (g *Group) bind(ctx context.Context) {
	g.unbind = context.AfterFunc(ctx, func() { g.Abort(context.Cause(ctx)) })
}
