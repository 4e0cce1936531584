package show

import (
	"fmt"
	"strings"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
	"railyard/sim"
	"railyard/study"
)

// Plans are the best schedules of a collective for several sizes.
type Plans struct{ *study.Answer }

// Plan plans a collective on a machine under its default costs. Each row also says what
// else was considered.
func Plan(t *topology.Topology, kind collective.Kind, sizes ...units.Bytes) (*Plans, error) {
	a, err := ask(t, kind, study.Search{}, study.Detail{Considered: true}, sizes)
	return &Plans{a}, err
}

// source says where a figure's numbers come from.
func (p *Plans) source() string {
	q := p.Question
	return fmt.Sprintf("%s, %d ranks, profile %s; %s", q.Topology().Name(), q.Spec().Ranks, q.Costs().Name, planner.Tool)
}

// busBW is the bus bandwidth of a time, in GB/s.
func (p *Plans) busBW(size units.Bytes, t units.Time) float64 {
	_, bus := study.Bandwidths(p.Question.Spec(), size, t)
	return bus
}

// Table is a row for each size: the plan, what limits it and how near it is to what no
// schedule can beat.
func (p *Plans) Table() [][]string {
	rows := [][]string{{"size", "schedule", "time us", "busbw GB/s", "of bound", "limited by"}}
	for _, r := range p.Rows {
		t := r.Prediction.Time
		limit, _, _ := strings.Cut(r.Prediction.Bottleneck, ";") // the first of several
		rows = append(rows, []string{r.Size.String(), planner.Name(r.Schedule), fmt.Sprintf("%.1f", t.Microseconds()),
			fmt.Sprintf("%.1f", p.busBW(r.Size, t)),
			fmt.Sprintf("%.0f %%", 100*r.OfBound()), limit})
	}
	return rows
}

// Bandwidth is bus bandwidth over size: the plan, labelled where another algorithm
// becomes the best, the runner-up, and the bound.
func (p *Plans) Bandwidth() *chart.Lines {
	best, other := chart.Series{Name: "best plan", Colour: chart.Ours}, chart.Series{Name: "runner-up", Colour: chart.Other}
	bound := chart.Series{Name: "no schedule can beat", Colour: chart.Limit, Style: chart.Dashed}
	last := ""
	for _, r := range p.Rows {
		at := func(t units.Time) chart.XY { return chart.XY{X: float64(r.Size), Y: p.busBW(r.Size, t)} }
		point := at(r.Prediction.Time)
		if name := planner.Family(r.Schedule); name != last {
			point.Label, last = name, name
		}
		best.Points = append(best.Points, point)
		if r.RunnerUp != nil {
			other.Points = append(other.Points, at(r.RunnerTime))
		}
		if r.Bound.Time > 0 {
			bound.Points = append(bound.Points, at(r.Bound.Time))
		}
	}
	return &chart.Lines{Frame: chart.Frame{Title: fmt.Sprintf("%v on %s", p.Question.Spec().Kind, p.Question.Topology().Name()),
		Source: p.source(), X: "size (bytes)", Y: "bus bandwidth (GB/s)", LogX: true},
		Series: []chart.Series{bound, other, best}, FromZero: true}
}

// Considered is the time of every schedule that was played for a row, the best first;
// those that a bound ruled out are left out.
func (p *Plans) Considered(row int) *chart.Bars {
	r := p.Rows[row]
	b := &chart.Bars{Frame: chart.Frame{Title: fmt.Sprintf("%v of %v: what was considered", p.Question.Spec().Kind, r.Size),
		Source: p.source(), X: "time (us)", Y: "schedule"}}
	for _, c := range r.Why {
		if c.Pruned {
			continue
		}
		part := chart.Part{Name: "others", Value: c.Time.Microseconds(), Colour: chart.Other}
		if c.Schedule == r.Schedule {
			part.Name, part.Colour = "chosen", chart.Ours
		}
		b.Bars = append(b.Bars, chart.Bar{Name: planner.Name(c.Schedule), Parts: []chart.Part{part}})
	}
	return b
}

// Timeline plays a row's plan: when each rank's messages are on their way, coloured by the
// kind of route that they take.
func (p *Plans) Timeline(row int) (*chart.Timeline, error) {
	r := p.Rows[row]
	res, err := sim.Run(p.Question.Topology(), r.Schedule, r.Size, p.Question.Costs(), sim.Options{Trace: true})
	if err != nil {
		return nil, err
	}
	out := &chart.Timeline{Frame: chart.Frame{Title: fmt.Sprintf("%s, %v of %v: messages", planner.Name(r.Schedule),
		p.Question.Spec().Kind, r.Size), Source: p.source(), X: "time (us)", Y: "from"}}
	for rank := range res.Trace.Ranks {
		for _, e := range res.Trace.Events {
			if e.Op != "send" || int(e.Rank) != rank {
				continue
			}
			s := chart.Span{Lane: fmt.Sprintf("rank %d", rank), Kind: "inside the node", From: e.Start.Microseconds(),
				To: e.End.Microseconds(), Colour: chart.Compute}
			if e.Route == topology.Net.String() {
				s.Kind, s.Colour = "over the network", chart.Exposed
			}
			out.Spans = append(out.Spans, s)
		}
	}
	return out, nil
}
