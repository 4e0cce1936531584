package figures

import (
	"fmt"

	"railyard/model/units"
	"railyard/report"
	"railyard/report/chart"
)

// CostOverTime is owning against renting.
func CostOverTime(d *report.CostDocument) chart.Chart {
	owned := chart.Series{Name: "owned", Colour: chart.Ours}
	series := []chart.Series{}
	for m, v := range d.Owned {
		owned.Points = append(owned.Points, chart.XY{X: float64(m), Y: v / 1e6})
	}
	for i, r := range d.Rents {
		s := chart.Series{Name: "rented " + r.Offer, Style: chart.Dashed, Colour: chart.Available[(i+1)%len(chart.Available)]}
		for m := range d.Owned {
			s.Points = append(s.Points, chart.XY{X: float64(m), Y: r.Month * float64(m) / 1e6})
		}
		series = append(series, s)
	}
	return &chart.Lines{FromZero: true, Series: append([]chart.Series{owned}, series...),
		Frame: chart.Frame{Title: fmt.Sprintf("Cost of %s over time, %.0f %% used", units.Counted(d.Nodes, "node"), 100*d.Utilisation),
			X: "month",
			Y: "paid so far (million " + d.Currency + ")", Source: fmt.Sprintf("Price book %q of %s, with the source of each figure",
				d.Prices,
				d.PricesDate)}}
}

// Pareto is the front of designs: speed against cost.
func Pareto(d *report.SizeDocument) chart.Chart {
	front, rest := chart.Series{Name: "front (time, cost, power)", Style: chart.Dots, Colour: chart.Ours},
		chart.Series{Name: "beaten by another", Style: chart.Dots, Colour: chart.Other}
	for _, r := range d.Rows {
		if r.Error != "" || !r.Priced {
			continue
		}
		p := chart.XY{X: r.Total / 1e6, Y: r.UnitsPerSecond}
		if r.Pareto {
			p.Label = r.Design
			front.Points = append(front.Points, p)
		} else {
			rest.Points = append(rest.Points, p)
		}
	}
	return &chart.Lines{Series: []chart.Series{rest, front}, Frame: chart.Frame{Title: "Speed against cost: " + d.Workload, LogX: true,
		LogY: true, X: fmt.Sprintf("cost over %d months (million %s)", d.Months, d.Currency),
		Y: d.Unit + "/s", Source: fmt.Sprintf("Predicted by railyard; price book %q of %s", d.Prices, d.Date)}}
}

// ScalePoint is a step on so many GPUs, and its efficiency: the throughput over that of its replicas alone.
type ScalePoint struct {
	GPUs           int
	UnitsPerSecond float64
	Efficiency     float64
}

// Scaling is throughput over GPUs, beside the ideal: every GPU as fast as in the replica that is fastest alone. (A line through the
// smallest machine would not be one: where memory is short, layouts are slow, and larger machines beat it.)
func Scaling(workload, unit, source string, points []ScalePoint) chart.Chart {
	got, ideal := chart.Series{Name: "predicted", Colour: chart.Ours}, chart.Series{Name: "ideal: no GPU waits for another replica",
		Style: chart.Dashed, Colour: chart.Limit}
	each := 0.0
	for _, p := range points {
		each = max(each, p.UnitsPerSecond/p.Efficiency/float64(p.GPUs))
	}
	for _, p := range points {
		got.Points = append(got.Points, chart.XY{X: float64(p.GPUs), Y: p.UnitsPerSecond})
		ideal.Points = append(ideal.Points, chart.XY{X: float64(p.GPUs), Y: each * float64(p.GPUs)})
	}
	return &chart.Lines{Series: []chart.Series{ideal, got}, Frame: chart.Frame{Title: "Scaling of " + workload, X: "GPUs", Y: unit + "/s",
		LogX: true, LogY: true, Source: source}}
}
