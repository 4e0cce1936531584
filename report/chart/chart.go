// Package chart draws the figures of reports: lines, bars, heat maps, timelines. Every
// figure has a title, axes with units and a line that says where its data comes from; it
// can be written as SVG, PNG or, for those who want the numbers, CSV.
package chart

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Frame is what every figure has.
type Frame struct {
	Title  string
	Source string // what, from where, when: printed below
	X, Y   string // axis labels with units
	LogX   bool
	LogY   bool
	Sizes  bool // X is a size in bytes, or a count in powers of two: logarithmic, 1K is 1024
}

func (f Frame) frame() Frame { return f }

// Chart is a figure.
type Chart interface {
	frame() Frame
	size() (width, height vg.Length)
	panels() []panel
	Rows() [][]string // its data with a header
}

// panel is a plot of a figure.
type panel interface {
	Chart
	fill(p *plot.Plot, keys *legend) error // adds its marks, ticks and keys
}

// The measures of a figure.
const (
	width     = 18 * vg.Centimeter
	standard  = 9 * vg.Centimeter
	footer    = 0.7 * vg.Centimeter
	lineWidth = 1.6
	glyph     = 2.4
)

var (
	ink  = color.RGBA{R: 30, G: 30, B: 30, A: 255}
	grey = color.RGBA{R: 90, G: 90, B: 90, A: 255}
	mesh = color.RGBA{R: 220, G: 220, B: 220, A: 255}
)

// Draw lays a chart out and returns how to write it in the format of the file's name:
// .svg, .png or .csv. The same chart gives the same bytes.
func Draw(c Chart, file string) (func(io.Writer) error, error) {
	if filepath.Ext(file) == ".csv" {
		return func(w io.Writer) error { return csv.NewWriter(w).WriteAll(c.Rows()) }, nil
	}
	across, down := c.size()
	canvas, write, err := NewCanvas(file, across, down)
	if err != nil {
		return nil, fmt.Errorf("%w, or .csv", err)
	}
	if err := paint(c, canvas); err != nil {
		return nil, err
	}
	return write, nil
}

func paint(c Chart, canvas draw.Canvas) error {
	f := c.frame()
	var plots []*plot.Plot
	var keys legend
	for _, part := range c.panels() {
		p := newPlot(part.frame())
		if err := part.fill(p, &keys); err != nil {
			return err
		}
		widen(p, part.frame())
		plots = append(plots, p)
	}
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	area := canvas
	area.Min.X, area.Max.X, area.Min.Y, area.Max.Y = canvas.Min.X+6, canvas.Max.X-14, canvas.Min.Y+footer, canvas.Max.Y-6
	title := sans(12, ink)
	title.XAlign, title.YAlign = draw.XLeft, draw.YTop
	canvas.FillText(title, vg.Point{X: area.Min.X, Y: area.Max.Y}, f.Title)
	area.Max.Y -= title.FontExtents().Height + 4
	keys.paint(area)
	area.Max.Y -= keys.height(area.Max.X-area.Min.X) + 4
	if side, ok := c.(*Panels); ok && side.Across {
		drawAcross(plots, area)
	} else {
		drawDown(plots, area)
	}
	note := sans(8, grey)
	note.XAlign, note.YAlign = draw.XLeft, draw.YBottom
	if w, room := note.Width(f.Source), canvas.Max.X-canvas.Min.X-12; w > room {
		note.Font.Size = max(note.Font.Size*room/w, 5)
	}
	canvas.FillText(note, vg.Point{X: canvas.Min.X + 6, Y: canvas.Min.Y + 5}, f.Source)
	return nil
}

// newPlot is an empty plot with the frame's axes.
func newPlot(f Frame) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = f.X, f.Y
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font.Variant, s.Color = "Sans", ink
	}
	p.Y.Label.TextStyle.Font.Size, p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = 10, 9, 9
	p.X.Tick.Marker, p.Y.Tick.Marker = plainTicks{}, plainTicks{}
	switch {
	case f.Sizes:
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks{}
	case f.LogX:
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, Decades{number}
	}
	if f.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, Decades{number}
	}
	return p
}

// widen leaves room around what logarithmic axes show: half a power of two of sizes.
func widen(p *plot.Plot, f Frame) {
	if f.Sizes {
		p.X.Min, p.X.Max = p.X.Min/math.Sqrt2, p.X.Max*math.Sqrt2
	}
	if f.LogY {
		p.Y.Min, p.Y.Max = p.Y.Min/1.15, p.Y.Max*1.15
	}
}

// sans is text of a size and colour.
func sans(points font.Length, c color.Color) text.Style {
	s := text.Style{Color: c, Font: font.From(plot.DefaultFont, points), Handler: plot.DefaultTextHandler}
	s.Font.Variant = "Sans"
	return s
}

func addGrid(p *plot.Plot) {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = mesh, mesh
	p.Add(g)
}

// number prints a value with three digits and the SI prefix from 10⁴ on.
func number(v float64) string {
	for _, p := range []struct {
		size float64
		sign string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= p.size {
			unit := p.size
			if p.sign == "k" {
				unit = 1e3
			}
			return strconv.FormatFloat(v/unit, 'g', 3, 64) + p.sign
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
