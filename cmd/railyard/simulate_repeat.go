package main

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/report"
	"railyard/sim"
)

// repeat adds the times over seeds.
func (x *scenario) repeat(cmd *cobra.Command, d *report.SimulateDocument, plan *sim.Plan, o *simulateFlags) error {
	if o.repeat == 0 {
		return nil
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "simulating")
	defer bar.Finish()
	all, err := x.overSeeds(o.repeat, o.late.seed, plan, func(done int) { bar.Set(done, o.repeat) })
	if err != nil {
		return err
	}
	slices.Sort(all)
	d.Repeats = &report.Repeats{Runs: o.repeat, P50: nearestRank(all, 50), P95: nearestRank(all, 95), P99: nearestRank(all, 99)}
	return nil
}

// overSeeds are the times in microseconds with n seeds, in their order: played on all
// cores, each with a plan of its own, since plans hold the working memory of a run.
func (x *scenario) overSeeds(n int, delays uint64, plan *sim.Plan, progress func(done int)) ([]float64, error) {
	workers := min(runtime.GOMAXPROCS(0), n)
	times, errs := make([]float64, n), make([]error, n)
	var all sync.WaitGroup
	var lock sync.Mutex
	done := 0
	for w := range workers {
		own := plan
		if w > 0 {
			own = nil
		}
		all.Go(func() {
			for i := w; i < n; i += workers {
				if times[i], errs[i] = x.seeded(delays, uint64(i)).seedTime(&own); errs[i] != nil {
					return
				}
				lock.Lock()
				done++
				progress(done)
				lock.Unlock()
			}
		})
	}
	all.Wait()
	return times, cmp.Or(errs...)
}

// seedTime is the time of one seed in microseconds. The plan is the last seed's, or nil:
// hashed routes are another plan for each seed, delays are not.
func (x *scenario) seedTime(plan **sim.Plan) (float64, error) {
	if *plan == nil || x.compile.Hashing != nil {
		p, err := x.plan()
		if err != nil {
			return 0, err
		}
		*plan = p
	}
	t, err := x.timeOf(*plan)
	return t.Microseconds(), err
}
