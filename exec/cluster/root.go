package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// root is what rank 0 has beyond the others.
type root struct {
	listener   *listener
	complete   chan struct{} // closed when all ranks are there
	heard      int           // processes that have been told why the group ends, or are lost
	news       chan struct{} // one more has heard
	until      time.Time     // when waiting for ranks that never came ends
	told       sync.WaitGroup
	announcing sync.Once
}

// receive is rank 0's Join.
func (g *Group) receive(ctx context.Context) error {
	r := &root{complete: make(chan struct{}), news: make(chan struct{}, 1)}
	g.root = r
	if g.self.Failed != "" {
		g.finish(g.self.failure())
	}
	g.mu.Lock() // whoever comes waits until the listener is known
	var err error
	r.listener, err = listen(g.world.Root, g.opt, g.self.frame(), g.arrived)
	g.mu.Unlock()
	if err != nil {
		return err
	}
	g.bind(ctx)
	select {
	case <-r.complete:
		return g.welcomeAll()
	case <-g.ctx.Done():
		r.until = time.Now().Add(g.opt.Linger)
	case <-time.After(g.opt.Wait):
		g.finish(fmt.Errorf("did not join: %s (waited %v%s)", g.missing(), g.opt.Wait, r.listener.strangers()))
	}
	g.leave()
	return context.Cause(g.ctx)
}

// welcomeAll tells everybody who is there.
func (g *Group) welcomeAll() error {
	for _, l := range g.links[1:] {
		g.all.Hosts, g.all.Machines = append(g.all.Hosts, l.peer.Host), append(g.all.Machines, l.peer.Machine)
		if own := l.local(); g.all.Address == "" || !own.IsLoopback() {
			g.all.Address = own.String()
		}
	}
	all, err := json.Marshal(g.all)
	if err != nil {
		return err
	}
	for rank := 1; rank < g.world.Size; rank++ {
		if err := g.send(rank, frame{welcome, 0, all}); err != nil {
			g.leave()
			return err
		}
	}
	return nil
}

// missing names the ranks that are not there.
func (g *Group) missing() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for rank := 1; rank < g.world.Size; rank++ {
		if g.links[rank] == nil {
			out = append(out, strconv.Itoa(rank))
		}
	}
	const most = 20
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("and %d more", len(out)-most))
	}
	return "rank " + strings.Join(out, ", ")
}

// arrived takes in a rank, or says why it cannot come in; the reasons that hold for all end the group.
func (g *Group) arrived(l *link) {
	g.mu.Lock()
	if g.ctx.Err() != nil || g.full() {
		g.mu.Unlock()
		g.turnAway(l)
		return
	}
	cause := g.objection(l)
	if cause != nil {
		g.mu.Unlock()
		g.finish(cause)
		g.turnAway(l)
		return
	}
	g.links[l.peer.Rank] = l
	g.keep(l)
	if g.full() {
		close(g.root.complete)
	}
	g.mu.Unlock()
}

// objection is why nobody can run where this rank is one of them.
func (g *Group) objection(l *link) error {
	p := l.peer
	if p.Failed != "" {
		return p.failure()
	}
	if text := p.difference(g.self); text != "" {
		return errors.New(text)
	}
	if p.Rank < 1 || p.Rank >= g.world.Size {
		return fmt.Errorf("%s: its rank must be from 1 to %d", p.name(), g.world.Size-1)
	}
	if there := g.links[p.Rank]; there != nil {
		return fmt.Errorf("two processes say that they are rank %d: %s at %s and %s at %s", p.Rank, there.peer.Host,
			there.conn.RemoteAddr(),
			p.Host, l.conn.RemoteAddr())
	}
	return nil
}

func (g *Group) full() bool { return !slices.Contains(g.links[1:], nil) }

// turnAway tells whoever cannot come in why.
func (g *Group) turnAway(l *link) {
	go l.drain()
	cause := context.Cause(g.ctx)
	if cause == nil {
		l.sendLast(frame{reason, 0, fmt.Appendf(nil, "%s: the run has begun with another process as rank %d", l.peer.name(), l.peer.Rank)},
			g.opt.Dead)
		return
	}
	l.sendLast(frame{reason, 0, []byte(cause.Error())}, g.opt.Dead)
	g.root.count(g)
}

// count notes that one process more needs to hear nothing more.
func (r *root) count(g *Group) {
	g.mu.Lock()
	r.heard++
	g.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// announceEnd tells every rank why the group ends, once.
func (r *root) announceEnd(g *Group) {
	r.announcing.Do(func() {
		text := []byte(context.Cause(g.ctx).Error())
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, l := range g.links[1:] {
			if l == nil {
				continue
			}
			r.told.Add(1)
			go func() {
				defer r.told.Done()
				l.sendLast(frame{reason, 0, text}, g.opt.Dead)
				r.count(g)
			}()
		}
	})
}

// leave waits until every rank has heard why the group has ended, or bye, and stops listening.
func (r *root) leave(g *Group) {
	if g.ctx.Err() != nil {
		r.announceEnd(g)
	} else {
		for _, l := range g.links[1:] {
			r.told.Add(1)
			go func() {
				defer r.told.Done()
				l.sendLast(frame{kind: beat}, g.opt.Dead) // after bye: until it has hung up, so that bye is not lost
			}()
		}
	}
	r.told.Wait()
	for g.ctx.Err() != nil && !r.allHeard(g) {
		select {
		case <-r.news:
			continue
		case <-time.After(time.Until(r.until)):
		}
		break
	}
	r.listener.door.Shut()
}

func (r *root) allHeard(g *Group) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return r.heard >= g.world.Size-1
}
