package planner

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
)

// The depths that candidates are built at are few, powers of four as a rule, and their channels are as many as the algorithm wants. What
// is best lies between, and depends on the size.

// enoughGained is which part another shape has to gain: an improvement ends within 1 % of the limit, too, and predictions are not as good.
const enoughGained = 0.01

// maxChannels is up to how many channels are tried where nobody asks for any: each takes thread blocks of its own, of which an H200 has
// 132 multiprocessors for all channels and peers.
const maxChannels = 8

// shape is what a pipeline of an algorithm is built as.
type shape struct {
	algorithm, without string
	protocol           schedule.Protocol
	slices, copies     int // copies of each channel that the algorithm wants
}

// shaper builds schedules of algorithms again in other shapes, each once.
type shaper struct {
	t     *topology.Topology
	spec  collective.Spec
	o     PlanOptions
	on    map[string]*request // by what it is planned without
	built map[shape]*schedule.Schedule
	of    map[*schedule.Schedule]shape // what was built
}

// newShaper knows the candidates.
func newShaper(t *topology.Topology, spec collective.Spec, candidates []*schedule.Schedule, o PlanOptions) *shaper {
	x := &shaper{t, spec, o, map[string]*request{}, map[shape]*schedule.Schedule{}, map[*schedule.Schedule]shape{}}
	for _, s := range candidates {
		k := shape{s.Algorithm, s.Inputs[schedule.InputWithout], s.Protocol, askedFor(s, "slices"), 1}
		x.built[k], x.of[s] = s, k
	}
	return x
}

// direction is a shape to either side of another: with less of something, and with more.
type direction struct {
	less, more shape
	took       units.Time // of less, as far as that is known
}

// directions lead to half and twice as many slices, channels, and channels of the same pieces, as far as nobody has set these. Without a
// pipeline, slices would only follow one another (see depths).
func (x *shaper) directions(s *schedule.Schedule) (out []direction) {
	if a, err := find(s.Algorithm); err != nil || a.depth == nil {
		return nil
	}
	k := x.of[s]
	n, c := k.slices, k.copies
	in := func(slices, copies int) shape { k.slices, k.copies = slices, copies; return k }
	freeSlices, freeChannels := x.o.Build.Slices == 0, x.o.Build.Channels == 0
	if freeSlices {
		out = append(out, direction{less: in(n/2, c), more: in(2*n, c)})
	}
	if freeChannels {
		out = append(out, direction{less: in(n, c/2), more: in(n, 2*c)})
	}
	if freeSlices && freeChannels {
		out = append(out, direction{less: in(2*n, c/2), more: in(n/2, 2*c)})
	}
	return out
}

// askedFor is what a schedule was built with; 0: nothing was asked for.
func askedFor(s *schedule.Schedule, input string) int {
	n, _ := strconv.Atoi(s.Inputs[input]) // absent is 0
	return n
}

// build is the schedule of a shape; nil where there is none, or none that runs in place if it has to. Channels of one slice each only
// share what one would have. There are none with fewer channels than the algorithm wants: these hide latencies from one another, and
// without them a deep pipeline is as fast only as long as all keep step.
func (x *shaper) build(k shape) (*schedule.Schedule, error) {
	if k.slices == 0 || k.copies == 0 || k.slices == 1 && k.copies > 1 {
		return nil, nil
	}
	s, ok := x.built[k]
	if ok {
		return s, nil
	}
	r, around := x.request(k.without)
	r.o.Slices, r.o.Channels, r.o.Protocol = k.slices, x.o.Build.Channels, k.protocol
	if k.copies > 1 {
		one := k
		one.copies = 1
		own, err := x.build(one)
		if err != nil || own == nil || k.copies*len(own.Channels) > maxChannels {
			return nil, err
		}
		r.o.Channels = k.copies * len(own.Channels)
	}
	a, err := find(k.algorithm)
	if err == nil {
		s, err = r.build(a)
	}
	if err == nil {
		s = x.allowed(around(s))
	} else if errors.Is(err, errNotApplicable) {
		s, err = nil, nil
	}
	if x.built[k] = s; s != nil {
		x.of[s] = k
	}
	return s, err
}

// allowed is the schedule, or nil if it has to run in place and does not.
func (x *shaper) allowed(s *schedule.Schedule) *schedule.Schedule {
	if x.o.InPlace {
		if _, err := schedule.InPlace(s); err != nil {
			return nil
		}
	}
	return s
}

// request is one for the machine without what a schedule was planned without, and what makes its schedules those of the whole machine.
func (x *shaper) request(lost string) (*request, func(*schedule.Schedule) *schedule.Schedule) {
	t, around := x.t, func(s *schedule.Schedule) *schedule.Schedule { return s }
	if lost != "" {
		all := withoutSlow(x.t)
		w := &all[slices.IndexFunc(all, func(w without) bool { return w.lost == lost })]
		t, around = w.left, func(s *schedule.Schedule) *schedule.Schedule { return w.around(x.t, s) }
	}
	if x.on[lost] == nil {
		x.on[lost] = newRequest(t, x.spec, x.o.Build)
	}
	return x.on[lost], around
}

// toOthers is which part of the budget may be spent on other shapes of families that are not the best.
const toOthers = 16

// refine builds the best candidate again in other shapes, and the best one of each other family, which may have more to gain, for less
// work: step by step, whichever stands best, so that none takes up all of it that stays behind. What gains next to nothing stays as it was.
func (c *contest) refine(x *shaper) error {
	if c.best < 0 {
		return nil
	}
	r := &refinement{contest: c, shapes: x, most: math.MaxInt64, took: map[*schedule.Schedule]units.Time{}}
	for i := range c.list {
		if c.looks[i].stage == timed && !c.list[i].TooLarge && !c.list[i].Pruned {
			r.took[c.list[i].Schedule] = c.list[i].Time
		}
	}
	if err := r.climb(&c.list[c.best]); err != nil {
		return err
	}
	r.most = c.score.Spent() + int64(c.budget)/toOthers
	others := c.leaders()
	for len(others) > 0 {
		i := r.nextOf(others)
		before := others[i]
		more, err := r.step(&others[i])
		if err != nil {
			return err
		}
		if !more || !before.Pruned && !r.mayReach(others[i].Time, before.Time) {
			others = slices.Delete(others, i, i+1)
		}
	}
	return nil
}

// mayReach reports whether a family that gained so much by its last step would be the best if it gained as much by as many steps as lead
// to the most channels.
func (r *refinement) mayReach(now, before units.Time) bool {
	t := float64(now)
	for channels := 1; channels < maxChannels; channels *= 2 {
		t *= float64(now) / float64(before)
	}
	return t < float64(r.list[r.best].Time)
}

// mostBehind is how many times as long as the best a family may take that other shapes are sought of: in 920 rows of nine machines, of
// which 84 were gained by other families, the farthest behind took 1.9 times as long at first.
const mostBehind = 2

// leaders are the candidates of each family but the best one's that take the least, or may as far as is known, if they are not too far
// behind, and what they take to play is known, where they were not: of trees, and where their algorithm was played.
func (c *contest) leaders() (out []Considered) {
	best := &c.list[c.best]
	for i := range c.list {
		x := &c.list[i]
		known := !x.Pruned || c.looks[i].stage < timed && c.score.Foreseen(x.Schedule, c.kin(x.Schedule)) > 0
		if known && !x.TooLarge && x.Time <= mostBehind*best.Time {
			out = append(out, *x)
		}
	}
	slices.SortStableFunc(out, func(a, b Considered) int { return cmp.Compare(a.Time, b.Time) })
	seen := map[string]bool{family(best.Schedule): true}
	return slices.DeleteFunc(out, func(x Considered) bool {
		of := family(x.Schedule)
		defer func() { seen[of] = true }()
		return seen[of]
	})
}

// kin is a candidate of the same algorithm that was played, else the schedule itself.
func (c *contest) kin(s *schedule.Schedule) *schedule.Schedule {
	for i := range c.list {
		if o := c.list[i].Schedule; c.looks[i].stage == timed && o.Algorithm == s.Algorithm && sameWithout(o, s) {
			return o
		}
	}
	return s
}

// nextOf is the candidate to go on with: the one that takes the least, but for how much of the work that is left it takes to play it.
func (r *refinement) nextOf(list []Considered) int {
	at, least, left := 0, math.Inf(1), float64(max(1, r.most-r.score.Spent()))
	for i := range list {
		if price := float64(list[i].Time) * (1 + float64(r.score.Work(list[i].Schedule))/left); price < least {
			at, least = i, price
		}
	}
	return at
}

type refinement struct {
	*contest
	shapes *shaper
	most   int64                             // operations that may be spent
	took   map[*schedule.Schedule]units.Time // of what was played
}

// climb goes on from a candidate while that gains.
func (r *refinement) climb(from *Considered) error {
	at, more := *from, true
	var err error
	for more && err == nil {
		more, err = r.step(&at)
	}
	return err
}

// step builds a candidate again in less of something, and where less is not faster in more of it, first of that of which less is the
// slowest: there, most is to be gained, should the budget not suffice for all. It takes the best of these; more reports whether that
// gains. What was not played is played first.
func (r *refinement) step(at *Considered) (more bool, err error) {
	if at.Pruned {
		at.Pruned = false
		at.Time, err = r.time(at.Schedule, r.kin(at.Schedule), enough(mostBehind*r.list[r.best].Time), units.MaxTime)
		return at.Time < units.MaxTime, err
	}
	next, err := r.beside(*at)
	if err != nil || next.Time >= at.Time {
		return false, err
	}
	more = float64(next.Time) < (1-enoughGained)*float64(at.Time)
	if *at = next; float64(at.Time) <= (1-enoughGained)*float64(r.list[r.best].Time) { // whatever this step gained
		r.list, r.looks = append(r.list, *at), append(r.looks, look{stage: timed})
		r.place(len(r.list) - 1)
	}
	return more, nil
}

// beside is the fastest shape beside another one, or that. Which way is looked at first follows from how long shapes of less take, which
// are played to their end.
func (r *refinement) beside(at Considered) (Considered, error) {
	next, directions := at, r.shapes.directions(at.Schedule)
	try := func(k shape, most units.Time) (units.Time, error) {
		s, err := r.shapes.build(k)
		if err != nil || s == nil {
			return units.MaxTime, err
		}
		t, err := r.time(s, at.Schedule, enough(at.Time), most)
		if t < next.Time {
			next = Considered{Schedule: s, Time: t}
		}
		return t, err
	}
	for i := range directions {
		var err error
		if directions[i].took, err = try(directions[i].less, units.MaxTime); err != nil {
			return at, err
		}
	}
	slices.SortStableFunc(directions, func(a, b direction) int { return cmp.Compare(b.took, a.took) })
	for _, d := range directions {
		if d.took < at.Time {
			continue
		}
		if _, err := try(d.more, enough(max(at.Time, r.list[r.best].Time))); err != nil {
			return at, err
		}
	}
	return next, nil
}

// enough is how long a shape may take to gain what counts beside a time.
func enough(beside units.Time) units.Time { return units.Time((1 - enoughGained) * float64(beside)) }

// time is how long a schedule takes, or longer than any if it is estimated to take longer than one time, or takes longer than another, or
// there is no work left for it, as far as another shape of it tells.
func (r *refinement) time(s, like *schedule.Schedule, estimated, most units.Time) (units.Time, error) {
	if t, ok := r.took[s]; ok {
		return t, nil
	}
	t := r.score.Bound(s, r.size)
	play := func(s *schedule.Schedule, size units.Bytes) (units.Time, error) { return r.score.Time(s, size, most) }
	for _, look := range []func(*schedule.Schedule, units.Bytes) (units.Time, error){r.score.Estimate, play} {
		work := r.score.Foreseen(s, like)
		if t > estimated || !r.has(work) || r.score.Spent()+work > r.most {
			return units.MaxTime, nil
		}
		var err error
		if t, err = look(s, r.size); errors.Is(err, ErrTooLarge) {
			return units.MaxTime, nil
		} else if err != nil {
			return 0, err
		}
	}
	if t > most {
		t = units.MaxTime
	}
	r.took[s] = t
	return t, nil
}
