//go:build cgo

package probe

import (
	"context"
	"fmt"

	"railyard/model/measurement"
	"railyard/model/units"
)

// Run measures the machine. The rows come in an order that depends on nothing but the
// number of GPUs. The GPUs should be idle.
func Run(ctx context.Context, o Options) ([]measurement.Link, error) {
	if o.MaxSize == 0 {
		o.MaxSize = 256 * units.MiB
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	s, err := open(o.GPUs, o.MaxSize)
	if err != nil {
		return nil, err
	}
	defer s.set.Close()
	for _, step := range []struct {
		name    string
		measure func() error
	}{
		{"launches", s.launches}, {"local rates", s.local}, {"memory", s.memory}, {"access", s.access},
		{"flags", s.flags}, {"flags in host memory", s.hostFlags},
		{"copies", s.copies},
		{"all copies at once", s.copiesAtOnce}, {"messages", s.messages}, {"messages from one", s.casts},
		{"messages passed on", s.relays}, {"host copies", s.hostCopies},
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.Progress(step.name)
		if err := step.measure(); err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return s.rows, nil
}
