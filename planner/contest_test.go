package planner

import (
	"math"
	"testing"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// pipelines take less, and are dearer, the longer they are, up to those that are too long.
type pipelines struct {
	longest int
	spent   *int64
}

func (p pipelines) time(s *schedule.Schedule) units.Time {
	return units.Time(1e9 + 1e9/s.Channels[0].Depth())
}

func (pipelines) Begin() {}

func (p pipelines) Work(s *schedule.Schedule) int64 { return 2000 * int64(s.Channels[0].Depth()) }

func (p pipelines) Foreseen(x, _ *schedule.Schedule) int64 { return p.Work(x) }

func (p pipelines) Spent() int64 { return *p.spent }

func (p pipelines) Bound(*schedule.Schedule, units.Bytes) units.Time { return 1e9 }

func (p pipelines) Estimate(s *schedule.Schedule, _ units.Bytes) (units.Time, error) { return 1e9, nil }

func (p pipelines) Time(s *schedule.Schedule, _ units.Bytes, _ units.Time) (units.Time, error) {
	*p.spent += p.Work(s)
	if s.Channels[0].Depth() > p.longest {
		return 0, ErrTooLarge
	}
	return p.time(s), nil
}

func (p pipelines) Explain(s *schedule.Schedule, _ units.Bytes) (Prediction, error) {
	return Prediction{Time: p.time(s)}, nil
}

// What is too long to be simulated does not keep those from being looked at that are shorter, as far as these promise enough.
func TestWhatIsTooLongOutdoesNothing(t *testing.T) {
	topo := torus(t, "5, 5", 25)
	all, err := Candidates(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 25}, "packed_trees", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, longest := range []int{64, 256, 1024} {
		score := pipelines{longest, new(int64)}
		row, err := choose(newContest(all, units.GiB, score, DefaultBudget))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			gain := 1 - float64(score.time(s))/float64(row.Prediction.Time)
			if depth := s.Channels[0].Depth(); depth <= longest && gain > worth*float64(score.Work(s)) {
				t.Errorf("%s is chosen, %s would be %.2f %% faster", Name(row.Schedule), Name(s), 100*gain)
			}
		}
	}
}

// costly are pipelines of which compiling the first that is played spends the whole budget.
type costly struct {
	pipelines
	budget Budget
}

func (c costly) Time(s *schedule.Schedule, size units.Bytes, most units.Time) (units.Time, error) {
	*c.spent = max(*c.spent, int64(c.budget))
	return c.pipelines.Time(s, size, most)
}

// Though compiling one candidate has spent the budget, those that take little of a budget are played, and no others.
func TestLittleIsPlayedOfASpentBudget(t *testing.T) {
	topo := torus(t, "5, 5", 25)
	all, err := Candidates(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 25}, "packed_trees", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []Budget{DefaultBudget / 4, DefaultBudget, 4 * DefaultBudget} {
		score := costly{pipelines{math.MaxInt, new(int64)}, budget}
		deepest := 0
		for _, s := range all {
			if score.Work(s) <= max(int64(budget)/little, cheap) {
				deepest = max(deepest, s.Channels[0].Depth())
			}
		}
		row, err := choose(newContest(all, units.GiB, score, budget))
		if err != nil {
			t.Fatal(err)
		}
		if depth := row.Schedule.Channels[0].Depth(); depth != deepest {
			t.Errorf("budget of %d operations: %d pieces are chosen, %d take little of it", budget, depth, deepest)
		}
	}
}

// asked are pipelines of which is known for how long those were played that are too dear for others to be sought from them.
type asked struct {
	pipelines
	budget Budget
	best   *units.Time
	dear   map[*schedule.Schedule]units.Time // how much longer than the best so far
}

func (a asked) Time(s *schedule.Schedule, size units.Bytes, most units.Time) (units.Time, error) {
	if a.Work(s)/2 > int64(a.budget)/toOthers {
		a.dear[s] = most - *a.best
	}
	t, err := a.pipelines.Time(s, size, most)
	*a.best = min(*a.best, t)
	return t, err
}

// What is too dear for others to be sought from it is given up where it is not the best of all, whatever its family.
func TestWhatIsNotRefinedHasToBeTheBest(t *testing.T) {
	topo := torus(t, "5, 5", 25)
	all, err := Candidates(topo, collective.Spec{Kind: collective.Broadcast, Ranks: 25}, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	const budget = DefaultBudget / 16
	best := units.MaxTime
	score := asked{pipelines{math.MaxInt, new(int64)}, budget, &best, map[*schedule.Schedule]units.Time{}}
	if _, err = choose(newContest(all, units.GiB, score, budget)); err != nil {
		t.Fatal(err)
	}
	for s, longer := range score.dear {
		if longer > 0 {
			t.Errorf("%s is played for %v longer than the best so far takes", Name(s), longer)
		}
	}
	if len(score.dear) < 2 {
		t.Errorf("%d are dear", len(score.dear))
	}
}

// awkward are schedules that all but one algorithm's take too long to simulate, and that one's, if
// it is there, is slow times as long as the others' bound.
type awkward struct {
	slow int
	work int64
}

func (a awkward) simulable(s *schedule.Schedule) bool { return a.slow > 0 && s.Algorithm == "flows" }

func (awkward) Begin() {}

func (a awkward) Work(*schedule.Schedule) int64 { return a.work }

func (a awkward) Foreseen(x, _ *schedule.Schedule) int64 { return a.Work(x) }

func (a awkward) Spent() int64 { return 0 }

func (a awkward) Bound(*schedule.Schedule, units.Bytes) units.Time { return 1e9 }

func (a awkward) Estimate(s *schedule.Schedule, size units.Bytes) (units.Time, error) {
	return a.Time(s, size, units.MaxTime)
}

func (a awkward) Time(s *schedule.Schedule, _ units.Bytes, _ units.Time) (units.Time, error) {
	if !a.simulable(s) {
		return 0, ErrTooLarge
	}
	return units.Time(a.slow) * 1e9, nil
}

func (a awkward) Explain(s *schedule.Schedule, size units.Bytes) (Prediction, error) {
	if a.simulable(s) {
		return Prediction{Time: units.Time(a.slow) * 1e9}, nil
	}
	return Prediction{Time: 2e9}, nil
}

// One that takes too long to simulate is played after all where nothing else can be, or what can is
// more than four times as slow as it may be; not where even that would take too long.
func TestTheMostPromisingIsPlayedAfterAll(t *testing.T) {
	topo := torus(t, "5, 5", 25)
	all, err := Candidates(topo, collective.Spec{Kind: collective.AllToAll, Ranks: 25}, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		score awkward
		want  units.Time // 0: an error
	}{{awkward{0, 1000}, 2e9}, {awkward{5, 1000}, 2e9}, {awkward{4, 1000}, 4e9}, {awkward{5, 2 * ofLast}, 5e9},
		{awkward{0, 2 * ofLast}, 0}} {
		row, err := choose(newContest(all, units.MiB, c.score, DefaultBudget))
		if c.want == 0 {
			if err == nil {
				t.Errorf("%+v: no error", c.score)
			}
			continue
		}
		if err != nil || row.Prediction.Time != c.want {
			t.Errorf("%+v: %v, %v; want %v", c.score, row.Prediction.Time, err, c.want)
		}
		if loses := c.want == 2e9 && c.score.slow > 0; loses && row.RunnerUp == nil {
			t.Errorf("%+v: no runner-up", c.score)
		}
	}
}

// periodic are pipelines whose pieces take times that are not proportional to their sizes: each more of them a period.
type periodic struct{ spent *int64 }

func (p periodic) time(s *schedule.Schedule, size units.Bytes) units.Time {
	n := float64(s.Channels[0].Depth())
	return units.Time((n + 9) * math.Hypot(1e7, 20*float64(size)/n))
}

func (periodic) Begin() {}

func (p periodic) Work(s *schedule.Schedule) int64 { return cheap + 500*int64(s.Channels[0].Depth()) }

func (p periodic) Foreseen(x, _ *schedule.Schedule) int64 { return p.Work(x) }

func (p periodic) Spent() int64 { return *p.spent }

func (p periodic) Bound(_ *schedule.Schedule, size units.Bytes) units.Time {
	return units.Time(20 * size)
}

func (p periodic) Estimate(s *schedule.Schedule, size units.Bytes) (units.Time, error) {
	return p.Bound(s, size), nil
}

func (p periodic) Time(s *schedule.Schedule, size units.Bytes, _ units.Time) (units.Time, error) {
	*p.spent += p.Work(s)
	return p.time(s, size), nil
}

func (p periodic) Explain(s *schedule.Schedule, size units.Bytes) (Prediction, error) {
	return Prediction{Time: p.time(s, size)}, nil
}

// No depth is left unplayed that would be faster by what its work has to promise.
func TestDepthsAreChosenByTheirPrice(t *testing.T) {
	all, err := Candidates(torus(t, "5, 5", 25), collective.Spec{Kind: collective.Broadcast, Ranks: 25}, "packed_trees", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var spent int64
	score := periodic{&spent}
	for size := units.MiB; size <= 4*units.GiB; size *= 2 {
		row, err := choose(newContest(all, size, score, DefaultBudget))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			best := float64(row.Prediction.Time)
			if gain := 1 - float64(score.time(s, size))/best; gain > worth*float64(score.Work(s)) {
				t.Errorf("%v: %s is chosen, %s would be %.2f %% faster", size, Name(row.Schedule), Name(s), 100*gain)
			}
		}
	}
}
