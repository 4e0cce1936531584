package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

// Pauses between attempts to reach rank 0, which may start later.
const firstPause, longestPause = 20 * time.Millisecond, 500 * time.Millisecond

// dial is the Join of all ranks but 0.
func (g *Group) dial(ctx context.Context) error {
	waiting, cancel := context.WithTimeoutCause(ctx, g.opt.Wait, errWaited)
	defer cancel()
	l, err := g.reach(waiting)
	if err != nil {
		return err
	}
	g.links[0] = l
	g.keep(l)
	g.bind(ctx)
	// Rank 0 has begun to wait before this rank came, and says who is missing.
	all, err := g.take(ctx, 0, frame{kind: welcome})
	if err == nil {
		if err = json.Unmarshal(all, &g.all); err == nil && (len(g.all.Hosts) != g.world.Size || len(g.all.Machines) != g.world.Size) {
			err = fmt.Errorf("rank 0 names the nodes of %d ranks, not %d", len(g.all.Hosts), g.world.Size)
		}
		if err == nil {
			return nil
		}
		g.Abort(err)
	}
	<-g.ctx.Done() // with ctx at the latest
	g.leave()
	return context.Cause(g.ctx)
}

var errWaited = errors.New("waited")

// reach dials until rank 0 has heard who this is.
func (g *Group) reach(ctx context.Context) (*link, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		l, err := g.attempt(ctx)
		if err == nil {
			return l, nil
		}
		if why(err, 0) == errSecret.Error() {
			return nil, fmt.Errorf("%s: rank 0 at %s has another secret (RAILYARD_SECRET_FILE must name the same on all ranks)",
				g.self.name(), g.world.Root)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if cause := context.Cause(ctx); cause != errWaited {
				return nil, fmt.Errorf("%s: %w", g.self.name(), cause)
			}
			return nil, fmt.Errorf("%s: rank 0 does not answer at %s: %s (waited %v)", g.self.name(), g.world.Root, why(err, g.opt.Dead),
				g.opt.Wait)
		}
	}
}

// attempt dials once and greets.
func (g *Group) attempt(ctx context.Context) (*link, error) {
	dialer := net.Dialer{Timeout: g.opt.Handshake}
	conn, err := dialer.DialContext(ctx, "tcp", g.world.Root)
	if err != nil {
		return nil, err
	}
	return handshake(ctx, conn, g.opt, tls.Client, func(l *link) error {
		if err := l.send(g.self.frame()); err != nil {
			return err
		}
		return l.readGreeting()
	})
}
