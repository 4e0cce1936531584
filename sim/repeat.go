package sim

import (
	"cmp"
	"runtime"
	"sync"

	"railyard/model/units"
)

// Repeat plays n runs on all cores and returns how long the first job took in each. Ranks
// start after the delays of the run (nil: none), and where networks hash, each run takes the
// next seed, the plan's first. Progress (nil: none) hears how many runs are done.
func (p *Plan) Repeat(n int, sizes []units.Bytes, delays func(run int) []units.Time, progress func(done int)) ([]units.Time, error) {
	r := &repeats{sizes: sizes, delays: delays, times: make([]units.Time, n), errs: make([]error, n), progress: progress}
	workers := min(runtime.GOMAXPROCS(0), n)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { r.work(p, w, workers) })
	}
	all.Wait()
	return r.times, cmp.Or(r.errs...)
}

type repeats struct {
	sizes    []units.Bytes
	delays   func(run int) []units.Time
	times    []units.Time
	errs     []error
	progress func(done int)
	lock     sync.Mutex
	done     int
}

// work plays every step-th run from first on, with a plan of its own: plans hold the working
// memory of a run.
func (r *repeats) work(p *Plan, first, step int) {
	own := p
	var err error
	if first > 0 {
		o := p.options
		o.router = nil
		if own, err = CompileJobs(p.topo, p.jobs, p.profile, o); err != nil {
			r.errs[first] = err
			return
		}
	}
	for i := first; i < len(r.times); i += step {
		if h := p.options.Hashing; h != nil && i > 0 {
			own, err = own.Rehashed(h.Seed + uint64(i))
		}
		if err == nil {
			r.times[i], err = own.firstJob(r.sizes, r.delays(i))
		}
		if r.errs[i] = err; err != nil {
			return
		}
		r.played()
	}
}

// played notes that one more run is done.
func (r *repeats) played() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.done++
	if r.progress != nil {
		r.progress(r.done)
	}
}

// firstJob is the time of the first job alone: what is known of links and causes is left out.
func (p *Plan) firstJob(sizes []units.Bytes, delays []units.Time) (units.Time, error) {
	o := Options{Delays: delays}
	p, err := p.planFor(o)
	if err != nil {
		return 0, err
	}
	e, err := p.play(sizes, o)
	if err != nil {
		return 0, err
	}
	return units.Time(e.ends[0]), nil
}
