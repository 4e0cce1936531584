package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"railyard/model/units"
)

// Local runs shards as processes of this machine, one a core at a time.
type Local struct {
	mu      sync.Mutex
	running map[int]bool
	all     sync.WaitGroup
}

// Script implements Engine.
func (*Local) Script(w *Work, _ []int) (name, text string, err error) {
	return "job.sh", fmt.Sprintf(`#!/bin/sh
# Of %d shards of the question
#   %s
# this runs the one whose number is its argument.
shard=$1
exec %s
`, w.Shards, w.comment(), w.line()), nil
}

// Active implements Engine.
func (l *Local) Active(context.Context, *Work) (map[int]bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[int]bool{}
	for shard := range l.running {
		out[shard] = true
	}
	return out, nil
}

// Every implements Engine.
func (*Local) Every() time.Duration { return 100 * time.Millisecond }

// Submit implements Engine. The processes end with the context.
func (l *Local) Submit(ctx context.Context, w *Work, script string, shards []int) (string, error) {
	l.running = map[int]bool{}
	queue := make(chan int, len(shards))
	for _, shard := range shards {
		l.running[shard] = true
		queue <- shard
	}
	close(queue)
	processes := min(runtime.NumCPU(), len(shards))
	for range processes {
		l.all.Go(func() {
			for shard := range queue {
				l.process(ctx, w, script, shard, runtime.NumCPU()/processes)
			}
		})
	}
	return fmt.Sprintf("shards %s of %d run here, %d at a time (%s)", units.Ranges(shards, ","), w.Shards, processes, script), nil
}

// process runs a shard. How it ends is in its log and, where it counts, in its journal.
func (l *Local) process(ctx context.Context, w *Work, script string, shard, cores int) {
	defer func() {
		l.mu.Lock()
		delete(l.running, shard)
		l.mu.Unlock()
	}()
	if ctx.Err() != nil {
		return
	}
	log, err := os.OpenFile(w.Log(shard), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, "/bin/sh", script, fmt.Sprint(shard))
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second // as long as Slurm and Kubernetes leave
	withParent(cmd)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(log, err)
	}
}

// Leave implements Engine: it waits for the processes, which end with the context.
func (l *Local) Leave() string { l.all.Wait(); return "what is done is in the journals" }
