package cuda

import (
	"context"
	"errors"
	"fmt"

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

// Agree makes an error of one process that of all: all go on, or none does. Of several, it is that of the first. All processes
// call it.
func Agree(ctx context.Context, p Processes, err error) error {
	type said struct {
		Error string
		Room  bool // errors.Is(ErrRoom)
	}
	mine := said{Room: errors.Is(err, ErrRoom)}
	if err != nil {
		mine.Error = err.Error()
	}
	all, lost := Tell(ctx, p, mine)
	if lost != nil {
		return errors.Join(err, lost)
	}
	for i, one := range all {
		switch {
		case one.Error == "":
		case i == p.Own:
			return err
		default:
			return &refusal{fmt.Sprintf("process %d: %s", i, one.Error), one.Room}
		}
	}
	return nil
}

// refusal is another process's error.
type refusal struct {
	text string
	room bool
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Is(target error) bool { return r.room && target == ErrRoom }
