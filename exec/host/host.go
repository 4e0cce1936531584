package host

import (
	"context"
	"fmt"
	"time"

	"railyard/model/collective"
	"railyard/model/schedule"
)

// Config says how to run a schedule.
type Config struct {
	Count      int64 // elements of the whole buffer, as nccl-tests counts it; rounded down to a multiple of the blocks
	DType      collective.DType
	Op         collective.ReduceOp
	InPlace    bool
	Warmup     int
	Iterations int
	Checks     int           // epochs with new inputs that are verified before timing; 0 is 3
	Deadline   time.Duration // of a single wait; 0 is 10 s
	Seed       int64         // of the random data
}

// Result is a measurement.
type Result struct {
	Times  []time.Duration // by iteration: from the common start until the last rank has ended
	Wrong  int64           // elements that differ from the exact result, over all checks
	Checks int
}

// maxElements bounds the memory of a run (elements of all ranks' buffers together).
const maxElements = 1 << 33

// Run executes a schedule with real data, checks the results and times it. The error
// names who waited for whom where a wait expires; ctx ends all ranks early.
func Run(ctx context.Context, s *schedule.Schedule, cfg Config) (*Result, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if err := cfg.check(s); err != nil {
		return nil, err
	}
	if cfg.InPlace {
		var err error
		if s, err = schedule.InPlace(s); err != nil {
			return nil, err
		}
	}
	return engineOf(cfg.DType, cfg.Op).execute(ctx, s, cfg)
}

func (c Config) withDefaults() Config {
	if c.Checks == 0 {
		c.Checks = 3
	}
	if c.Deadline == 0 {
		c.Deadline = 10 * time.Second
	}
	return c
}

func (c Config) check(s *schedule.Schedule) error {
	switch {
	case c.Count < 0 || c.Iterations < 0 || c.Warmup < 0:
		return fmt.Errorf("count, iterations and warm-ups cannot be negative")
	case c.Count > 0 && c.Count*int64(s.Spec.Ranks) > maxElements:
		return fmt.Errorf("%d elements on %d ranks are more than this backend takes (%d in all)", c.Count, s.Spec.Ranks, int64(maxElements))
	}
	return Supports(c.DType)
}

// Supports refuses element types that this backend does not have.
func Supports(t collective.DType) error {
	if t > collective.Int64 {
		return fmt.Errorf("type %v: this backend has none of 8 bits; run it on GPUs", t)
	}
	return nil
}

func (k *kernels[T]) execute(ctx context.Context, s *schedule.Schedule, cfg Config) (*Result, error) {
	r := newRunner(s, cfg, k)
	stop := r.start(ctx)
	defer stop()
	out := &Result{Checks: cfg.Checks}
	for epoch := range cfg.Checks {
		d := data[T]{r: r, epoch: epoch, random: epoch%3 == 2 && cfg.Op != collective.Prod}
		d.fill()
		if _, err := r.iterate(1); err != nil {
			return nil, err
		}
		out.Wrong += d.wrong()
	}
	times, err := r.iterate(cfg.Warmup + cfg.Iterations)
	if err != nil {
		return nil, err
	}
	out.Times = times[cfg.Warmup:]
	return out, nil
}
