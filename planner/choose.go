package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/model/schedule"
	"railyard/model/units"
)

// A candidate whose simulation plays more than cheap operations has to promise something
// for it: that it may be faster than the best by worth for each operation.
const (
	cheap = 30_000
	worth = 0.0025 / 1_000_000
)

// maxFollowed is up to how many ranks collectives with a root have a runner-up in any case.
const maxFollowed = 1024

// contest looks for the fastest candidate at a size, closer and closer at what promises
// most: at its bound, its estimate, its time, until none could be faster than the best, or
// faster by as much as its simulation has to promise, or the budget is spent. What is cheap to play comes
// first, so that there is an answer at once, which gets better. What was found at other sizes saves work, which
// counts all the same (see Scorer): a size has one answer, whatever else is asked. The runner-up is the best of the
// other families as far as cheap simulations tell; of many ranks, the first one found; of very many with a root, which
// take seconds to compile, none that could not be the best.
type contest struct {
	size         units.Bytes
	score        Scorer
	list         []Considered
	looks        []look
	best, second int // −1: none yet
	many         bool
	alone        bool // no runner-up is wanted
	budget       Budget
	before       int64                                    // operations that others have spent
	bound        func(planned units.Time) units.Time      // what no schedule beats, found closer where a time is near it; nil: not known
	better       func(best *Considered, bound units.Time) // told whenever the best changes; nil: nobody
	shapes       *shaper                                  // others of the best candidate (see refine); nil: none
	revived      int                                      // played though its simulation takes long (see revive); −1: none
	explained    Prediction
}

// look is how closely a candidate was looked at.
type look struct {
	stage stage
	out   bool // it cannot win any more, whatever its time
}

type stage uint8

const (
	bounded stage = iota
	estimated
	timed
)

// choose picks the best schedule for a size.
func choose(c *contest) (Row, error) {
	if err := c.run(); err != nil {
		return Row{}, err
	}
	if err := c.revive(); err != nil {
		return Row{}, err
	}
	if c.shapes != nil {
		if err := c.refine(c.shapes); err != nil {
			return Row{}, err
		}
	}
	if c.best < 0 {
		return Row{}, fmt.Errorf("no schedule is small enough: %w; give it longer with --budget, or choose a smaller one with --algo and "+
			"--slices (left out: %s)", ErrTooLarge, leftOut(c.list, units.MaxTime))
	}
	return c.row()
}

func newContest(candidates []*schedule.Schedule, size units.Bytes, score Scorer, budget Budget) *contest {
	score.Begin()
	c := &contest{size: size, score: score, budget: cmp.Or(budget, DefaultBudget), list: make([]Considered, len(candidates)),
		looks: make([]look, len(candidates)),
		best:  -1, second: -1, revived: -1, many: candidates[0].Spec.Ranks > maxFlat, before: score.Spent()}
	for i, s := range candidates {
		c.list[i] = Considered{Schedule: s, Time: score.Bound(s, size), Pruned: true}
	}
	return c
}

// run looks until nothing more closely has to be looked at.
func (c *contest) run() error {
	for i := c.next(); i >= 0; i = c.next() {
		if err := c.closer(i); err != nil {
			return err
		}
	}
	return nil
}

// leave takes a candidate out; where it was the best, the best of the others takes its
// place, as far as they are known.
func (c *contest) leave(i int) {
	if c.looks[i].out = true; i != c.best {
		return
	}
	c.best, c.second = -1, -1
	for j := range c.list {
		if l, x := &c.looks[j], &c.list[j]; l.stage == timed && !l.out && !x.TooLarge && !x.Pruned {
			c.place(j)
		}
	}
}

func (c *contest) work(i int) int64 { return c.score.Work(c.list[i].Schedule) }

func (c *contest) dear(i int) bool { return c.work(i) > cheap }

// price is that time, no less than any schedule takes, and what the work of finding it out more exactly has to promise.
func (c *contest) price(i int) float64 {
	t := float64(c.list[i].Time)
	if c.dear(i) {
		t = max(t, float64(c.unbeaten()))
		t *= 1 + worth*float64(c.work(i))
	}
	return t
}

// unbeaten is what no schedule beats; 0 where that is not known, or does not hold as the best beats it.
func (c *contest) unbeaten() units.Time {
	if c.best < 0 || c.bound == nil {
		return 0
	}
	best := c.list[c.best].Time
	if bound := c.bound(best); bound <= best {
		return bound
	}
	return 0
}

// next is the candidate to look at more closely, −1 if there is none: of those that could
// be the best, the one of the least price, but a cheap one where there is no answer yet; else one that could be the runner-up.
func (c *contest) next() int {
	i := c.cheapest(c.promises)
	if i >= 0 && c.best < 0 && c.dear(i) {
		if cheap := c.cheapest(func(i int) bool { return !c.dear(i) }); cheap >= 0 {
			return cheap
		}
	}
	if s := c.list[0].Schedule; c.alone || s.Spec.Kind.Rooted() && s.Spec.Ranks > maxFollowed {
		return i
	}
	if i < 0 && c.best >= 0 {
		i = c.cheapest(c.mayFollow)
	}
	if i < 0 && c.best >= 0 && c.second < 0 {
		i = c.cheapest(c.otherFamily)
	}
	return i
}

func (c *contest) cheapest(of func(i int) bool) int {
	at, least := -1, 0.0
	for i := range c.list {
		if c.looks[i].stage == timed || c.looks[i].out || !of(i) {
			continue
		}
		if p := c.price(i); at < 0 || p < least {
			at, least = i, p
		}
	}
	return at
}

// promises reports whether a candidate could be the best, and by enough.
func (c *contest) promises(i int) bool {
	if c.best < 0 {
		return true
	}
	if c.dear(i) && !c.has(c.work(i)) {
		return false
	}
	best := float64(c.list[c.best].Time)
	return c.price(i) < best || c.price(i) == best && i < c.best
}

// little is which part of the budget, once that is spent, a candidate may take all the same: compiling others may have spent it.
const little = 64

// has reports whether the budget is left for some work: while half of it is, for any that the whole of it suffices for; then only
// for what the rest suffices for, or what takes little.
func (c *contest) has(work int64) bool {
	budget, left := int64(c.budget), c.left()
	return work > 0 && work <= budget/little || left > 0 && (2*left > budget && work <= budget || work <= left)
}

// left is what is left of the budget.
func (c *contest) left() int64 { return int64(c.budget) - (c.score.Spent() - c.before) }

// mayFollow reports whether a candidate could be the runner-up, and is worth a look.
func (c *contest) mayFollow(i int) bool {
	return c.otherFamily(i) && !c.dear(i) && (c.second < 0 || !c.many && c.list[i].Time < c.list[c.second].Time)
}

func (c *contest) otherFamily(i int) bool { return !c.sameFamily(i, c.best) }

func (c *contest) sameFamily(i, j int) bool {
	return family(c.list[i].Schedule) == family(c.list[j].Schedule)
}

// closer takes a candidate a stage on.
func (c *contest) closer(i int) error {
	x, l, most := &c.list[i], &c.looks[i], c.most(i)
	var t units.Time
	var err error
	if l.stage++; l.stage == timed {
		t, err = c.score.Time(x.Schedule, c.size, most)
	} else {
		t, err = c.score.Estimate(x.Schedule, c.size)
	}
	if errors.Is(err, ErrTooLarge) {
		l.stage, x.TooLarge = timed, true
		return nil
	}
	x.Pruned = l.stage != timed || t > most
	if x.Time = max(x.Time, t); !x.Pruned {
		x.Time = t
		c.place(i)
	}
	return err
}

// most is how long a candidate may take to count: no longer than the best of its family, from which others may be sought, nor, where half
// as many slices take too much work for that (see refine), than the best of all. Where the best ones leave, one after another, all count.
func (c *contest) most(i int) units.Time {
	most := units.MaxTime
	if c.alone {
		return most
	}
	asItIs := c.work(i)/2 > int64(c.budget)/toOthers
	for j := range c.list {
		if x := &c.list[j]; c.looks[j].stage == timed && !x.Pruned && !x.TooLarge && (asItIs || c.sameFamily(i, j)) {
			most = min(most, x.Time)
		}
	}
	return most
}

// place keeps the best candidate and the best of any other family.
func (c *contest) place(i int) {
	faster := func(j int) bool {
		return j < 0 || c.list[i].Time < c.list[j].Time || c.list[i].Time == c.list[j].Time && i < j
	}
	sameAs := func(j int) bool { return j >= 0 && c.sameFamily(i, j) }
	if faster(c.best) && c.better != nil {
		defer func() { c.better(&c.list[c.best], c.unbeaten()) }()
	}
	switch {
	case faster(c.best) && (c.best < 0 || sameAs(c.best)):
		c.best = i
	case faster(c.best):
		c.best, c.second = i, c.best
	case !sameAs(c.best) && faster(c.second):
		c.second = i
	}
}

// row is the answer.
func (c *contest) row() (Row, error) {
	best, known := c.list[c.best], c.best == c.revived
	row := Row{Size: c.size, Schedule: best.Schedule, Why: c.list}
	if c.second >= 0 {
		row.RunnerUp, row.RunnerTime = c.list[c.second].Schedule, c.list[c.second].Time
	}
	for i := range c.list {
		x := &c.list[i]
		if !x.Pruned || x.TooLarge {
			continue
		}
		if gain := 1 - float64(x.Time)/float64(best.Time); gain > 1e-6 { // less is rounding
			x.Gain = gain
		}
	}
	pruned := func(x *Considered) int {
		if x.Pruned {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(c.list, func(a, b Considered) int {
		return cmp.Or(cmp.Compare(max(a.Time, best.Time), max(b.Time, best.Time)), cmp.Compare(pruned(&a), pruned(&b)))
	})
	var err error
	if row.Prediction = c.explained; !known {
		row.Prediction, err = c.score.Explain(row.Schedule, c.size)
	}
	if names := leftOut(c.list, row.Prediction.Time); names != "" {
		row.Prediction.Warnings = append(row.Prediction.Warnings,
			fmt.Sprintf("%s may be faster, but take too long to simulate: left out (--algo and --slices choose one)", names))
	}
	return row, err
}

// leftOut names the candidates that were left out and could take less than a time.
func leftOut(list []Considered, than units.Time) string {
	var names []string
	for i := range list {
		if c := &list[i]; c.TooLarge && c.Time < than {
			names = append(names, Name(c.Schedule))
		}
	}
	return strings.Join(names, ", ")
}
