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

// Interrupted says of what was interrupted where it goes on, or what would have kept it.
func Interrupted(ctx context.Context, journal string, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case journal == "":
		return fmt.Errorf("%w: nothing is kept; with --journal FILE the same command goes on where it was", context.Cause(ctx))
	}
	return fmt.Errorf("%w: what is done is in %s, and the same command goes on there", context.Cause(ctx), journal)
}
