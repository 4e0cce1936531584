package show

import (
	"fmt"

	"railyard/capacity/goodput"
	"railyard/model/collective"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
	"railyard/study"
)

// Loss is what a fault does to a collective.
type Loss struct {
	Fault string
	study.Row
}

// Losses plan a collective on a site whole and without each of the faults.
func Losses(s Site, kind collective.Kind, size units.Bytes, faults ...string) ([]Loss, error) {
	var out []Loss
	for _, fault := range faults {
		site := s
		site.Faults = append(s.Faults[:len(s.Faults):len(s.Faults)], fault)
		a, err := site.Ask(kind, study.Search{}, study.Detail{Changes: true}, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fault, err)
		}
		out = append(out, Loss{fault, a.Rows[0]})
	}
	return out, nil
}

// LossBars are healthy times with what faults add, re-planned and not.
func LossBars(title string, losses []Loss) *chart.Bars {
	b := &chart.Bars{Frame: chart.Frame{Title: title, Source: planner.Tool, X: "time (us)", Y: "fault"}}
	for _, l := range losses {
		add := func(to, from units.Time) float64 { return max(0, (to - from).Microseconds()) }
		name, healthy, planned := l.Fault, l.Before.Prediction.Time, l.Prediction.Time
		if l.Kept.Time == 0 {
			name += " (old plan fails)"
		}
		b.Bars = append(b.Bars, chart.Bar{Name: name, Parts: []chart.Part{
			{Name: "healthy", Value: healthy.Microseconds(), Colour: chart.Ours},
			{Name: "the fault adds, re-planned", Value: add(planned, healthy), Colour: chart.NCCL},
			{Name: "the old plan adds to that", Value: add(l.Kept.Time, planned), Colour: chart.Limit}}})
	}
	return b
}

// Degraded are causes of which those named no longer stop the job: it runs on, slower, until
// the part is repaired so many hours later.
func Degraded(causes []goodput.Cause, slowdown, repair float64, names ...string) ([]goodput.Cause, error) {
	out := append([]goodput.Cause{}, causes...)
	for _, name := range names {
		found := false
		for i := range out {
			if out[i].Name == name {
				out[i].Slowdown, out[i].Repair, found = slowdown, repair, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no cause %q", name)
		}
	}
	return out, nil
}

// Policy is a way to live with failures.
type Policy struct {
	Name   string
	Causes []goodput.Cause
	Plan   goodput.Plan
}

// Idle is where the time goes under each policy that is not training.
func Idle(policies ...Policy) (*chart.Bars, error) {
	b := &chart.Bars{Frame: chart.Frame{Title: "Time that is not training", Source: "failure rates: Llama 3 herd of models, table 5",
		X: "share of the time (%)", Y: "policy"}}
	for _, p := range policies {
		r, err := goodput.Analytic(p.Causes, p.Plan)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		b.Bars = append(b.Bars, chart.Bar{Name: p.Name, Parts: []chart.Part{
			{Name: "checkpoints", Value: 100 * r.Checkpoints, Colour: chart.Hidden}, {Name: "done again or down", Value: 100 * r.Lost,
				Colour: chart.Limit},
			{Name: "slowed", Value: 100 * r.Slowed, Colour: chart.NCCL}}})
	}
	return b, nil
}

// Played is the goodput of policies beside the same played with random failures.
func Played(hours float64, seed uint64, policies ...Policy) ([][]string, error) {
	rows := [][]string{{"policy", "goodput", "played", "stops a day", "checkpoint every (h)"}}
	for _, p := range policies {
		r, m, err := goodput.Simulate(p.Causes, p.Plan, hours, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		rows = append(rows, []string{p.Name, fmt.Sprintf("%.2f %%", 100*r.Goodput), fmt.Sprintf("%.2f %%", 100*m.Goodput),
			fmt.Sprintf("%.2f", r.StopsADay), fmt.Sprintf("%.2f", r.Interval)})
	}
	return rows, nil
}
