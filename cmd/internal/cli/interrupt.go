package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// UntilInterrupt is a command's context that Ctrl-C and the end of a job (SIGTERM) cancel, for
// commands that have something to keep or to hand back; all others they end at once, as they
// end these the second time.
func UntilInterrupt(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	x := now.Load()
	if x == nil {
		return ctx, stop
	}
	x.keeps.Store(true)
	return ctx, func() {
		if ctx.Err() == nil { // else the command is about to hand back what it has
			x.keeps.Store(false)
		}
		stop()
	}
}

// KeepIn says where a command keeps what it has done, "" for nowhere, so that whatever interrupts it at any moment can say so.
func KeepIn(cmd *cobra.Command, journal string) {
	if x := now.Load(); x != nil && x.name == cmd.CommandPath() { // not a command that this one asks
		x.journal.Store(&journal)
	}
}

// Interrupted says of what was interrupted where it goes on, or what would have kept it.
func Interrupted(ctx context.Context, journal string, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %s", context.Cause(ctx), left(&journal))
}

// left is what an interrupted command leaves: nil is the journal of one that has none.
func left(journal *string) string {
	switch {
	case journal == nil:
		return "nothing is kept: the same command starts over"
	case *journal == "":
		return "nothing is kept; with --journal FILE the same command continues where it was"
	}
	if info, err := os.Stat(*journal); err != nil || info.Size() == 0 {
		return fmt.Sprintf("nothing is in %s yet: the same command starts over", *journal)
	}
	return fmt.Sprintf("what is done is in %s, and the same command continues there", *journal)
}
