package batch

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"railyard/internal/outfile"
	"railyard/model/units"
)

// Engine runs shards somewhere.
type Engine interface {
	// Script is what it is given to run some of the work's shards, and the name of the file for it.
	Script(w *Work, shards []int) (name, text string, err error)
	// Active are the shards that wait or run.
	Active(ctx context.Context, w *Work) (map[int]bool, error)
	// Submit has shards run by the script of theirs in the work's directory, and says what of.
	Submit(ctx context.Context, w *Work, script string, shards []int) (said string, err error)
	// Leave is called when nobody watches any more, and says what becomes of shards that wait or run.
	Leave() (said string)
	// Every is how often it may be asked.
	Every() time.Duration
}

// Watcher is told how work goes on.
type Watcher struct {
	Rows      func(done, of int) // of all shards whose number is known
	Submitted func(said string)
}

// Run submits the shards that are neither complete nor waiting or running, and waits until none runs. Shards that
// ended before they were complete are then an error; what they have done stays, and Run goes on there when it is called again.
func Run(ctx context.Context, w *Work, e Engine, watch Watcher) error {
	r := &run{w: w, e: e, watch: watch, shards: make([]progress, w.Shards)}
	for i := range r.shards {
		r.shards[i].of = -1
	}
	open, _, err := r.look(ctx)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		if err := r.submit(ctx, open); err != nil {
			return err
		}
	}
	for {
		stopped, running, err := r.look(ctx)
		switch {
		case err != nil:
			return err
		case running > 0:
		case len(stopped) > 0:
			return r.incomplete(stopped)
		default:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s; the same command continues it", context.Cause(ctx), e.Leave())
		case <-time.After(e.Every()):
		}
	}
}

type run struct {
	w      *Work
	e      Engine
	watch  Watcher
	shards []progress
}

// look finds the shards that are not complete: those that nobody runs, and how many others there are. The engine is asked
// before the journals are read, so that what ends between the two is complete.
func (r *run) look(ctx context.Context) (stopped []int, running int, err error) {
	active, err := r.e.Active(ctx, r.w)
	if err != nil {
		return nil, 0, err
	}
	done, of := 0, 0
	for i := range r.shards {
		p := &r.shards[i]
		if !p.complete() {
			if err := r.w.look(i+1, p); err != nil {
				return nil, 0, err
			}
		}
		done, of = done+p.rows, of+max(p.of, 0)
		switch {
		case p.complete():
		case active[i+1]:
			running++
		default:
			stopped = append(stopped, i+1)
		}
	}
	r.watch.Rows(done, of)
	return stopped, running, nil
}

func (r *run) submit(ctx context.Context, shards []int) error {
	name, text, err := r.e.Script(r.w, shards)
	if err != nil {
		return err
	}
	script := filepath.Join(r.w.Dir, name)
	if err := outfile.Write(script, func(out io.Writer) error { _, err := io.WriteString(out, text); return err }); err != nil {
		return err
	}
	said, err := r.e.Submit(ctx, r.w, script, shards)
	if err == nil {
		r.watch.Submitted(said)
	}
	return err
}

// incomplete says which shards have ended too early, and what one of them said last.
func (r *run) incomplete(shards []int) error {
	err := fmt.Errorf("shard %s of %d ended before they were complete: the same command continues them",
		units.Ranges(shards, ","), r.w.Shards)
	if said := r.w.lastLine(shards[0]); said != "" {
		return fmt.Errorf("%w (%s ends in %q)", err, r.w.Log(shards[0]), said)
	}
	return err
}
