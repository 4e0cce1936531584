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
type SizeRange struct{ From, To units.Bytes }

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
	x := &frontSearch{score: score, ends: [2]units.Bytes{units.Bytes(spec.Ranks), sizes[len(sizes)-1]}}
	if err := x.search(candidates); err != nil {
		return nil, nil, err
	}
	f, err := x.points(rows)
	return rows, f, err
}

// ends are times at the two ends.
type ends [2]units.Time

// beats reports whether a is nowhere slower than b.
func (a ends) beats(b ends) bool { return a[0] <= b[0] && a[1] <= b[1] }

// frontSearch looks for the schedules that no other beats at both ends.
type frontSearch struct {
	score Scorer
	ends  [2]units.Bytes
	order []*schedule.Schedule // all candidates
	timed map[*schedule.Schedule]ends
	front []*schedule.Schedule
}

// search looks at those first that could be the fastest at the large end, and no closer
// than it takes to see that another one beats them.
func (x *frontSearch) search(candidates []*schedule.Schedule) error {
	x.order, x.timed = candidates, map[*schedule.Schedule]ends{}
	bounds := make(map[*schedule.Schedule]ends, len(candidates))
	for _, s := range candidates {
		bounds[s] = ends{x.score.Bound(s, x.ends[0]), x.score.Bound(s, x.ends[1])}
	}
	sorted := slices.Clone(candidates)
	slices.SortStableFunc(sorted, func(a, b *schedule.Schedule) int { return cmp.Compare(bounds[a][1], bounds[b][1]) })
	for _, s := range sorted {
		if x.beaten(bounds[s]) {
			continue
		}
		estimate, err := x.both(s, x.score.Estimate)
		if errors.Is(err, ErrTooLarge) {
			continue
		}
		if err != nil {
			return err
		}
		if x.beaten(estimate) {
			continue
		}
		if err := x.time(s); err != nil {
			return err
		}
	}
	x.front = slices.DeleteFunc(slices.Clone(sorted), func(s *schedule.Schedule) bool { return !x.undominated(s) })
	return nil
}

func (x *frontSearch) both(s *schedule.Schedule, of func(*schedule.Schedule, units.Bytes) (units.Time, error)) (out ends, err error) {
	for i, size := range x.ends {
		if out[i], err = of(s, size); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (x *frontSearch) time(s *schedule.Schedule) error {
	t, err := x.both(s, x.score.Time)
	x.timed[s] = t
	return err
}

// beaten reports whether a schedule that takes at least so long cannot be on the front.
// Of those that tie, undominated keeps one.
func (x *frontSearch) beaten(least ends) bool {
	for _, t := range x.timed {
		if t.beats(least) && t != least {
			return true
		}
	}
	return false
}

// undominated reports whether no other timed schedule beats s; of equals, the first
// candidate is kept.
func (x *frontSearch) undominated(s *schedule.Schedule) bool {
	mine, known := x.timed[s]
	if !known {
		return false
	}
	at := slices.Index(x.order, s)
	for i, other := range x.order {
		if t, ok := x.timed[other]; ok && other != s && t.beats(mine) && (t != mine || i < at) {
			return false
		}
	}
	return true
}

// points are the front with where each schedule is best, lowest latency first.
func (x *frontSearch) points(rows []Row) (*Front, error) {
	rows, err := x.untied(rows)
	if err != nil {
		return nil, err
	}
	best, err := bestRanges(rows, x.score)
	if err != nil {
		return nil, err
	}
	on := x.front
	for _, r := range rows { // the best between the ends need not be on the front
		if !slices.Contains(on, r.Schedule) && len(best[r.Schedule]) > 0 {
			if err := x.time(r.Schedule); err != nil {
				return nil, err
			}
			on = append(on, r.Schedule)
		}
	}
	f := &Front{Small: x.ends[0], Large: x.ends[1]}
	for _, s := range on {
		t := x.timed[s]
		f.Points = append(f.Points, FrontPoint{Schedule: s, Latency: t[0], Transfer: t[1], OnFront: slices.Contains(x.front, s), Best: best[s]})
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
			t, err := x.score.Time(s, r.Size)
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
func bestRanges(rows []Row, score Scorer) (map[*schedule.Schedule][]SizeRange, error) {
	out := map[*schedule.Schedule][]SizeRange{}
	from := rows[0].Size
	for i := range rows {
		s, to := rows[i].Schedule, rows[i].Size
		next := units.Bytes(0)
		if i+1 < len(rows) {
			if rows[i+1].Schedule == s {
				continue
			}
			var err error
			if next, err = meeting(&rows[i], &rows[i+1], score); err != nil {
				return nil, err
			}
			to = next - 1
		}
		out[s] = append(out[s], SizeRange{from, to})
		from = next
	}
	return out, nil
}
