package report

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"railyard/model/units"
)

// Point is one size of a curve.
type Point struct {
	Size      units.Bytes
	Measured  float64 // in the unit of the figure
	Predicted float64
}

// Figure is predicted beside measured over size, with the error below.
type Figure struct {
	Title  string
	YLabel string
	Source string // what, where, when: printed below
	Points []Point
}

// The same colours mean the same thing in every figure.
var (
	measuredColour  = Palette[7]
	predictedColour = Palette[1]
)

// Draw lays the figure out and returns how to write it in the format of the file's
// name (.svg or .png).
func (f *Figure) Draw(file string) (func(io.Writer) error, error) {
	top, err := f.values()
	if err != nil {
		return nil, err
	}
	bottom, err := f.errors()
	if err != nil {
		return nil, err
	}
	const w, h = 18 * vg.Centimeter, 15 * vg.Centimeter
	paint := func(c draw.Canvas) {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
		tiles := draw.Tiles{Rows: 2, Cols: 1, PadY: 8, PadLeft: 4, PadRight: 24, PadTop: 4, PadBottom: 4}
		for i, at := range plot.Align([][]*plot.Plot{{top}, {bottom}}, tiles, c) {
			[]*plot.Plot{top, bottom}[i].Draw(at[0])
		}
	}
	switch filepath.Ext(file) {
	case ".svg":
		c := vgsvg.New(w, h)
		paint(draw.New(c))
		return func(out io.Writer) error { _, err := c.WriteTo(out); return err }, nil
	case ".png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(120))}
		paint(draw.New(c))
		return func(out io.Writer) error { _, err := c.WriteTo(out); return err }, nil
	}
	return nil, fmt.Errorf("%s: the name must end in .svg or .png", file)
}

func (f *Figure) values() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = f.Title, f.YLabel
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	f.sizes(p)
	measured, predicted := make(plotter.XYs, 0, len(f.Points)), make(plotter.XYs, 0, len(f.Points))
	for _, x := range f.Points {
		if x.Measured > 0 && x.Predicted > 0 {
			measured = append(measured, plotter.XY{X: float64(x.Size), Y: x.Measured})
			predicted = append(predicted, plotter.XY{X: float64(x.Size), Y: x.Predicted})
		}
	}
	if len(measured) == 0 {
		return nil, fmt.Errorf("there is nothing to plot")
	}
	points, err := plotter.NewScatter(measured)
	if err != nil {
		return nil, err
	}
	points.Shape, points.Color, points.Radius = draw.CircleGlyph{}, measuredColour, 3
	curve, err := plotter.NewLine(predicted)
	if err != nil {
		return nil, err
	}
	curve.Color, curve.Width = predictedColour, 2
	p.Add(plotter.NewGrid(), curve, points)
	p.Legend.Add("measured", points)
	p.Legend.Add("predicted", curve)
	p.Legend.Top, p.Legend.Left = false, false
	return p, nil
}

func (f *Figure) errors() (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = "error, %"
	p.X.Label.Text = f.Source
	f.sizes(p)
	pts := make(plotter.XYs, 0, len(f.Points))
	most := 10.0
	for _, x := range f.Points {
		if x.Measured > 0 && x.Predicted > 0 {
			e := 100 * (x.Predicted - x.Measured) / x.Measured
			pts = append(pts, plotter.XY{X: float64(x.Size), Y: e})
			most = max(most, math.Abs(e)*1.1)
		}
	}
	curve, dots, err := plotter.NewLinePoints(pts)
	if err != nil {
		return nil, err
	}
	curve.Color, dots.Color, dots.Shape = predictedColour, predictedColour, draw.CircleGlyph{}
	zero, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: 0}, {X: p.X.Max, Y: 0}})
	if err != nil {
		return nil, err
	}
	zero.Color = color.Gray{Y: 120}
	p.Add(plotter.NewGrid(), zero, curve, dots)
	p.Y.Min, p.Y.Max = -most, most
	p.X.Label.TextStyle.Font.Size = 9
	return p, nil
}

// sizes makes the horizontal axis logarithmic with binary labels, every fourth power.
func (f *Figure) sizes(p *plot.Plot) {
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		for e := 0; e <= 40; e++ {
			if v := math.Exp2(float64(e)); v >= lo*0.99 && v <= hi*1.01 {
				t := plot.Tick{Value: v}
				if e%2 == 0 {
					t.Label = units.Bytes(1 << e).String()
				}
				ticks = append(ticks, t)
			}
		}
		return ticks
	})
	if len(f.Points) > 0 {
		p.X.Min, p.X.Max = float64(f.Points[0].Size), float64(f.Points[len(f.Points)-1].Size)
		if p.X.Min == p.X.Max {
			p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
		}
	}
}

// Figure is time over size, predicted beside measured, of a comparison that holds one
// case: one collective, algorithm, protocol, launch and number of GPUs.
func (c *Comparison) Figure(topology, profile string) (*Figure, error) {
	f := &Figure{YLabel: "time, us", Source: fmt.Sprintf("size; measured against profile %s on %s", profile, topology)}
	for i, r := range c.Rows {
		name := r.caseName()
		if i > 0 && name != c.Rows[0].caseName() {
			return nil, fmt.Errorf("a figure shows one case, but there are %q and %q: narrow the rows with --only", c.Rows[0].caseName(), name)
		}
		f.Title = name
		f.Points = append(f.Points, Point{r.Measured.Size, r.Measured.Time.Microseconds(), r.Predicted.Time.Microseconds()})
	}
	slices.SortStableFunc(f.Points, func(a, b Point) int { return cmp.Compare(a.Size, b.Size) })
	return f, nil
}

// caseName says what was measured, whatever the size.
func (r ComparedRow) caseName() string {
	m := r.Measured
	return fmt.Sprintf("%v %s %s %s, %d GPUs", m.Collective, orAny(m.Algo), orAny(m.Proto), orAny(m.Launch), m.GPUs)
}

// Figures are time and bus bandwidth of a run, predicted and measured.
func (d *RunDocument) Figures() map[string]*Figure {
	source := fmt.Sprintf("size; %s on backend %s, profile %s, %s", d.Topology, d.Backend, d.Profile, d.Tool)
	time := &Figure{Title: "Time of a collective", YLabel: "time, us", Source: source}
	busbw := &Figure{Title: "Bus bandwidth", YLabel: "busbw, GB/s", Source: source}
	for _, r := range d.Rows {
		time.Points = append(time.Points, Point{units.Bytes(r.SizeBytes), r.MeasuredUS.Median, r.PredictedUS})
		if r.PredictedUS > 0 {
			busbw.Points = append(busbw.Points, Point{units.Bytes(r.SizeBytes), r.BusBW, r.BusBW * r.MeasuredUS.Median / r.PredictedUS})
		}
		time.Title, busbw.Title = r.Collective+": time", r.Collective+": bus bandwidth"
	}
	return map[string]*Figure{"time": time, "busbw": busbw}
}
