// Package slow says which collectives of a job that runs are slow for their size, since when, and which rank the others wait for.
//
// Calls of one group, kind and size are a series. Where several ranks' records are there, the shortest of a call's times counts: it is
// that of the rank that came last, which waited for nobody. A series is slow where most of it lies above the band of the prediction, or,
// where nothing is predicted, above its own past; since when, its change of level says.
package slow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"railyard/model/collective"
	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
)

// Expected is what a collective should take.
type Expected struct {
	Time, High units.Time // High: the upper end of the band of normal runs
	How        string     // by what that is said
}

// Expect predicts a call; the error says why it cannot.
type Expect func(c *observed.Call) (Expected, error)

// falseAlarms is how likely it may be that any series of a job is called slow by chance.
const falseAlarms = 0.01

// own is how far a series must leave its own past: runs of one case differ by 5 % (sim/nccl.Prediction.Band).
const own = 1.05

// series are the calls of one group, kind and size.
type series struct {
	group string
	kind  collective.Kind
	size  units.Bytes
	first *observed.Call
	calls []call // in the order in which they ran
	ranks int    // whose records are there
	since string // when it became slower than its own past
}

type call struct {
	start int64
	time  units.Time // the shortest of the ranks'
	last  int        // the rank whose it is
	each  int        // ranks that recorded it
	mean  units.Time // of the ranks' times
}

// Found is what calls say, beside what was expected.
type Found struct {
	Findings []health.Finding
	Series   []report.DoctorSeries
	Judged   int      // series that a prediction, or a long past, says something of
	Notes    []string // on what could not be predicted
}

// Find judges calls.
func Find(calls []observed.Call, expect Expect) *Found {
	all, found, few := gather(calls), new(Found), int64(0)
	reasons := map[string]int{}
	largest := map[kindOfGroup]*slowest{}
	for _, s := range all {
		e, err := expect(s.first)
		if err != nil {
			reasons[err.Error()]++
		}
		row := s.row(e, err == nil)
		if f, ok := s.judge(e, err == nil, falseAlarms/float64(len(all))); ok {
			row.Verdict, row.Since = "slow", s.since
			key := kindOfGroup{s.group, s.kind, s.first.Ranks}
			switch of := largest[key]; {
			case s.since != "":
				found.Findings = append(found.Findings, f)
			case of == nil:
				largest[key] = &slowest{finding: f, from: s.size}
			default: // sizes come in order
				of.finding, of.others = f, of.others+1
			}
		}
		if row.Verdict == tooFew {
			few++
		}
		if row.Verdict != "" || tells(len(s.calls), falseAlarms/float64(len(all))) {
			found.Judged++
		}
		found.Series = append(found.Series, row)
	}
	if few > 0 {
		found.Notes = append(found.Notes, fmt.Sprintf("%s of collectives took longer than is normal, in too few calls to rule chance out: "+
			"record more", units.Counted(few, "size")))
	}
	for _, s := range all {
		if of := largest[kindOfGroup{s.group, s.kind, s.first.Ranks}]; of != nil {
			found.Findings = append(found.Findings, of.inAll())
			delete(largest, kindOfGroup{s.group, s.kind, s.first.Ranks})
		}
	}
	found.Findings = append(found.Findings, latecomers(all)...)
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		found.Notes = append(found.Notes, fmt.Sprintf("%s of collectives could not be predicted: %s",
			units.Counted(reasons[why], "size"), why))
	}
	return found
}

// kindOfGroup is a collective of a group, of any size.
type kindOfGroup struct {
	group string
	kind  collective.Kind
	ranks int
}

// slowest is what is said of a group's collective that is slow at several sizes: that of the largest, with how many others there are.
type slowest struct {
	finding health.Finding
	from    units.Bytes
	others  int
}

func (s *slowest) inAll() health.Finding {
	f := s.finding
	if s.others > 0 {
		f.Says += fmt.Sprintf("; it is slow at %s more, from %s on", units.Counted(s.others, "size"), table.Bytes(float64(s.from)))
	}
	return f
}

// tooFew is the verdict of calls that are long, and may be by chance.
const tooFew = "too few"

// row is a series beside what was expected.
func (s *series) row(e Expected, expected bool) report.DoctorSeries {
	r := report.DoctorSeries{Group: s.group, Ranks: s.first.Ranks, Collective: s.kind.String(), Size: int64(s.size), Calls: len(s.calls),
		MedianUS: median(s.times())}
	if expected {
		time, high := e.Time.Microseconds(), e.High.Microseconds()
		r.ExpectedUS, r.HighUS, r.Verdict = &time, &high, "normal"
		if r.MedianUS > high {
			r.Verdict = tooFew
		}
	}
	return r
}

// times are those of its calls, in microseconds.
func (s *series) times() []float64 {
	times := make([]float64, len(s.calls))
	for i := range s.calls {
		times[i] = s.calls[i].time.Microseconds()
	}
	return times
}

// gather sorts calls into series, and records of one call by several ranks into one.
func gather(calls []observed.Call) []*series {
	on := map[*int]string{} // lists of ranks are shared by the calls of a group
	members := func(c *observed.Call) string {
		if len(c.On) == 0 {
			return ""
		}
		text, known := on[&c.On[0]]
		if !known {
			text = " (ranks " + units.Ranges(c.On, ",") + ")"
			on[&c.On[0]] = text
		}
		return text
	}
	type key struct {
		group string // one name may stand for several groups on disjoint ranks
		kind  collective.Kind
		size  units.Bytes
		ranks int
	}
	type instance struct {
		key
		seq int64
	}
	by, at := map[key]*series{}, map[instance]int{}
	ranks := map[key]map[string]bool{}
	for i := range calls {
		c := &calls[i]
		if c.Time <= 0 || c.Size <= 0 {
			continue
		}
		k := key{c.Group + members(c), c.Kind, c.Size, c.Ranks}
		s := by[k]
		if s == nil {
			s = &series{group: k.group, kind: c.Kind, size: c.Size, first: c}
			by[k], ranks[k] = s, map[string]bool{}
		}
		ranks[k][fmt.Sprint(c.Rank, c.Host)] = true
		n, known := at[instance{k, c.Seq}]
		if !known || c.Seq < 0 {
			at[instance{k, c.Seq}] = len(s.calls)
			s.calls = append(s.calls, call{start: c.Start, time: c.Time, last: c.Rank, each: 1, mean: c.Time})
			continue
		}
		s.calls[n].add(c)
	}
	var out []*series
	for k, s := range by {
		s.ranks = len(ranks[k])
		slices.SortStableFunc(s.calls, func(a, b call) int { return cmp.Compare(a.start, b.start) })
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *series) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind), cmp.Compare(a.size, b.size),
			cmp.Compare(a.first.Ranks, b.first.Ranks))
	})
	return out
}

// add is the same call as another rank recorded it.
func (x *call) add(c *observed.Call) {
	x.mean = units.Time((float64(x.mean)*float64(x.each) + float64(c.Time)) / float64(x.each+1))
	x.each++
	x.start = min(x.start, c.Start)
	if c.Time < x.time {
		x.time, x.last = c.Time, c.Rank
	}
}

// judge says whether a series is slow, and since when.
func (s *series) judge(e Expected, expected bool, chance float64) (health.Finding, bool) {
	times := s.times()
	at, luck := shift(times)
	since := luck < chance && median(times[at:]) > own*median(times[:at])
	bound, usual := e.High.Microseconds(), e.Time.Microseconds()
	switch {
	case since && expected:
		usual = median(times[:at])
	case since:
		usual = median(times[:at])
		bound = own * usual
	case !expected:
		return health.Finding{}, false
	}
	slowest := times
	if since {
		slowest = times[at:]
	}
	above := 0
	for _, t := range slowest {
		if t > bound {
			above++
		}
	}
	if s.first.Mean {
		if median(slowest) <= bound { // each is one number for many calls
			return health.Finding{}, false
		}
	} else if !since && mostlyAbove(above, len(slowest)) >= chance || 2*above <= len(slowest) {
		return health.Finding{}, false
	}
	return s.finding(e, expected, since, at, slowest, usual), true
}

func (s *series) finding(e Expected, expected, since bool, at int, slowest []float64, usual float64) health.Finding {
	now := median(slowest)
	f := health.Finding{Rule: "slow/size", Level: health.Slow, Part: groupOf(s.group, s.first.Ranks),
		From: []string{s.first.Place.String()}, Source: "docs/validation.md", Do: "railyard doctor on each node of the group, and " +
			"NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING to see what NCCL chose"}
	f.Says = fmt.Sprintf("takes %s for %v of %s (%s)", table.Microseconds(now), s.kind, table.Bytes(float64(s.size)),
		s.averaged(len(slowest)))
	if expected {
		f.Says += fmt.Sprintf(", %s is expected, up to %s is normal", table.Microseconds(e.Time.Microseconds()),
			table.Microseconds(e.High.Microseconds()))
		f.Why = e.How
	}
	if since {
		f.Rule, s.since = "slow/since", fmt.Sprintf("call %d of %d (%s)", at+1, len(s.calls), s.moment(at))
		f.Says += fmt.Sprintf("; since %s it is slower, before it took %s", s.since, table.Microseconds(usual))
		f.Do = "look for what changed then: railyard doctor with counters of links and clocks, the scheduler's log"
	}
	if s.ranks == 1 && s.first.Ranks > 1 && s.first.Rank >= 0 {
		f.Why += note(f.Why) + "one rank's record: waiting for the others is part of it; records of all ranks take that out"
	}
	f.Cost = health.Cost{Of: fmt.Sprintf("%v of %s in the group", s.kind, table.Bytes(float64(s.size))), Known: true,
		Share: now/usual - 1, Best: now/usual - 1,
		How: "measured, compared with " + map[bool]string{true: "its own past", false: "the prediction"}[since]}
	return f
}

// groupOf is how people call a group, which may have no name.
func groupOf(name string, ranks int) string {
	if name == "" {
		return fmt.Sprintf("a group of %d ranks", ranks)
	}
	return fmt.Sprintf("group %s of %d ranks", name, ranks)
}

// averaged is what a figure of so many calls is of them.
func (s *series) averaged(calls int) string {
	if s.first.Mean && calls == 1 {
		return "mean"
	}
	return fmt.Sprintf("median of %d", calls)
}

func note(before string) string {
	if before == "" {
		return ""
	}
	return "; "
}

// moment is when a call was, on the clock of its file.
func (s *series) moment(at int) string {
	ns := s.calls[at].start
	if ns > 1e18 { // ns since 1970, of this century; other clocks begin elsewhere
		return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return time.Duration(ns-s.calls[0].start).Round(time.Millisecond).String() + " after the first"
}
