package figures

import (
	"fmt"

	"railyard/report"
	"railyard/report/chart"
)

// Machines is how steps of a workload on several machines are made up, per unit of work.
func Machines(workload, unit string, list []*report.StepDocument) chart.Chart {
	b := &chart.Bars{Frame: chart.Frame{Title: "Time for a million " + unit + ": " + workload, X: "time (s)", Y: "machine",
		Source: "Predicted by railyard, the best layout on each machine"}}
	for _, d := range list {
		bar := chart.Bar{Name: fmt.Sprintf("%s (%d GPUs)", d.Topology, d.GPUs)}
		for _, p := range d.Parts {
			var name string
			switch partColour(p.Name) {
			case chart.Compute:
				name = "compute"
			case chart.Exposed:
				name = "exposed communication"
			default:
				name = "bubble, conversion, optimizer"
			}
			bar.Parts = append(bar.Parts, chart.Part{Name: name, Value: p.Share * 1e6 / d.UnitsPerSecond, Colour: partColour(p.Name)})
		}
		b.Bars = append(b.Bars, bar)
	}
	return b
}

// GoodputByInterval is the share of time that is training over the time between checkpoints.
func GoodputByInterval(source string, hours, analytic, played []float64, best float64) chart.Chart {
	a, p := chart.Series{Name: "expected", Colour: chart.Ours}, chart.Series{Name: "played", Style: chart.Dots, Colour: chart.Measured}
	for i, h := range hours {
		label := ""
		if h == best {
			label = fmt.Sprintf("best: %.2f h", best)
		}
		a.Points = append(a.Points, chart.XY{X: h, Y: 100 * analytic[i], Label: label})
		p.Points = append(p.Points, chart.XY{X: h, Y: 100 * played[i]})
	}
	return &chart.Lines{Series: []chart.Series{a, p}, Frame: chart.Frame{Title: "Goodput against the time between checkpoints", LogX: true,
		X: "hours of work between checkpoints", Y: "training that lasts (%)", Source: source}}
}
