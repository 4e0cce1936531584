package host

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"railyard/exec/net"
)

// team is ranks that begin the same work together, again and again, each a goroutine.
type team struct {
	work  func(rank int, i int64) bool // of iteration i; false: it was given up
	after func()                       // what the last rank that ends has to do for all, in the time; nil: nothing
	meet  func(i int64) bool           // waits until other processes begin too; nil: there are none

	transport net.Transport // to other processes, for whoever waits to attend to; nil: there are none

	ready    atomic.Int64 // ranks that are there, over all iterations
	_        [56]byte
	started  atomic.Int64 // iterations that have begun
	_        [56]byte
	finished atomic.Int64 // ranks that have ended, over all iterations
	_        [56]byte
	began    time.Time
	times    []time.Duration   // of the iterations that were let go last
	ends     [][]time.Duration // by rank and iteration, of all iterations: when it had ended
	runs     []chan int        // by rank: so many iterations
	over     chan struct{}     // they have ended
	crowded  bool              // fewer processors than ranks

	abort   atomic.Bool
	aborted chan struct{} // closed by the first failure
	mu      sync.Mutex
	failure error
}

func (t *team) init(ranks int) {
	t.over, t.aborted, t.ends = make(chan struct{}, 1), make(chan struct{}), make([][]time.Duration, ranks)
	for range ranks {
		t.runs = append(t.runs, make(chan int, 1))
	}
	t.crowded = t.crowd(1)
}

// crowd reports whether there are fewer processors than ranks, of so many processes like this one.
func (t *team) crowd(processes int) bool {
	return len(t.runs)*processes > runtime.NumCPU() || len(t.runs) > runtime.GOMAXPROCS(0)
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
	if t.transport == nil && len(t.runs) == runtime.NumCPU() { // else the kernel has room, or none, for all
		pin(rank)
	}
	i := int64(0)
	for n := range t.runs[rank] {
		for range n {
			if !t.begin(i) || !t.work(rank, i) {
				return
			}
			t.ends[rank] = append(t.ends[rank], time.Since(t.began))
			t.ended(i)
			i++
		}
	}
}

// begin waits until all ranks are there: what waking them takes belongs to no work.
func (t *team) begin(i int64) bool {
	if t.ready.Add(1) < (i+1)*int64(len(t.runs)) {
		return t.await(&t.started, i+1)
	}
	if t.meet != nil && !t.meet(i) {
		return false
	}
	t.began = time.Now()
	t.started.Store(i + 1)
	return true
}

// await waits until a number has been reached; false: it was given up.
func (t *team) await(number *atomic.Int64, want int64) bool {
	for spins := 0; number.Load() < want; spins++ {
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
	for spins := 0; t.transport != nil && t.transport.Backlog() > 0; spins++ {
		if t.abort.Load() {
			return
		}
		t.pause(spins)
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
	case t.transport != nil:
		t.attend(spins)
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

// attend moves what other processes send, and what is sent to them. Where ranks are more than processors it
// soon waits until something has come: somebody else may be who has to send it.
func (t *team) attend(spins int) {
	err := error(nil)
	switch {
	case !t.crowded || spins < 64:
		_, err = t.transport.Poll()
		if !t.crowded && spins%64 == 63 {
			yieldThread()
		}
	case len(t.runs) == 1:
		_, err = t.transport.Wait(waitForAlone)
	default:
		_, err = t.transport.Wait(waitFor)
	}
	if err != nil {
		t.fail(err)
	}
}
