package cli

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// watched is the command that runs: on a terminal it shows how long it has taken, from a second on,
// and how far it is, and it says what becomes of it when it is interrupted.
type watched struct {
	name  string
	began time.Time
	w     io.Writer // a terminal, or nil

	mu      sync.Mutex
	shown   bool // a line stands there
	far     string
	keeps   atomic.Bool            // it ends by itself and says what it keeps
	journal atomic.Pointer[string] // where it keeps what is done; nil: it keeps nothing
}

// now is the command of the process that is watched; commands that others run are not.
var now atomic.Pointer[watched]

// watch makes a command one that is watched while it runs.
func watch(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if c.ErrOrStderr() != io.Writer(os.Stderr) {
			return run(c, args) // asked for by another command, or by a test
		}
		x := &watched{name: c.CommandPath(), began: time.Now(), w: terminal(os.Stderr)}
		now.Store(x)
		c.SetOut(&clearing{c.OutOrStdout(), x})
		defer x.clear()
		defer x.every(250*time.Millisecond, x.show)()
		defer x.onInterrupt()()
		return run(c, args)
	}
}

// terminal is w if that is one, else nil.
func terminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return nil
}

// OnTerminal reports whether a command writes to a terminal.
func OnTerminal(cmd *cobra.Command) bool {
	out := cmd.OutOrStdout()
	if c, ok := out.(*clearing); ok {
		out = c.Writer
	}
	return terminal(out) != nil
}

// every calls do until the function that it returns is called.
func (x *watched) every(d time.Duration, do func()) (stop func()) {
	if x.w == nil {
		return func() {}
	}
	tick, done := time.NewTicker(d), make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				do()
			case <-done:
				return
			}
		}
	}()
	return func() { tick.Stop(); close(done) }
}

func (x *watched) show() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if took := time.Since(x.began); took >= time.Second {
		fmt.Fprintf(x.w, "\r\x1b[K%s: %.0f s%s", x.name, took.Seconds(), x.far)
		x.shown = true
	}
}

// clear takes the line away.
func (x *watched) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.shown {
		fmt.Fprint(x.w, "\r\x1b[K")
		x.shown = false
	}
}

// onInterrupt ends commands at once that have nothing to hand back, and says what they leave.
func (x *watched) onInterrupt() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals) // the second one ends any command
			if x.keeps.Load() {
				return
			}
			x.clear()
			fmt.Fprintf(os.Stderr, "%s: interrupted after %v; %s\n", x.name, time.Since(x.began).Round(time.Second), left(x.journal.Load()))
			os.Exit(130)
		case <-done:
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// clearing is a command's output, before which the line is taken away.
type clearing struct {
	io.Writer
	x *watched
}

// Write implements io.Writer.
func (c *clearing) Write(p []byte) (int, error) {
	c.x.clear()
	return c.Writer.Write(p)
}
