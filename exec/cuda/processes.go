package cuda

import (
	"context"

	"railyard/exec/cluster"
)

// Processes are those of a run, each with as many GPUs and of ranks that follow one another, of which this is one.
type Processes struct {
	Own, Size int
	// Exchange hands the messages of all processes, in order, to all.
	Exchange func(ctx context.Context, message []byte) ([][]byte, error)
	Barrier  func(ctx context.Context) error // waits until all have called it
}

// Tell gives every process what all have.
func Tell[V any](ctx context.Context, p Processes, mine V) ([]V, error) {
	return cluster.Tell(ctx, p.Exchange, mine)
}
