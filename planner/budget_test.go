package planner_test

import (
	"testing"
	"time"

	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/study/score"
	"railyard/topologies"
)

// counted is a score that knows how many operations it has played.
type counted struct {
	*score.Scorer
	played int64
}

func (c *counted) Time(s *schedule.Schedule, size units.Bytes, most units.Time) (units.Time, error) {
	t, err := c.Scorer.Time(s, size, most)
	c.played += c.Work(s)
	return t, err
}

// A plan is there at once and gets better with its budget, which it keeps to but for the last simulation; each better one is told
// with its distance to the bound; and the same budget makes the same plan.
func TestBudgetsMakePlansBetter(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}
	var last units.Time
	for _, d := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 2 * time.Second} {
		budget := planner.BudgetOf(d)
		plan := func() (planner.Row, []planner.Standing, int64) {
			s := &counted{Scorer: score.New(topo, profile(t, "ideal"))}
			s.Limit = int64(budget)
			var told []planner.Standing
			rows, err := planner.Plan(topo, spec, []units.Bytes{units.GiB}, s, planner.PlanOptions{Build: planner.Options{Budget: budget},
				Better: func(x planner.Standing) { told = append(told, x) }})
			if err != nil {
				t.Fatal(err)
			}
			return rows[0], told, s.played
		}
		row, told, played := plan()
		again, _, _ := plan()
		if planner.Name(again.Schedule) != planner.Name(row.Schedule) || again.Prediction.Time != row.Prediction.Time {
			t.Errorf("%v: %s, then %s", d, planner.Name(row.Schedule), planner.Name(again.Schedule))
		}
		if last > 0 && row.Prediction.Time > last {
			t.Errorf("%v: %v, with less %v", d, row.Prediction.Time, last)
		}
		last = row.Prediction.Time
		if played > 2*int64(budget)+1_000_000 { // what is cheap is played at any budget
			t.Errorf("%v: %d operations of %d", d, played, budget)
		}
		for i, x := range told {
			if i > 0 && x.Time > told[i-1].Time || x.OfBound() <= 0 || x.OfBound() > 1 {
				t.Errorf("%v: %v at %.3f of the bound comes after %v", d, x.Time, x.OfBound(), told[max(i, 1)-1].Time)
			}
		}
		if len(told) == 0 || told[len(told)-1].Time != row.Prediction.Time {
			t.Errorf("%v: %v is not what was told last: %v", d, row.Prediction.Time, told)
		}
	}
	if last == 0 || float64(last) > 1.1*float64(units.GiB)/75e9*1e12 {
		t.Errorf("two seconds: %v", last)
	}
}

// unlimited plays whatever it is asked to the end.
type unlimited struct{ *score.Scorer }

func (u unlimited) Time(s *schedule.Schedule, size units.Bytes, _ units.Time) (units.Time, error) {
	return u.Scorer.Time(s, size, units.MaxTime)
}

// Runs that cannot be fast enough are given up, which changes no plan, and nothing of what is said of others but that they are slower.
func TestRunsAreGivenUpThatAreTooSlow(t *testing.T) {
	t.Parallel()
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	less := int64(0)
	for _, kind := range []collective.Kind{collective.AllGather, collective.Broadcast, collective.AllToAll, collective.Scatter} {
		spec := collective.Spec{Kind: kind, Ranks: topo.NumRanks()}
		sizes := []units.Bytes{units.MiB, 64 * units.MiB}
		limited, free := score.New(topo, profile(t, "line")), unlimited{score.New(topo, profile(t, "line"))}
		got, err := planner.Plan(topo, spec, sizes, limited, planner.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := planner.Plan(topo, spec, sizes, free, planner.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			a, b := &got[i], &want[i]
			if planner.Name(a.Schedule) != planner.Name(b.Schedule) || a.Prediction.Time != b.Prediction.Time || a.RunnerTime != b.RunnerTime {
				t.Errorf("%v of %v: %s in %v before %v, played to the end %s in %v before %v", kind, a.Size, planner.Name(a.Schedule),
					a.Prediction.Time, a.RunnerTime, planner.Name(b.Schedule), b.Prediction.Time, b.RunnerTime)
			}
		}
		less += free.Spent() - limited.Spent()
	}
	if less <= 0 {
		t.Errorf("runs that are given up save %d operations", less)
	}
}
