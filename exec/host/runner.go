package host

import (
	"context"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/trace"
	"railyard/model/units"
)

// runner holds the memory, connections and lanes of a run.
type runner[T element] struct {
	s      *schedule.Schedule
	cfg    Config
	k      *kernels[T]
	layout *schedule.Layout
	mem    []memory[T]
	conns  []*conn
	lanes  []*lane[T]

	epoch    atomic.Int64 // iterations that may begin
	finished atomic.Int64 // lanes that have ended, over all iterations
	abort    atomic.Bool
	quit     atomic.Bool
	mu       sync.Mutex
	failure  error
	began    time.Time
	tracing  bool
	events   []trace.Event
}

// conn counts the messages between two lanes; both counters only grow.
type conn struct {
	src, dst int32
	sent     atomic.Int64
	taken    atomic.Int64
	sources  []schedule.Loc // of one slice's messages, in order
	_        [64]byte       // keeps neighbours off the cache line
}

type connKey struct{ src, dst, channel, phase int32 }

func newRunner[T element](s *schedule.Schedule, cfg Config, k *kernels[T]) *runner[T] {
	r := &runner[T]{s: s, cfg: cfg, k: k, layout: schedule.NewLayout(s, cfg.Count, 1)}
	x := schedule.NewExpander(s)
	r.allocate(x)
	index := map[connKey]*conn{}
	connect := func(key connKey) *conn {
		if index[key] == nil {
			index[key] = &conn{src: key.src, dst: key.dst}
			r.conns = append(r.conns, index[key])
		}
		return index[key]
	}
	for c := range s.Channels {
		for rank := range s.Spec.Ranks {
			var before *lane[T]
			for p := range s.Channels[c].Phases {
				l := &lane[T]{r: r, rank: int32(rank), channel: int32(c), phase: int32(p), before: before, slices: s.Channels[c].Slices}
				for _, op := range x.AppendProgram(nil, c, p, rank) {
					b := boundOp{Op: op}
					for _, peer := range op.AllPeers() {
						key := connKey{peer, int32(rank), int32(c), int32(p)}
						if op.Kind.Sends() {
							key.src, key.dst = key.dst, key.src
						}
						k := connect(key)
						if op.Kind.Sends() {
							k.sources = append(k.sources, op.Src)
						}
						b.conns = append(b.conns, k)
					}
					l.ops = append(l.ops, b)
				}
				r.lanes = append(r.lanes, l)
				before = l
			}
		}
	}
	return r
}

// start launches the lanes; the function returned ends them and waits.
func (r *runner[T]) start(ctx context.Context) func() {
	var wg sync.WaitGroup
	for _, l := range r.lanes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.loop()
		}()
	}
	cancel := context.AfterFunc(ctx, func() { r.fail(context.Cause(ctx)) })
	return func() {
		cancel()
		r.quit.Store(true)
		r.abort.Store(true)
		wg.Wait()
	}
}

// fail keeps the first error and stops everybody.
func (r *runner[T]) fail(err error) {
	r.mu.Lock()
	if r.failure == nil {
		r.failure = err
	}
	r.mu.Unlock()
	r.abort.Store(true)
}

// iterate lets every lane run once and waits for the last one.
func (r *runner[T]) iterate(tracing bool) (time.Duration, error) {
	r.tracing = tracing
	r.events = r.events[:0]
	target := r.finished.Load() + int64(len(r.lanes))
	r.began = time.Now()
	r.epoch.Add(1)
	for spins := 0; r.finished.Load() < target && !r.abort.Load(); spins++ {
		pause(spins)
	}
	took := time.Since(r.began)
	if r.abort.Load() {
		r.mu.Lock()
		defer r.mu.Unlock()
		return 0, r.failure
	}
	if r.cfg.Op == collective.Avg && r.s.Spec.Kind.Reduces() {
		for rank := range r.mem {
			if n := r.layout.Elements(rank, schedule.Output); n > 0 {
				r.k.divide(r.mem[rank].bufs[schedule.Output][:n], r.s.Spec.Ranks)
			}
		}
		took = time.Since(r.began)
	}
	return took, nil
}

// pause is one turn of a waiting loop: spin a little, then let others run, then sleep.
func pause(spins int) {
	switch {
	case spins < 64:
	case spins < 4096:
		runtime.Gosched()
	default:
		time.Sleep(20 * time.Microsecond)
	}
}

// trace is the timeline of the last traced iteration.
func (r *runner[T]) trace() *trace.Trace {
	if !r.cfg.Trace {
		return nil
	}
	sort.SliceStable(r.events, func(i, j int) bool {
		a, b := r.events[i], r.events[j]
		return a.Start < b.Start || a.Start == b.Start && a.Rank < b.Rank
	})
	return &trace.Trace{Name: r.s.Algorithm, Source: "measured (backend host)", Ranks: r.s.Spec.Ranks, Events: r.events}
}

func (r *runner[T]) record(l *lane[T], slice int, op *schedule.Op, elements int64, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, trace.Event{Rank: l.rank, Peer: op.Peer, Channel: l.channel, Phase: l.phase, Slice: int32(slice),
		Op: op.Kind.String(), Bytes: units.Bytes(elements * int64(r.cfg.DType.Size())),
		Start: picoseconds(start.Sub(r.began)), End: picoseconds(time.Since(r.began))})
}

func picoseconds(d time.Duration) units.Time { return units.Time(d.Nanoseconds()) * units.Nanosecond }
