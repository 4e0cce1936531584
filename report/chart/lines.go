package chart

import (
	"fmt"
	"image/color"
	"railyard/model/measurement"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// XY is a point; a Label is written beside it.
type XY struct {
	X, Y  float64
	Label string
}

// Style is how a series is drawn.
type Style uint8

// The styles of a series.
const (
	Line   Style = iota // joined, with dots
	Dots                // measured points
	Dashed              // limits, bounds
	Steps               // joined by steps: cumulative distributions, fronts
	Smooth              // joined, without dots
	Rings               // points measured of another
)

// Series is points that belong together.
type Series struct {
	Name   string
	Points []XY
	Colour color.RGBA // zero: the next one of Available
	Style  Style
}

// Lines is series over a common axis.
type Lines struct {
	Frame
	Series   []Series
	FromZero bool // the vertical axis begins at 0
}

func (l *Lines) panels() []panel { return []panel{l} }

func (l *Lines) size() (across, down vg.Length) {
	return width, standard
}

// Rows are series, x, y and label.
func (l *Lines) Rows() [][]string {
	rows := [][]string{{"series", l.X, l.Y, "label"}}
	for _, s := range l.Series {
		for _, p := range s.Points {
			rows = append(rows, []string{s.Name, exact(p.X), exact(p.Y), p.Label})
		}
	}
	return rows
}

func (l *Lines) fill(p *plot.Plot, keys *legend) error {
	addGrid(p)
	points := 0
	for i, s := range l.Series {
		for _, q := range s.Points {
			if !finite(q.X) || !finite(q.Y) || (l.LogX || l.Sizes) && q.X <= 0 || l.LogY && q.Y <= 0 {
				return fmt.Errorf("chart %q: series %s has a point (%v, %v) that its axes cannot show", l.Title, s.Name, q.X, q.Y)
			}
		}
		if points += len(s.Points); len(s.Points) == 0 {
			continue
		}
		if s.Colour == (color.RGBA{}) {
			s.Colour = Available[i%len(Available)]
		}
		if err := s.add(p, keys); err != nil {
			return err
		}
	}
	if points == 0 {
		return fmt.Errorf("chart %q has no points", l.Title)
	}
	if l.FromZero {
		p.Y.Min = 0
	}
	return nil
}

func (s *Series) add(p *plot.Plot, keys *legend) error {
	xys := make(plotter.XYs, len(s.Points))
	labels := plotter.XYLabels{XYs: xys, Labels: make([]string, len(s.Points))}
	for i, q := range s.Points {
		xys[i].X, xys[i].Y, labels.Labels[i] = q.X, q.Y, q.Label
	}
	line, dots, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = s.Colour, lineWidth
	dots.Color, dots.Shape, dots.Radius = s.Colour, draw.CircleGlyph{}, glyph
	switch s.Style {
	case Dots, Rings:
		if s.Style == Rings {
			dots.Shape = draw.RingGlyph{}
		}
		p.Add(dots)
		keys.add(s.Name, dots)
	case Dashed:
		line.Dashes = []vg.Length{5, 3}
		p.Add(line)
		keys.add(s.Name, line)
	case Smooth:
		p.Add(line)
		keys.add(s.Name, line)
	case Steps:
		line.StepStyle = plotter.PostStep
		p.Add(line)
		keys.add(s.Name, line)
	default:
		p.Add(line, dots)
		keys.add(s.Name, line, dots)
	}
	return s.addLabels(p, labels)
}

func (s *Series) addLabels(p *plot.Plot, texts plotter.XYLabels) error {
	labels, err := plotter.NewLabels(texts)
	if err != nil {
		return err
	}
	labels.Offset = vg.Point{X: 4, Y: 3}
	for i := range labels.TextStyle {
		labels.TextStyle[i].Font.Variant, labels.TextStyle[i].Font.Size, labels.TextStyle[i].Color = "Sans", 8, ink
	}
	p.Add(labels)
	return nil
}

// Cumulative is the cumulative distribution of values.
func Cumulative(name string, colour Role, sorted []float64) Series {
	s := Series{Name: name, Style: Steps, Colour: colour}
	for i, v := range sorted {
		s.Points = append(s.Points, XY{X: v, Y: float64(i+1) / float64(len(sorted))})
	}
	return s
}

// Distribution is the cumulative distribution of values, with P50, P95 and P99 marked.
func Distribution(f Frame, name string, sorted []float64) *Lines {
	marks := Series{Name: "P50, P95, P99", Style: Dots, Colour: Limit}
	for _, p := range []int{50, 95, 99} {
		if len(sorted) > 0 {
			v := measurement.NearestRank(sorted, p)
			marks.Points = append(marks.Points, XY{X: v, Y: float64(p) / 100, Label: fmt.Sprintf("P%d %s", p, number(v))})
		}
	}
	return &Lines{Frame: f, Series: []Series{Cumulative(name, Ours, sorted), marks}, FromZero: true}
}
