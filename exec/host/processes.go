package host

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"railyard/exec/cluster"
	"railyard/exec/net"
)

// Group is the processes of a run as their control plane knows them; a *cluster.Group of
// exec/cluster is one.
type Group interface {
	// Exchange hands the messages of all processes, in order, to all.
	Exchange(ctx context.Context, message []byte) ([][]byte, error)
	// Barrier waits until all processes have called it.
	Barrier(ctx context.Context) error
	// Context is cancelled when the group ends before its time; its cause says why, in one line.
	Context() context.Context
	// Abort ends the group on all processes with a reason, and returns when Context is cancelled.
	Abort(reason error)
}

// Place is what a process brings along.
type Place struct {
	Process, Size int
	Ranks         int    // that it runs: they follow those of the processes before it
	Local         int    // processes on this machine, this one with them
	Host          string // address of this machine that the others reach, on the network that data shall take
	Sockets       int    // between each two processes; 0 is 1
}

// Processes run schedules together, each some of the ranks: see Config.Over.
type Processes struct {
	Place
	group Group
	net   net.Transport
	first []int // the first rank of each process, and behind the last how many there are
	runs  uint32
}

// Meet connects the processes of a group; all of them call it, then Run as often as they like, each with
// the same schedules and configurations in the same order, and Close. The data connections are
// plain, but nobody enters who has not met the group.
func Meet(ctx context.Context, group Group, p Place) (*Processes, error) {
	ctx, cancel := Bound(ctx, group)
	defer cancel()
	out := &Processes{Place: p, group: group}
	ranks, err := cluster.Tell(ctx, group.Exchange, p.Ranks)
	if err != nil {
		return nil, err
	}
	sum := 0
	for i, n := range ranks {
		if n < 1 {
			return nil, fmt.Errorf("process %d runs %d ranks: each must run one or more", i, n)
		}
		out.first = append(out.first, sum)
		sum += n
	}
	out.first = append(out.first, sum)
	transport, err := net.Connect(ctx, net.Options{Process: p.Process, Size: p.Size, Host: p.Host, Sockets: p.Sockets}, group.Exchange)
	if err != nil {
		return nil, err
	}
	out.net = transport
	return out, nil
}

// Close ends the data connections. Runs must have ended; the group stays as it is.
func (p *Processes) Close() error { return p.net.Close() }

// Total is how many ranks all processes run together.
func (p *Processes) Total() int { return p.first[len(p.first)-1] }

// of is the process of a rank.
func (p *Processes) of(rank int32) int {
	i, found := slices.BinarySearch(p.first, int(rank))
	if !found {
		i--
	}
	return i
}

// Bound is a context that ends with the group too.
func Bound(ctx context.Context, group Group) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(group.Context(), func() { cancel(context.Cause(group.Context())) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// aborted tells all processes why this one cannot go on, and returns what all hear.
func (p *Processes) aborted(err error) error {
	p.group.Abort(err)
	if cause := context.Cause(p.group.Context()); cause != nil {
		return cause
	}
	return err
}

// leave ends what has been registered for all peers, once nothing is under way: what a peer signals last comes last.
func (p *Processes) leave(ctx context.Context, signals [][]*atomic.Int64) error {
	for peer := range p.Size {
		if peer != p.Process {
			if err := p.net.Signal(peer, p.runs, endSignal, 1); err != nil {
				return err
			}
		}
	}
	for peer := range p.Size {
		for peer != p.Process && signals[peer][endSignal].Load() == 0 || p.net.Backlog() > 0 {
			if _, err := p.net.Wait(time.Millisecond); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	for peer := range p.Size {
		if peer != p.Process {
			p.net.Withdraw(peer, p.runs)
		}
	}
	p.runs++
	return nil
}

// Signals that each two processes have of one another besides those of connections.
const (
	beginSignal = iota // of iterations
	endSignal          // of the run
	ownSignals
)

// waitFor is how long a rank without a processor of its own waits for a message at a time, and one that
// is alone in its process, which nobody else can free.
const (
	waitFor      = 20 * time.Microsecond
	waitForAlone = time.Millisecond
)
