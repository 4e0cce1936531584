package planner

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"railyard/model/schedule"
	"railyard/model/units"
)

// Crossover is a size from which on another family is best.
type Crossover struct {
	Size     units.Bytes
	About    bool // not to within 1 %, but where the lines between times at other sizes meet
	From, To *schedule.Schedule
}

// Crossovers finds the sizes at which the best family changes, between neighbouring rows, by the times of the two schedules concerned: to
// within 1 %, or where these take long to find out for a budget (0: DefaultBudget), to where the lines between the times that are known
// meet.
func Crossovers(rows []Row, score Scorer, budget Budget) ([]Crossover, error) {
	var out []Crossover
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if family(a.Schedule) == family(b.Schedule) {
			continue
		}
		at, about, err := meeting(&a, &b, score, budget)
		if err != nil {
			return nil, err
		}
		out = append(out, Crossover{at, about, a.Schedule, b.Schedule})
	}
	return out, nil
}

// toMeet is which part of the budget of a row it may take to find out where its schedule meets the next one's, but for their times at both
// ends: a crossing is looked at, a row is used.
const toMeet = 8

// meeting is the size from which on the schedule of b is faster than that of a, between
// their rows, to within 1 %, or where both take the same; only about so where times take long to find out (see toMeet). Times grow
// about linearly between two sizes: where their lines meet is looked at next, from both sides (the Illinois method of false
// position: M. Dowell, P. Jarratt, 1971), and every third time the middle, so that it takes no more steps than three bisections
// would.
func meeting(a, b *Row, score Scorer, budget Budget) (at units.Bytes, about bool, err error) {
	score.Begin() // whatever sizes were planned before
	most := int64(cmp.Or(budget, DefaultBudget)) / toMeet
	x := &meet{score: score, most: most, before: a.Schedule, after: b.Schedule, lo: a.Size, hi: b.Size}
	err = x.ends(a, b)
	for step := 1; err == nil && x.hi-x.lo > max(1, x.lo/100); step++ {
		if !x.affords() {
			return x.between(false), true, nil
		}
		err = x.closer(step%3 == 0)
	}
	if errors.Is(err, ErrTooLarge) {
		return x.hi, true, nil
	}
	return x.hi, false, err
}

// alike is by which part times differ that are the same to who chooses; where looks are dear, by as much as the few that are left would
// have to promise in a contest (see worth).
func (x *meet) alike() float64 {
	const few = 4
	return max(0.0025, few*worth*float64(x.score.Work(x.before)+x.score.Work(x.after)))
}

// meet is where one schedule becomes faster than another: between lo, by lead behind, and hi.
type meet struct {
	score         Scorer
	most          int64 // operations that may be spent
	before, after *schedule.Schedule
	lo, hi        units.Bytes
	lead, lag     float64 // of the one before, at lo and hi, in picoseconds; not as it is, but less, where one end stays (see closer)
	moved         int     // which end moved last: −1 lo, 1 hi
}

// ends are the times at the two rows, which are known in part.
func (x *meet) ends(a, b *Row) error {
	after, err := a.timeOf(x.after, x.score)
	if err != nil {
		return err
	}
	before, err := b.timeOf(x.before, x.score)
	x.lead, x.lag = max(0, float64(after-a.Prediction.Time)), max(0, float64(before-b.Prediction.Time))
	return err
}

// timeOf is how long a schedule takes at a row's size.
func (r *Row) timeOf(s *schedule.Schedule, score Scorer) (units.Time, error) {
	i := slices.IndexFunc(r.Why, func(c Considered) bool { return c.Schedule == s && !c.Pruned && !c.TooLarge })
	if i >= 0 {
		return r.Why[i].Time, nil
	}
	return score.Time(s, r.Size, units.MaxTime)
}

// affords reports whether there is work left to look once more.
func (x *meet) affords() bool {
	next := x.score.Work(x.before) + x.score.Work(x.after)
	return x.score.Spent()+next <= x.most
}

// between is where the lines meet, or the middle.
func (x *meet) between(middle bool) units.Bytes {
	at := units.Bytes(math.Sqrt(float64(x.lo) * float64(x.hi)))
	if sum := x.lead + x.lag; !middle && sum > 0 {
		at = x.lo + units.Bytes(x.lead/sum*float64(x.hi-x.lo))
	}
	grain := units.Bytes(1) // of whole elements, where sizes are
	for 200*grain <= x.lo {
		grain *= 2
	}
	return min(max(at/grain*grain, x.lo+grain), x.hi-grain)
}

// closer moves one end to where the lines meet, or to the middle.
func (x *meet) closer(middle bool) error {
	at := x.between(middle)
	before, err := x.score.Time(x.before, at, units.MaxTime)
	if err != nil {
		return err
	}
	after, err := x.score.Time(x.after, at, units.MaxTime)
	if err != nil {
		return err
	}
	if diff := max(before-after, after-before); float64(diff) <= x.alike()*float64(before) {
		x.lo, x.hi = at, at
		return nil
	}
	if after < before {
		if x.hi, x.lag = at, float64(before-after); x.moved > 0 {
			x.lead /= 2
		}
		x.moved = 1
		return nil
	}
	if x.lo, x.lead = at, float64(after-before); x.moved < 0 {
		x.lag /= 2
	}
	x.moved = -1
	return nil
}
