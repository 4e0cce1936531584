package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/topologies"
)

// hub is a control plane within a test.
type hub struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	mu    sync.Mutex
	all   [][]byte
	there int
	done  chan struct{}
}

// seat is one process's view of a hub.
type seat struct {
	*hub
	process int
}

func newHub(size int) *hub {
	h := &hub{all: make([][]byte, size), done: make(chan struct{})}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	return h
}

func (s seat) Exchange(ctx context.Context, mine []byte) ([][]byte, error) {
	s.mu.Lock()
	all, done := s.all, s.done
	all[s.process] = mine
	if s.there++; s.there == len(all) {
		s.all, s.there, s.done = make([][]byte, len(all)), 0, make(chan struct{})
		close(done)
	}
	s.mu.Unlock()
	select {
	case <-done:
		return all, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s seat) Barrier(ctx context.Context) error {
	_, err := s.Exchange(ctx, nil)
	return err
}

func (s seat) Context() context.Context { return s.ctx }
func (s seat) Abort(err error)          { s.end(err) }

// spread runs what is given on processes, each with so many ranks, and returns all errors.
func spread(ranks []int, sockets int, run func(p *Processes) error) []error {
	h := newHub(len(ranks))
	errs := make([]error, len(ranks))
	var wg sync.WaitGroup
	for i, n := range ranks {
		wg.Go(func() {
			p, err := Meet(context.Background(), seat{h, i}, Place{Process: i, Size: len(ranks), Ranks: n, Local: len(ranks),
				Host:    "127.0.0.1",
				Sockets: sockets})
			if err != nil {
				errs[i] = err
				return
			}
			defer p.Close()
			errs[i] = run(p)
		})
	}
	wg.Wait()
	return errs
}

// exact runs a schedule and says what is wrong with the result.
func exact(s *schedule.Schedule, cfg Config) error {
	out, err := Run(context.Background(), s, cfg)
	switch {
	case err != nil:
		return fmt.Errorf("%s %v of %d: %w", s.Algorithm, s.Spec.Kind, cfg.Count, err)
	case out.Wrong > 0:
		return fmt.Errorf("%s %v of %d: %d wrong", s.Algorithm, s.Spec.Kind, cfg.Count, out.Wrong)
	case len(out.Times) != cfg.Iterations || len(out.Ranks) != s.Spec.Ranks || len(out.Ranks[s.Spec.Ranks-1]) != cfg.Iterations:
		return fmt.Errorf("%s: %d times, of %d ranks", s.Algorithm, len(out.Times), len(out.Ranks))
	}
	return nil
}

// TestProcessesAreExact: whatever algorithm, however ranks are spread over processes, every
// element is right, out of place and in place.
func TestProcessesAreExact(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.AllToAll, collective.AllToAllV, collective.SendRecv, collective.Reduce, collective.Gather}
	for _, ranks := range long.Or([][]int{{2, 1, 2}}, [][]int{{1, 1, 1, 1}, {2, 1, 3}, {2, 1, 2}}) {
		total := 0
		for _, n := range ranks {
			total += n
		}
		topo := load(t, "dgx-h100", total)
		var all []*schedule.Schedule
		for i, kind := range kinds {
			all = append(all, every(t, topo, kind, 1+(i+total)%3)...)
		}
		for _, err := range spread(ranks, len(ranks)-1, func(p *Processes) error {
			for i, s := range all {
				for _, count := range []int64{1, 257}[i%2:] {
					cfg := Config{Count: count * int64(s.Spec.Blocks()), Seed: int64(i), Iterations: 2, Checks: 2, Over: p,
						DType: []collective.DType{collective.Float32, collective.BFloat16, collective.Int64}[i%3]}
					if err := exact(s, cfg); err != nil {
						return err
					}
					if _, err := schedule.InPlace(s); err != nil {
						continue // the checker says that it cannot
					}
					cfg.InPlace = true
					if err := exact(s, cfg); err != nil {
						return fmt.Errorf("in place: %w", err)
					}
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("%v ranks: %v", ranks, err)
			}
		}
	}
}

// TestNodesOverProcesses: plans for nodes, a process each, with random shapes, operations and sizes.
func TestNodesOverProcesses(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 1))
	for range long.Or(3, 6) {
		nodes, gpus := 2+random.IntN(3), 1+random.IntN(3)
		topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: nodes, GPUs: gpus})
		if err != nil {
			t.Fatal(err)
		}
		ranks := make([]int, nodes)
		for i := range ranks {
			ranks[i] = gpus
		}
		var all []*schedule.Schedule
		var cfgs []Config
		for _, kind := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.AllToAll} {
			spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
			list, err := planner.Candidates(topo, spec, "", planner.Options{Slices: 1 + random.IntN(12)})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range random.Perm(len(list))[:min(4, len(list))] {
				all = append(all, list[i])
				cfgs = append(cfgs, Config{Count: int64(1 + random.IntN(1<<random.IntN(18))), Seed: random.Int64(), Iterations: 1 +
					random.IntN(4),
					Op: []collective.ReduceOp{collective.Sum, collective.Avg, collective.Max, collective.Prod}[random.IntN(4)], Checks: 3})
			}
		}
		for _, err := range spread(ranks, 1+random.IntN(3), func(p *Processes) error {
			for i, s := range all {
				cfg := cfgs[i]
				cfg.Over = p
				if err := exact(s, cfg); err != nil {
					return err
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("%d nodes of %d: %v", nodes, gpus, err)
			}
		}
	}
}

// TestProcessThatHangs: the deadline names who waits for whom, on all processes in the same words.
func TestProcessThatHangs(t *testing.T) {
	errs := spread([]int{1, 1, 1}, 1, func(p *Processes) error {
		_, err := Run(context.Background(), broken(t), Config{Count: 12, Deadline: 50 * time.Millisecond, Over: p})
		return err
	})
	for _, err := range errs {
		if err == nil || err.Error() != errs[0].Error() || !strings.Contains(err.Error(), "deadline of 50ms passed: rank ") ||
			!strings.Contains(err.Error(), ": flag wanted ") {
			t.Errorf("%v", err)
		}
	}
}

// TestProcessThatDies while all others wait for it: they say who is lost.
func TestProcessThatDies(t *testing.T) {
	topo := load(t, "dgx-h100", 3)
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: 3}, "ring", planner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	errs := spread([]int{1, 1, 1}, 2, func(p *Processes) error {
		if p.Process == 1 {
			return p.group.Barrier(t.Context()) // the others think that it begins
		}
		_, err := Run(context.Background(), s, Config{Count: 12, Over: p, Deadline: time.Minute})
		return err
	})
	if errs[0] == nil || errs[2] == nil || !strings.Contains(errs[0].Error(), "process 1 (127.0.0.1:") {
		t.Errorf("%v and %v", errs[0], errs[2])
	}
}

// TestGroupThatEnds: what the control plane says ends all ranks, and is what they say.
func TestGroupThatEnds(t *testing.T) {
	reason := errors.New("lost rank 5: i/o timeout")
	errs := spread([]int{2, 1}, 1, func(p *Processes) error {
		time.AfterFunc(20*time.Millisecond, func() { p.group.Abort(reason) })
		_, err := Run(context.Background(), broken(t), Config{Count: 12, Deadline: time.Minute, Over: p})
		return err
	})
	for _, err := range errs {
		if !errors.Is(err, reason) {
			t.Errorf("%v", err)
		}
	}
}

// TestProcessesThatDoNotFit are told so.
func TestProcessesThatDoNotFit(t *testing.T) {
	for i, err := range spread([]int{2, 3}, 1, func(p *Processes) error {
		_, err := Run(context.Background(), broken(t), Config{Count: 12, Over: p})
		return err
	}) {
		if err == nil || err.Error() != "the plan is for 3 ranks, the processes run 5" {
			t.Errorf("process %d: %v", i, err)
		}
	}
	for i, err := range spread([]int{1, 0}, 1, func(*Processes) error { return nil }) {
		if err == nil || err.Error() != "process 1 runs 0 ranks: each must run one or more" {
			t.Errorf("process %d: %v", i, err)
		}
	}
}

// TestNetwork: all pairs are measured in all sizes, and all processes get the same rows; runs go on afterwards.
func TestNetwork(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		t.Run(fmt.Sprint(ranks, " ranks"), func(t *testing.T) { testNetwork(t, ranks) })
	}
}

func testNetwork(t *testing.T, ranks int) {
	const size, largest = 3, units.MiB
	rows := make([][]measurement.Link, size)
	for _, err := range spread([]int{ranks, ranks, ranks}, 2, func(p *Processes) (err error) {
		if rows[p.Process], err = p.Network(t.Context(), largest); err != nil {
			return err
		}
		if ranks > 1 {
			return nil
		}
		_, err = Run(t.Context(), broken(t), Config{Count: 0, Over: p, Deadline: 10 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), "deadline") {
			return fmt.Errorf("a run afterwards: %v", err)
		}
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	count := map[string]int{}
	for _, r := range rows[0] {
		if inside := r.Unit == "GBps" || r.Kind == "net_local"; r.Value <= 0 || (r.Src == r.Dst) != inside {
			t.Errorf("%+v", r)
		}
		count[fmt.Sprint(r.Kind, r.Bytes)]++
	}
	for _, bytes := range NetworkSizes(largest) {
		if n := count[fmt.Sprint("net_pair", bytes)]; n != 3*networkRounds {
			t.Errorf("%v: %d rows of pairs, want %d", bytes, n, 3*networkRounds)
		}
	}
	if n := count[fmt.Sprint("net_local", smallMessage)]; n != (ranks-1)*size*networkRounds {
		t.Errorf("%d rows of ranks of one process, want %d", n, (ranks-1)*size*networkRounds)
	}
	if n := count[fmt.Sprint("net_all", largest)]; n != 2*size*networkRounds {
		t.Errorf("%d rows of all at once, want %d", n, 2*size*networkRounds)
	}
	for _, kind := range []string{measurement.NetInput, measurement.NetCopy, measurement.NetCombine} {
		if n := count[fmt.Sprint(kind, largest)]; n != size*rounds {
			t.Errorf("%d rows %s, want %d", n, kind, size*rounds)
		}
	}
	for i := range rows {
		if !slices.Equal(rows[i], rows[0]) {
			t.Errorf("process %d has other rows", i)
		}
	}
}
