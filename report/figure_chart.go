package report

import (
	"fmt"
	"image/color"
	"slices"

	"railyard/report/chart"
)

// sizeAxis names the axis of sizes.
const sizeAxis = "size (bytes; K = 1024)"

// Chart is the figure as a chart.
func (f *Figure) Chart() (chart.Chart, error) {
	points := 0
	for _, s := range f.Series {
		points += len(s.Points)
	}
	if points == 0 {
		return nil, fmt.Errorf("there is nothing to plot: no row has a size, a measured and a predicted time")
	}
	out := &chart.Panels{Frame: chart.Frame{Title: f.Title, Source: f.Source + "; points: measured, lines: predicted" + f.rings()}}
	panel := func(name string, l *chart.Lines) *chart.Lines {
		l.Frame = chart.Frame{X: sizeAxis, Y: name, Sizes: true, LogY: l.LogY}
		out.Charts = append(out.Charts, l)
		return l
	}
	if !f.NoTime {
		l := panel("time (us)", &chart.Lines{Frame: chart.Frame{LogY: true}})
		f.own(l)
		f.curves(l, func(p Point) float64 { return p.MeasuredUS }, func(p Point) float64 { return p.PredictedUS },
			func(p Point) float64 { return p.NCCLUS })
	}
	if !f.NoBusBW {
		f.curves(panel("bus bandwidth (GB/s)", &chart.Lines{FromZero: true}), func(p Point) float64 { return p.BusBW },
			func(p Point) float64 { return p.busBWAt(p.PredictedUS) }, func(p Point) float64 { return p.busBWAt(p.NCCLUS) })
	}
	if !f.NoErrors {
		f.errors(panel("error (%)", &chart.Lines{}))
	}
	return out, nil
}

// rings says what rings are, where there are any.
func (f *Figure) rings() string {
	for _, s := range f.Series {
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.NCCLUS > 0 }) {
			return ", rings: NCCL, measured"
		}
	}
	return ""
}

// colours are those of the points and of the line of a series: a figure of one shows measurements in black.
func (f *Figure) colours(i int) (points, line color.RGBA) {
	if len(f.Series) == 1 {
		return chart.Measured, chart.Ours
	}
	return chart.Available[i], chart.Available[i]
}

// line is a series of the points that have a value.
func (s *Series) line(name string, style chart.Style, colour color.RGBA, value func(Point) float64) chart.Series {
	out := chart.Series{Name: name, Style: style, Colour: colour}
	for _, p := range s.Points {
		if y := value(p); y != 0 || style == chart.Line {
			out.Points = append(out.Points, chart.XY{X: float64(p.Size), Y: y})
		}
	}
	return out
}

// curves draws predictions as lines, measurements as points and those of NCCL as rings.
func (f *Figure) curves(l *chart.Lines, measured, predicted, nccl func(Point) float64) {
	for i := range f.Series {
		s := &f.Series[i]
		dots, line := f.colours(i)
		names, rings := [3]string{s.Name + ", " + summaryOf(*s)}, line
		if len(f.Series) == 1 {
			names, rings = [3]string{"predicted, " + summaryOf(*s), "measured", "NCCL, measured"}, chart.NCCL
		}
		l.Series = append(l.Series, s.line(names[0], chart.Smooth, line, predicted), s.line(names[1], chart.Dots, dots, measured),
			s.line(names[2], chart.Rings, rings, nccl))
	}
}

// own draws what NCCL's own model says, dashed, below the rest.
func (f *Figure) own(l *chart.Lines) {
	for i := range f.Series {
		_, colour := f.colours(i)
		l.Series = append(l.Series, f.Series[i].line("NCCL's own model", chart.Dashed, colour, func(p Point) float64 { return p.OwnUS }))
	}
}

// errors draws the error of every point.
func (f *Figure) errors(l *chart.Lines) {
	for i := range f.Series {
		_, colour := f.colours(i)
		l.Series = append(l.Series, f.Series[i].line("", chart.Line, colour, Point.err))
	}
}
