package host

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// team is ranks that begin the same work together, again and again, each a goroutine.
type team struct {
	work  func(rank int, i int64) bool // of iteration i; false: it was given up
	after func()                       // what the last rank that ends has to do for all, in the time; nil: nothing

	ready    atomic.Int64 // ranks that are there, over all iterations
	_        [56]byte
	started  atomic.Int64 // iterations that have begun
	_        [56]byte
	finished atomic.Int64 // ranks that have ended, over all iterations
	_        [56]byte
	began    time.Time
	times    []time.Duration // of the iterations that were let go last
	runs     []chan int      // by rank: so many iterations
	over     chan struct{}   // they have ended
	crowded  bool            // fewer processors than ranks

	abort   atomic.Bool
	aborted chan struct{} // closed by the first failure
	mu      sync.Mutex
	failure error
}

func (t *team) init(ranks int) {
	t.over, t.aborted, t.crowded = make(chan struct{}, 1), make(chan struct{}), ranks > runtime.GOMAXPROCS(0)
	for range ranks {
		t.runs = append(t.runs, make(chan int, 1))
	}
}

// start launches the ranks; the function returned ends them and waits.
func (t *team) start(ctx context.Context) func() {
	var wg sync.WaitGroup
	for rank := range t.runs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			t.loop(rank)
		}()
	}
	cancel := context.AfterFunc(ctx, func() { t.fail(context.Cause(ctx)) })
	return func() {
		cancel()
		t.abort.Store(true)
		for _, run := range t.runs {
			close(run)
		}
		wg.Wait()
	}
}

// fail keeps the first error and stops everybody.
func (t *team) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure == nil {
		t.failure = err
		close(t.aborted)
	}
	t.abort.Store(true)
}

// iterate lets every rank work n times and waits for the last one: what each time took,
// from the common start until the last rank had ended. Between iterations ranks wait for
// one another alone, so that nobody else needs a processor of theirs.
func (t *team) iterate(n int) ([]time.Duration, error) {
	if n == 0 {
		return nil, nil
	}
	t.times = make([]time.Duration, 0, n)
	for _, run := range t.runs {
		run <- n
	}
	select {
	case <-t.over:
		return t.times, nil
	case <-t.aborted:
		return nil, t.failure
	}
}

// loop works as often as it is told to.
func (t *team) loop(rank int) {
	if len(t.runs) == runtime.NumCPU() { // else the kernel has room, or none, for all
		pin(rank)
	}
	i := int64(0)
	for n := range t.runs[rank] {
		for range n {
			if !t.begin(i) || !t.work(rank, i) {
				return
			}
			t.ended(i)
			i++
		}
	}
}

// begin waits until all ranks are there: what waking them takes belongs to no work.
func (t *team) begin(i int64) bool {
	if t.ready.Add(1) == (i+1)*int64(len(t.runs)) {
		t.began = time.Now()
		t.started.Store(i + 1)
	}
	for spins := 0; t.started.Load() <= i; spins++ {
		if t.abort.Load() {
			return false
		}
		t.pause(spins)
	}
	return true
}

// ended counts the ranks that are through with an iteration; the last one says what it took.
func (t *team) ended(i int64) {
	if t.finished.Add(1) < (i+1)*int64(len(t.runs)) {
		return
	}
	if t.after != nil {
		t.after()
	}
	t.times = append(t.times, time.Since(t.began))
	if len(t.times) == cap(t.times) {
		t.over <- struct{}{}
	}
}

// pause is one turn of a waiting loop: spin a little, then let others run. A rank that has a
// processor keeps it for long, as those of MPI do, and yields to other threads alone: a
// goroutine that yields may be queued behind another rank's, and both then stay on one processor.
func (t *team) pause(spins int) {
	switch {
	case spins < 64:
	case !t.crowded && spins < 1<<14:
		if spins%64 == 0 {
			yieldThread()
		}
	case !t.crowded || spins < 1<<12:
		runtime.Gosched()
	default:
		time.Sleep(20 * time.Microsecond)
	}
}
