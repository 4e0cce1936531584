package report

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"railyard/report/chart"
)

// The size of a figure: the first panel is taller than the others.
const (
	figureWidth = 18 * vg.Centimeter
	tallPanel   = 8 * vg.Centimeter
	flatPanel   = 4.6 * vg.Centimeter
	footer      = 1.2 * vg.Centimeter
)

// Draw lays the figure out and returns how to write it in the format of the file's
// name (.svg or .png). The same figure gives the same bytes.
func (f *Figure) Draw(file string) (func(io.Writer) error, error) {
	panels, err := f.layout()
	if err != nil {
		return nil, err
	}
	height := tallPanel + vg.Length(len(panels)-1)*flatPanel + footer
	c, write, err := chart.NewCanvas(file, figureWidth, height)
	if err != nil {
		return nil, err
	}
	f.paint(c, panels)
	return write, nil
}

func (f *Figure) layout() ([]*plot.Plot, error) {
	points := 0
	for _, s := range f.Series {
		points += len(s.Points)
	}
	if points == 0 {
		return nil, fmt.Errorf("there is nothing to plot: no row has a size, a measured and a predicted time")
	}
	var out []*plot.Plot
	for _, kind := range f.Panels {
		p, err := f.panel(kind)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	out[0].Title.Text = f.Title
	return out, f.legend(out[0])
}

// paint draws the panels below one another with their data areas aligned, and the name
// of the shared axis and the source at the bottom. (The plot's own axis label takes room
// to the right of a logarithmic axis.)
func (f *Figure) paint(c draw.Canvas, panels []*plot.Plot) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	top := c.Max.Y - 6
	areas := make([]draw.Canvas, len(panels))
	var left vg.Length
	for i, p := range panels {
		height := flatPanel
		if i == 0 {
			height = tallPanel - 6
		}
		areas[i] = c
		areas[i].Rectangle = vg.Rectangle{Min: vg.Point{X: c.Min.X + 6, Y: top - height}, Max: vg.Point{X: c.Max.X - 14, Y: top - 4}}
		top -= height
		left = max(left, p.DataCanvas(areas[i]).Min.X)
	}
	for i, p := range panels {
		areas[i].Min.X += left - p.DataCanvas(areas[i]).Min.X
		p.Draw(areas[i])
	}
	label := sansText(10, draw.XCenter, color.Black)
	c.FillText(label, vg.Point{X: (left + c.Max.X - 14) / 2, Y: c.Min.Y + 21}, "size (bytes; K = 1024)")
	c.FillText(sansText(8, draw.XLeft, keyColour), vg.Point{X: c.Min.X + 6, Y: c.Min.Y + 5}, f.Source)
}

func sansText(size font.Length, align text.XAlignment, c color.Color) text.Style {
	f := font.From(plot.DefaultFont, size)
	f.Variant = "Sans"
	return text.Style{Color: c, Font: f, XAlign: align, YAlign: draw.YBottom, Handler: plot.DefaultTextHandler}
}
