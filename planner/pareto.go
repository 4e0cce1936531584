package planner

import (
	"cmp"
	"errors"
	"slices"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// Front is what a choice of schedules can trade latency for bandwidth: no other schedule
// is at least as fast at both ends as one of the front.
type Front struct {
	Small, Large units.Bytes // the sizes at which latency and bandwidth are taken
	Points       []FrontPoint
}

// FrontPoint is a schedule of the front, or one that is the best of all at some size in
// between although others beat it at both ends.
type FrontPoint struct {
	Schedule *schedule.Schedule
	Latency  units.Time // at Small
	Transfer units.Time // at Large
	OnFront  bool
	Best     []SizeRange // where no other is faster, within the sizes asked for; none where there always is one
}

// SizeRange is from the first size to the last one, both included.
type SizeRange struct {
	From, To units.Bytes
	About    bool // the last one, see Crossover
}

// PerByte is the time of a byte at the large size, in picoseconds.
func (p *FrontPoint) PerByte(large units.Bytes) float64 { return float64(p.Transfer) / float64(large) }

// PlanFront is Plan, and the front of all candidates: latency is taken at a byte for each
// rank, bandwidth at the largest of the sizes, which have to ascend.
func PlanFront(t *topology.Topology, spec collective.Spec, sizes []units.Bytes, score Scorer, o PlanOptions) ([]Row, *Front, error) {
	candidates, err := candidatesOf(t, spec, o)
	if err != nil {
		return nil, nil, err
	}
	rows, err := planAll(t, spec, candidates, sizes, score, o)
	if err != nil {
		return nil, nil, err
	}
	x := &frontSearch{score: score, budget: o.Build.Budget, ends: [2]units.Bytes{units.Bytes(spec.Ranks), sizes[len(sizes)-1]}}
	if err := x.search(candidates); err != nil {
		return nil, nil, err
	}
	f, err := x.points(rows)
	return rows, f, err
}

// ends are times at the two ends.
type ends [2]units.Time

// frontSearch looks for the schedules that no other beats at both ends.
type frontSearch struct {
	score  Scorer
	budget Budget
	ends   [2]units.Bytes
	timed  map[*schedule.Schedule]ends
	front  []*schedule.Schedule // fastest at the large end first
}

// search finds the fastest at the large end, then the fastest of those with less latency
// than that, and so on, each as plan does (see contest).
func (x *frontSearch) search(candidates []*schedule.Schedule) error {
	x.timed = map[*schedule.Schedule]ends{}
	c := newContest(candidates, x.ends[1], x.score, x.budget)
	c.alone = true
	for {
		c.before = c.score.Spent() // each has a budget of its own
		if err := c.run(); err != nil || c.best < 0 {
			return err
		}
		best := c.best
		s := c.list[best].Schedule
		latency, err := x.score.Time(s, x.ends[0], units.MaxTime)
		if err != nil && !errors.Is(err, ErrTooLarge) {
			return err
		}
		c.leave(best)
		if err != nil || !x.add(s, ends{latency, c.list[best].Time}) {
			continue
		}
		for i := range c.list {
			if x.score.Bound(c.list[i].Schedule, x.ends[0]) >= latency {
				c.leave(i)
			}
		}
	}
}

// add puts a schedule at the end of the front if it has less latency than all there, and
// takes out the last one where that is no faster.
func (x *frontSearch) add(s *schedule.Schedule, t ends) bool {
	if n := len(x.front); n > 0 {
		last := x.timed[x.front[n-1]]
		if t[0] >= last[0] {
			return false
		}
		if t[1] <= last[1] {
			x.front = x.front[:n-1]
		}
	}
	x.timed[s] = t
	x.front = append(x.front, s)
	return true
}

func (x *frontSearch) time(s *schedule.Schedule) (err error) {
	var t ends
	for i, size := range x.ends {
		if t[i], err = x.score.Time(s, size, units.MaxTime); err != nil {
			return err
		}
	}
	x.timed[s] = t
	return nil
}

// points are the front with where each schedule is best, lowest latency first.
func (x *frontSearch) points(rows []Row) (*Front, error) {
	rows, err := x.untied(rows)
	if err != nil {
		return nil, err
	}
	best, err := bestRanges(rows, x.score, x.budget)
	if err != nil {
		return nil, err
	}
	on := x.front
	for _, r := range rows { // the best between the ends need not be on the front
		if !slices.Contains(on, r.Schedule) && len(best[r.Schedule]) > 0 {
			if err := x.time(r.Schedule); errors.Is(err, ErrTooLarge) {
				continue
			} else if err != nil {
				return nil, err
			}
			on = append(on, r.Schedule)
		}
	}
	f := &Front{Small: x.ends[0], Large: x.ends[1]}
	for _, s := range on {
		t := x.timed[s]
		f.Points = append(f.Points, FrontPoint{Schedule: s, Latency: t[0], Transfer: t[1], OnFront: slices.Contains(x.front, s),
			Best: best[s]})
	}
	slices.SortStableFunc(f.Points, func(a, b FrontPoint) int {
		return cmp.Or(cmp.Compare(a.Latency, b.Latency), cmp.Compare(a.Transfer, b.Transfer))
	})
	return f, nil
}

// untied gives rows to the front where a schedule of it is as fast as their own.
func (x *frontSearch) untied(rows []Row) ([]Row, error) {
	rows = slices.Clone(rows)
	for i := range rows {
		r := &rows[i]
		if slices.Contains(x.front, r.Schedule) {
			continue
		}
		for _, s := range x.front {
			t, err := x.score.Time(s, r.Size, units.MaxTime)
			if errors.Is(err, ErrTooLarge) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if t <= r.Prediction.Time {
				r.Schedule = s
				break
			}
		}
	}
	return rows, nil
}

// bestRanges are the sizes at which each schedule is the best, from the rows of all
// sizes; between neighbours, found as in Crossovers.
func bestRanges(rows []Row, score Scorer, budget Budget) (map[*schedule.Schedule][]SizeRange, error) {
	out := map[*schedule.Schedule][]SizeRange{}
	from := rows[0].Size
	for i := range rows {
		s, to := rows[i].Schedule, rows[i].Size
		next, about := units.Bytes(0), false
		if i+1 < len(rows) {
			if rows[i+1].Schedule == s {
				continue
			}
			var err error
			if next, about, err = meeting(&rows[i], &rows[i+1], score, budget); err != nil {
				return nil, err
			}
			to = next - 1
		}
		out[s] = append(out[s], SizeRange{from, to, about})
		from = next
	}
	return out, nil
}
