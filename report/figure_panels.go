package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel makes one panel.
func (f *Figure) panel(kind Panel) (*plot.Plot, error) {
	p := plot.New()
	sans(p)
	f.sizeAxis(p)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	switch kind {
	case TimePanel:
		p.Y.Label.Text = "time (us)"
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades
		if err := f.ownCurves(p); err != nil {
			return nil, err
		}
		return p, f.curves(p, func(x Point) float64 { return x.MeasuredUS }, func(x Point) float64 { return x.PredictedUS })
	case BusBWPanel:
		p.Y.Label.Text = "bus bandwidth (GB/s)"
		err := f.curves(p, func(x Point) float64 { return x.BusBW }, Point.predictedBusBW)
		p.Y.Min, p.Y.Max = 0, p.Y.Max*1.05
		return p, err
	}
	p.Y.Label.Text = "error (%)"
	return p, f.errorCurves(p)
}

// sans sets all text of a plot in the same face.
func sans(p *plot.Plot) {
	face := func(f *font.Font, size font.Length) { f.Variant, f.Size = "Sans", size }
	face(&p.Title.TextStyle.Font, 13)
	face(&p.Y.Label.TextStyle.Font, 10)
	face(&p.X.Tick.Label.Font, 9)
	face(&p.Y.Tick.Label.Font, 9)
	face(&p.Legend.TextStyle.Font, 9)
	p.Title.Padding = 6
	p.X.Padding, p.Y.Padding = 0, 0
}

// sizeAxis makes the horizontal axis logarithmic, half a power of two wider than the
// sizes, the same in all panels.
func (f *Figure) sizeAxis(p *plot.Plot) {
	sizes := newSpan()
	for _, s := range f.Series {
		for _, x := range s.Points {
			sizes.add(float64(x.Size))
		}
	}
	p.X.Min, p.X.Max = sizes.lo/math.Sqrt2, sizes.hi*math.Sqrt2
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks{}
}

// colours are those of the points and of the line of a series.
func (f *Figure) colours(i int) (points, line color.Color) {
	if len(f.Series) == 1 {
		return measuredColour, seriesColours[0]
	}
	return seriesColours[i], seriesColours[i]
}

// curves draws predictions as lines and measurements as points.
func (f *Figure) curves(p *plot.Plot, measured, predicted func(Point) float64) error {
	values := newSpan()
	for i, s := range f.Series {
		dots, line := make(plotter.XYs, len(s.Points)), make(plotter.XYs, len(s.Points))
		for j, x := range s.Points {
			dots[j] = plotter.XY{X: float64(x.Size), Y: measured(x)}
			line[j] = plotter.XY{X: float64(x.Size), Y: predicted(x)}
			values.add(dots[j].Y)
			values.add(line[j].Y)
		}
		if err := f.addCurve(p, i, dots, line); err != nil {
			return err
		}
	}
	p.Y.Min, p.Y.Max = values.lo/1.15, values.hi*1.15
	return nil
}

// ownCurves draws what NCCL's own model says, dashed, below the rest.
func (f *Figure) ownCurves(p *plot.Plot) error {
	for i, s := range f.Series {
		var pts plotter.XYs
		for _, x := range s.Points {
			if x.OwnUS > 0 {
				pts = append(pts, plotter.XY{X: float64(x.Size), Y: x.OwnUS})
			}
		}
		if len(pts) < 2 {
			continue
		}
		curve, err := plotter.NewLine(pts)
		if err != nil {
			return err
		}
		_, colour := f.colours(i)
		curve.Color, curve.Width, curve.Dashes = colour, 1, []vg.Length{3, 3}
		p.Add(curve)
	}
	return nil
}

// hasOwn reports whether there is anything of NCCL's own model to show.
func (f *Figure) hasOwn() bool {
	for _, s := range f.Series {
		for _, x := range s.Points {
			if x.OwnUS > 0 {
				return true
			}
		}
	}
	return false
}

func (f *Figure) addCurve(p *plot.Plot, i int, dots, line plotter.XYs) error {
	dotColour, lineColour := f.colours(i)
	curve, err := plotter.NewLine(line)
	if err != nil {
		return err
	}
	curve.Color, curve.Width = lineColour, 1.6
	points, err := plotter.NewScatter(dots)
	if err != nil {
		return err
	}
	points.Shape, points.Color, points.Radius = draw.CircleGlyph{}, dotColour, 2.4
	p.Add(curve, points)
	return nil
}

// errorCurves draws the error of every point around a line at zero.
func (f *Figure) errorCurves(p *plot.Plot) error {
	zero, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: 0}, {X: p.X.Max, Y: 0}})
	if err != nil {
		return err
	}
	zero.Color, zero.Width = keyColour, 1
	p.Add(zero)
	most := 10.0
	for i, s := range f.Series {
		pts := make(plotter.XYs, len(s.Points))
		for j, x := range s.Points {
			pts[j] = plotter.XY{X: float64(x.Size), Y: x.err()}
			most = max(most, math.Abs(x.err()))
		}
		curve, dots, err := plotter.NewLinePoints(pts)
		if err != nil {
			return err
		}
		_, c := f.colours(i)
		curve.Color, curve.Width = c, 1
		dots.Color, dots.Shape, dots.Radius = c, draw.CircleGlyph{}, 1.8
		p.Add(curve, dots)
	}
	p.Y.Min, p.Y.Max = -most*1.1, most*1.1
	return nil
}

// legend explains points and lines once, then the colours with the error of each case.
func (f *Figure) legend(p *plot.Plot) error {
	dots, err := plotter.NewScatter(plotter.XYs{})
	if err != nil {
		return err
	}
	line, err := plotter.NewLine(plotter.XYs{})
	if err != nil {
		return err
	}
	dots.Shape, dots.Radius, line.Width = draw.CircleGlyph{}, 2.4, 1.6
	dots.Color, line.Color = keyColour, keyColour
	if len(f.Series) == 1 {
		dots.Color, line.Color = f.colours(0)
	}
	p.Legend.Add("measured", dots)
	if len(f.Series) == 1 {
		p.Legend.Add("predicted, "+summaryOf(f.Series[0]), line)
	} else {
		p.Legend.Add("predicted", line)
		for i, s := range f.Series {
			key := &plotter.Line{}
			key.Color, key.Width = seriesColours[i], 3*vg.Points(1)
			p.Legend.Add(fmt.Sprintf("%s, %s", s.Name, summaryOf(s)), key)
		}
	}
	if f.hasOwn() {
		own := &plotter.Line{}
		own.Color, own.Width, own.Dashes = line.Color, 1, []vg.Length{3, 3}
		p.Legend.Add("NCCL's own model", own)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = 8, -6
	p.Legend.Padding, p.Legend.ThumbnailWidth = 2, 18
	return nil
}
