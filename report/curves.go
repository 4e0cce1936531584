package report

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"railyard/report/chart"
)

// Curves is a figure of panels side by side, both axes logarithmic.
type Curves struct {
	Source string // what, where, when: printed below
	Panels []CurvesPanel
}

// CurvesPanel is one of them: how Y grows with X.
type CurvesPanel struct {
	Title, X, Y string
	Curves      []Curve
}

// Curve is the positive points of a series, in order.
type Curve struct {
	Name string
	X, Y []float64
}

// WritePNG draws the figure. The same figure gives the same bytes.
func (f *Curves) WritePNG(w io.Writer) error {
	width := vg.Length(len(f.Panels)) * 11 * vg.Centimeter
	all, write, err := chart.NewCanvas(".png", width, tallPanel+footer)
	if err != nil {
		return err
	}
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	for i := range f.Panels {
		p, err := f.Panels[i].plot()
		if err != nil {
			return err
		}
		part := all
		left := all.Min.X + vg.Length(i)*width/vg.Length(len(f.Panels))
		part.Rectangle = vg.Rectangle{Min: vg.Point{X: left + 6, Y: all.Min.Y + 18}, Max: vg.Point{X: left + 11*vg.Centimeter - 12, Y: all.Max.Y - 6}}
		p.Draw(part)
	}
	all.FillText(sansText(8, draw.XLeft, keyColour), vg.Point{X: all.Min.X + 6, Y: all.Min.Y + 5}, f.Source)
	return write(w)
}

func (f *CurvesPanel) plot() (*plot.Plot, error) {
	if len(f.Curves) > len(seriesColours) {
		return nil, fmt.Errorf("a panel shows at most %d curves, but there are %d", len(seriesColours), len(f.Curves))
	}
	p := plot.New()
	sans(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.X.Label.TextStyle.Font = p.Y.Label.TextStyle.Font
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	xs, ys := newSpan(), newSpan()
	for i, s := range f.Curves {
		pts := make(plotter.XYs, len(s.X))
		for j := range pts {
			pts[j] = plotter.XY{X: s.X[j], Y: s.Y[j]}
			xs.add(s.X[j])
			ys.add(s.Y[j])
		}
		line, dots, err := plotter.NewLinePoints(pts)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = seriesColours[i], 1.6
		dots.Color, dots.Shape, dots.Radius = seriesColours[i], draw.CircleGlyph{}, 2.4
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
	}
	if !(xs.lo > 0 && ys.lo > 0 && xs.lo <= xs.hi) {
		return nil, fmt.Errorf("%s: logarithmic axes need positive points, and at least one", f.Title)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = xs.lo/1.2, xs.hi*1.2, ys.lo/1.5, ys.hi*25
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = sizeTicks{}, decades
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs, p.Legend.Padding = 8, -4, 4
	return p, nil
}
