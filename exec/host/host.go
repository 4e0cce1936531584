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
	Over       *Processes    // that run the ranks together; nil: this one runs all
}

// Result is a measurement.
type Result struct {
	Times []time.Duration   // by iteration: from the common start until the last rank has ended, on whichever process that takes longest
	Ranks [][]time.Duration // by rank and iteration: until the rank has ended
	Wrong int64             // elements that differ from the exact result, over all checks and processes
}

// maxElements bounds the memory of a run (elements of the buffers of all ranks of a process together).
const maxElements = 1 << 33

// Run executes a schedule with real data, checks the results and times it. The error
// names who waited for whom where a wait expires; ctx ends all ranks early. Over several processes
// all of them call it, all get the same result, and where one fails all get its error: the group has ended then.
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
	engine := engineOf(cfg.DType, cfg.Op)
	if cfg.Over == nil {
		return engine.execute(ctx, s, cfg)
	}
	ctx, stop := Bound(ctx, cfg.Over.group)
	defer stop()
	out, err := engine.execute(ctx, s, cfg)
	if err != nil {
		return nil, cfg.Over.aborted(err)
	}
	return out, nil
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
	case c.Over != nil && c.Over.Total() != s.Spec.Ranks:
		return fmt.Errorf("the plan is for %d ranks, the processes run %d", s.Spec.Ranks, c.Over.Total())
	}
	if first, behind := c.here(s); c.Count > maxElements/int64(behind-first) {
		return fmt.Errorf("%d elements on %d ranks are more than this backend takes (%d in all)", c.Count, behind-first, int64(maxElements))
	}
	return Supports(c.DType)
}

// here are the ranks that this process runs: from the first up to another one.
func (c Config) here(s *schedule.Schedule) (first, behind int) {
	if c.Over == nil {
		return 0, s.Spec.Ranks
	}
	return c.Over.first[c.Over.Process], c.Over.first[c.Over.Process+1]
}

// Supports refuses element types that this backend does not have.
func Supports(t collective.DType) error {
	if t > collective.Int64 {
		return fmt.Errorf("type %v: this backend has none of 8 bits; run it on GPUs", t)
	}
	return nil
}

func (k *kernels[T]) execute(ctx context.Context, s *schedule.Schedule, cfg Config) (*Result, error) {
	r, err := newRunner(s, cfg, k)
	if err != nil {
		return nil, err
	}
	if cfg.Over != nil { // nobody sends before all have places for it
		if err := cfg.Over.group.Barrier(ctx); err != nil {
			return nil, err
		}
	}
	stop := r.start(ctx)
	defer stop()
	var own measured
	for epoch := range cfg.Checks {
		d := data[T]{r: r, epoch: epoch, random: epoch%3 == 2 && cfg.Op != collective.Prod}
		d.fill()
		if _, err := r.iterate(1); err != nil {
			return nil, err
		}
		own.Wrong += d.wrong()
	}
	times, err := r.iterate(cfg.Warmup + cfg.Iterations)
	if err != nil {
		return nil, err
	}
	own.Times = times[cfg.Warmup:]
	for _, ends := range r.ends {
		own.Ranks = append(own.Ranks, ends[len(ends)-cfg.Iterations:])
	}
	return r.together(ctx, own)
}
