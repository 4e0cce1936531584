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
	return ctx, stop
}

// KeptIn says of what was interrupted where it goes on.
func KeptIn(ctx context.Context, journal string, err error) error {
	if err == nil || ctx.Err() == nil || journal == "" {
		return err
	}
	return fmt.Errorf("%w: what is done is in %s, and the same command goes on there", context.Cause(ctx), journal)
}
