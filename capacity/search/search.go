// Package search finds the best parallel layout of a workload on a machine: it bounds
// every layout from below, then plays steps, most promising first, until no bound is
// below the best times found.
package search

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"railyard/capacity/journal"
	"railyard/capacity/step"
	"railyard/model/units"
	"railyard/model/workload"
)

// Options of a search.
type Options struct {
	Top      int           // how many of the best are wanted exactly; 0: 10
	Workers  int           // 0: one a core
	Journal  *Journal      // rows go there, and rows that it has are not computed again; nil: none
	Shard    journal.Shard // only these layouts, of which there may be none; zero: all
	Progress func(done, total int)
}

// Row is what became of a layout.
type Row struct {
	Point  int        `json:"point"` // the layout's number in its space
	Layout string     `json:"layout"`
	Status Status     `json:"status"`
	Memory float64    `json:"memory_gib"`
	Bound  units.Time `json:"bound_ps,omitempty"`
	Time   units.Time `json:"time_ps,omitempty"`
}

// Status says how far a layout was looked at.
type Status string

// The states of a layout.
const (
	Timed  Status = "timed"
	Pruned Status = "pruned" // its bound is above the best times
	Memory Status = "memory" // does not fit
)

// Result is the outcome of a search.
type Result struct {
	Layouts               int // in all
	Timed, Pruned, Memory int
	Resumed               int // rows that the journal had
	Best                  []*step.Result
}

// Unfit says why a machine has no layout of a space.
type Unfit struct{ Why error }

func (e *Unfit) Error() string { return e.Why.Error() }

// Unwrap is the error of the layout that comes closest.
func (e *Unfit) Unwrap() error { return e.Why }

// playBatch and sharpBatch are how many layouts are played, or get a sharp bound, between
// two looks at the best time: fixed, so that what is pruned does not depend on the number
// of cores.
const (
	playBatch  = 16
	sharpBatch = 128
)

// Run searches a space. Where no layout fits, the error is *Unfit, of the one that comes closest.
func Run(ctx context.Context, p *step.Predictor, w *workload.Workload, space Space, o Options) (*Result, error) {
	if o.Top == 0 {
		o.Top = 10
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Shard == (journal.Shard{}) {
		o.Shard = journal.All
	}
	s := &searcher{ctx: ctx, p: p, w: w, o: o}
	all := space.Layouts(w, p.Machine().Topology.NumRanks())
	if len(all) == 0 {
		return nil, &Unfit{s.nothing(space)}
	}
	s.points = o.Shard.Points(len(all))
	for _, point := range s.points {
		s.layouts = append(s.layouts, all[point])
	}
	if s.answered() {
		return s.result()
	}
	if err := s.bound(); err != nil {
		return nil, err
	}
	if err := s.play(); err != nil {
		return nil, err
	}
	return s.result()
}

// answered takes the rows of a journal that has all of them: of this search, or of its shards, each of which has timed what may be
// among its own best.
func (s *searcher) answered() bool {
	if s.o.Journal == nil || len(s.o.Journal.rows) < len(s.layouts) {
		return false
	}
	s.rows = make([]Row, len(s.layouts))
	var timed []int
	for i := range s.layouts {
		row, ok := s.o.Journal.rows[s.layouts[i].String()]
		if !ok {
			return false
		}
		if s.rows[i] = row; row.Status == Timed {
			timed = append(timed, i)
		}
	}
	s.rank(timed)
	s.resumed, s.done = len(s.rows), len(s.rows)
	s.progress()
	return true
}

type searcher struct {
	ctx     context.Context
	p       *step.Predictor
	w       *workload.Workload
	o       Options
	layouts []step.Layout
	points  []int // the layouts' numbers in their space
	rows    []Row
	resumed int
	queue   []int // layouts that fit and have no sharp bound yet, by their first one
	sharp   []int // layouts with a sharp bound that are not played yet, by it
	best    []int // timed layouts, by time; at most Top
	done    int
}

// parallel visits 0…n−1 on all workers and returns the first error by number.
func (s *searcher) parallel(n int, visit func(i int) error) error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(s.o.Workers)
	for i := range n {
		g.Go(func() error {
			if s.ctx.Err() == nil {
				errs[i] = visit(i)
			}
			return nil
		})
	}
	_ = g.Wait() // errs has them
	for _, err := range append(errs, s.ctx.Err()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// bound fills rows with memory and bounds, chunk by chunk; what does not fit is done.
func (s *searcher) bound() error {
	s.rows = make([]Row, len(s.layouts))
	const chunk = 1024
	for start := 0; start < len(s.layouts); start += chunk {
		end := min(start+chunk, len(s.layouts))
		if err := s.parallel(end-start, func(i int) error { return s.boundOne(start + i) }); err != nil {
			return err
		}
		if err := s.journal(start, end); err != nil {
			return err
		}
	}
	for i := range s.rows {
		if s.rows[i].Status != Memory {
			s.queue = append(s.queue, i)
		}
	}
	s.byBound(s.queue)
	return nil
}

// byBound sorts layouts; of equal bounds the layout that comes first.
func (s *searcher) byBound(list []int) {
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.rows[a].Bound, s.rows[b].Bound), a-b)
	})
}

func (s *searcher) boundOne(i int) error {
	e, err := step.Bound(s.p, s.w, s.layouts[i], false)
	if err != nil {
		return fmt.Errorf("%s: %w", s.layouts[i].String(), err)
	}
	s.rows[i] = Row{Point: s.points[i], Layout: s.layouts[i].String(), Memory: e.Memory.Total() / float64(units.GiB), Bound: e.Time}
	if !e.Memory.Fits() {
		s.rows[i].Status = Memory
	}
	return nil
}

// journal writes the rows of layouts that do not fit.
func (s *searcher) journal(start, end int) error {
	var out []Row
	for i := start; i < end; i++ {
		if s.rows[i].Status != Memory {
			continue
		}
		s.done++
		if !s.journaled(i) {
			out = append(out, s.rows[i])
		}
	}
	s.progress()
	return s.write(out)
}

// journaled reports whether the journal has a layout's row already.
func (s *searcher) journaled(i int) bool {
	if s.o.Journal == nil {
		return false
	}
	row, ok := s.o.Journal.rows[s.rows[i].Layout]
	if ok {
		s.resumed++
		s.rows[i] = row
	}
	return ok
}

func (s *searcher) write(rows []Row) error {
	if s.o.Journal == nil {
		return nil
	}
	return journal.Add(s.o.Journal.file, rows...)
}

// play times layouts in the order of their bounds: the first bound leaves out all
// communication, so the next layouts by it get a sharp one, until the least sharp bound
// is below the rest; that one is played.
func (s *searcher) play() error {
	for {
		next := s.next()
		if limit := s.limit(); next == units.MaxTime || limit > 0 && next >= limit {
			return s.prune()
		}
		var err error
		if len(s.sharp) == 0 || len(s.queue) > 0 && s.rows[s.sharp[0]].Bound > s.rows[s.queue[0]].Bound {
			err = s.sharpen()
		} else {
			err = s.playSome()
		}
		if err != nil {
			return err
		}
	}
}

// next is the least bound of all that is left.
func (s *searcher) next() units.Time {
	t := units.MaxTime
	for _, list := range [][]int{s.queue, s.sharp} {
		if len(list) > 0 {
			t = min(t, s.rows[list[0]].Bound)
		}
	}
	return t
}

// sharpen gives the next layouts of the queue a bound with communication.
func (s *searcher) sharpen() error {
	n := min(sharpBatch, len(s.queue))
	list := s.queue[:n]
	s.queue = s.queue[n:]
	err := s.parallel(n, func(k int) error {
		e, err := step.Bound(s.p, s.w, s.layouts[list[k]], true)
		if err == nil {
			s.rows[list[k]].Bound = e.Time
		}
		return err
	})
	s.sharp = append(s.sharp, list...)
	s.byBound(s.sharp)
	return err
}

// playSome plays the most promising layouts.
func (s *searcher) playSome() error {
	n := 1
	for n < min(playBatch, len(s.sharp)) && (len(s.queue) == 0 || s.rows[s.sharp[n]].Bound <= s.rows[s.queue[0]].Bound) {
		n++
	}
	list := s.sharp[:n]
	s.sharp = s.sharp[n:]
	return s.playAll(list)
}

// limit is the time that a layout has to beat, 0 while there are fewer than Top.
func (s *searcher) limit() units.Time {
	if len(s.best) < s.o.Top {
		return 0
	}
	return s.rows[s.best[len(s.best)-1]].Time
}

func (s *searcher) playAll(list []int) error {
	var todo []int
	for _, i := range list {
		if !s.journaled(i) {
			todo = append(todo, i)
		}
	}
	err := s.parallel(len(todo), func(k int) error {
		i := todo[k]
		t, err := step.Time(s.p, s.w, s.layouts[i])
		if err != nil {
			return fmt.Errorf("%s: %w", s.layouts[i].String(), err)
		}
		s.rows[i].Status, s.rows[i].Time = Timed, t
		return nil
	})
	if err != nil {
		return err
	}
	var out []Row
	for _, i := range todo {
		out = append(out, s.rows[i])
	}
	s.done += len(list)
	s.progress()
	s.rank(list)
	return s.write(out)
}

// rank keeps the best; of equal times the layout that comes first.
func (s *searcher) rank(list []int) {
	s.best = append(s.best, list...)
	slices.SortFunc(s.best, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.rows[a].Time, s.rows[b].Time), a-b)
	})
	s.best = s.best[:min(len(s.best), s.o.Top)]
}

// prune notes that what is left cannot be among the best.
func (s *searcher) prune() error {
	var out []Row
	for _, i := range slices.Concat(s.sharp, s.queue) {
		s.rows[i].Status = Pruned
		if !s.journaled(i) {
			out = append(out, s.rows[i])
		}
	}
	s.done = len(s.layouts)
	s.progress()
	return s.write(out)
}

func (s *searcher) progress() {
	if s.o.Progress != nil {
		s.o.Progress(s.done, len(s.layouts))
	}
}

// result plays the best again, for where their time goes.
func (s *searcher) result() (*Result, error) {
	r := &Result{Layouts: len(s.layouts), Resumed: s.resumed}
	for i := range s.rows {
		switch s.rows[i].Status {
		case Timed:
			r.Timed++
		case Pruned:
			r.Pruned++
		case Memory:
			r.Memory++
		}
	}
	if len(s.best) == 0 && s.o.Shard == journal.All {
		return r, &Unfit{s.tooLarge()}
	}
	for _, i := range s.best {
		x, err := step.Run(s.p, s.w, s.layouts[i], step.Options{})
		if err != nil {
			return nil, err
		}
		r.Best = append(r.Best, x)
	}
	return r, nil
}

// tooLarge is the error of the layout that comes closest to fitting.
func (s *searcher) tooLarge() error {
	least := 0
	for i := range s.rows {
		if s.rows[i].Memory < s.rows[least].Memory {
			least = i
		}
	}
	e, err := step.Bound(s.p, s.w, s.layouts[least], false)
	if err == nil {
		err = e.Memory.TooLarge(&s.layouts[least])
	}
	return fmt.Errorf("none of %d layouts fits into memory; the smallest, %s: %w", len(s.layouts), s.rows[least].Layout, err)
}

// nothing says why no layout is left: by the check of the one that the fixed numbers give.
func (s *searcher) nothing(space Space) error {
	ranks := s.p.Machine().Topology.NumRanks()
	l := step.Layout{Data: space.Data, Tensor: max(space.Tensor, 1), Pipeline: max(space.Pipeline, 1), Context: max(space.Context, 1),
		Expert: max(space.Expert, 1), Virtual: max(space.Virtual, 1), Zero: max(space.Zero, 0), MicroBatch: max(space.MicroBatch, 1),
		GlobalBatch: space.GlobalBatch, Recompute: workload.NoRecompute, Order: step.DefaultOrder}
	if space.Order != nil {
		l.Order = space.Order
	}
	if l.Data == 0 {
		l.Data = max(ranks/(l.Tensor*l.Pipeline*l.Context), 1)
	}
	if l.GlobalBatch == 0 {
		l.GlobalBatch = s.w.GlobalBatch
	}
	if space.Sequence != nil {
		l.Sequence = *space.Sequence
	}
	if err := l.Check(s.w, ranks); err != nil {
		return err
	}
	return fmt.Errorf("no layout of %s divides %d GPUs: change --nodes, global-batch (%d) or the fixed sizes",
		s.w.Name, ranks, l.GlobalBatch)
}
