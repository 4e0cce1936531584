package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"railyard/capacity/goodput"
	"railyard/capacity/inventory"
	"railyard/capacity/step"
	"railyard/capacity/whatif"
	"railyard/model/failure"
	"railyard/report"
	"railyard/report/figures"
	"railyard/report/page"
	"railyard/report/table"
)

// failures is the section about what fails: what a lost part costs, and the goodput.
func (f *reportFlags) failures(p *step.Predictor, r *step.Result) (s page.Section, err error) {
	if f.Guard.Checkpoint == 0 {
		return s, nil
	}
	t := p.Machine().Topology
	var costs []report.DegradedRow
	for _, part := range []failure.Part{failure.NIC, failure.Cable, failure.Switch, failure.Node} {
		lost := inventory.First(t, part)
		if lost == "" {
			continue
		}
		left := f.Training.Topo
		left.Fail = append(slices.Clip(left.Fail), lost)
		kept, err := f.Training.onWhatIsLeft(left, r)
		if err != nil {
			return s, err
		}
		if kept == nil {
			costs = append(costs, report.DegradedRow{Lost: lost, Limit: "ranks are lost: the job stops"})
			continue
		}
		costs = append(costs, report.DegradedRow{Lost: lost, StepMS: ms(kept.Time), Slowdown: whatif.Slowdown(r, kept),
			Limit: kept.LimitingLink("")})
	}
	return f.goodput(p, r, costs)
}

// goodput adds the expected and the played share of training over the interval.
func (f *reportFlags) goodput(p *step.Predictor, r *step.Result, costs []report.DegradedRow) (s page.Section, err error) {
	book, err := failure.Get(f.Guard.Rates)
	if err != nil {
		return s, err
	}
	causes := goodput.Causes(book, goodput.Cluster{Parts: inventory.Parts(p.Machine().Topology), Repair: f.Guard.Repair.Hours()})
	plan := goodput.Plan{Checkpoint: f.Guard.Checkpoint.Hours(), Restart: f.Guard.Restart.Hours()}
	best, err := goodput.Analytic(causes, plan)
	if err != nil {
		return s, err
	}
	var hours, expected, played []float64
	for _, k := range []float64{0.125, 0.25, 0.5, 1, 2, 4, 8} {
		plan.Interval = best.Interval * k
		a, m, err := goodput.Simulate(causes, plan, 24*float64(f.Guard.Days), f.Guard.Seed)
		if err != nil {
			return s, err
		}
		hours, expected, played = append(hours, plan.Interval), append(expected, a.Goodput), append(played, m.Goodput)
	}
	source := fmt.Sprintf("Failure rates %s; Daly's expectation, and %d simulated days, seed %d", book.Name, f.Guard.Days, f.Guard.Seed)
	text := fmt.Sprintf("%.2f stops a day are expected (one in %.1f h). With a checkpoint of %s every %.2f h of work, the best "+
		"interval, and %s to restart, %.1f %% of the time is training that lasts: %s %s/s. Checkpoints take %.1f %%, lost work and "+
		"restarts %.1f %%.",
		best.StopsADay, best.MTBF, shortDuration(f.Guard.Checkpoint), best.Interval, shortDuration(f.Guard.Restart), 100*best.Goodput,
		table.Rate(best.Goodput*r.UnitsPerSecond()), r.Workload.Unit, 100*best.Checkpoints, 100*best.Lost)
	return page.Section{Heading: "Failures", Text: []string{text},
		Figures: []page.Figure{{Name: "goodput", Chart: figures.GoodputByInterval(source, hours, expected, played, best.Interval)}},
		Tables:  []page.Table{table.Of(costs).Page("The step with its layout kept and one part missing")},
		Notes:   []string{"Rates: " + book.Source + ", " + book.Date + ". Every cause of these rates stopped the job."}}, nil
}

// shortDuration leaves out what is zero: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
