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
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"railyard/report"
)

// Frame is what every figure has.
type Frame struct {
	Title  string
	Source string // what, from where, when: printed below
	X, Y   string // axis labels with units
	LogX   bool
	LogY   bool
}

// Chart is a figure.
type Chart interface {
	frame() Frame
	height() vg.Length
	fill(p *plot.Plot, keys *legend) error // adds its marks, ticks and keys
	Rows() [][]string                      // its data with a header
}

// The measures of a figure.
const (
	width     = 18 * vg.Centimeter
	standard  = 9 * vg.Centimeter
	footer    = 0.7 * vg.Centimeter
	perInch   = 150
	lineWidth = 1.6
	glyph     = 2.4
)

var (
	ink  = color.RGBA{R: 30, G: 30, B: 30, A: 255}
	grey = color.RGBA{R: 90, G: 90, B: 90, A: 255}
	mesh = color.RGBA{R: 220, G: 220, B: 220, A: 255}
)

// Role is a colour that means the same in every figure.
type Role = color.RGBA

// The roles that colours play.
var (
	Free      = mesh              // room that nothing takes
	Ours      = report.Palette[1] // predicted by the house, planned
	Measured  = report.Palette[7]
	NCCL      = report.Palette[3]
	Limit     = report.Palette[6] // line rates, bounds, failures
	Compute   = report.Palette[0]
	Exposed   = report.Palette[6] // communication that computing waits for
	Hidden    = report.Palette[2] // communication beside computing
	Other     = report.Palette[4]
	Available = []color.RGBA{report.Palette[1], report.Palette[6], report.Palette[0], report.Palette[3], report.Palette[4], report.Palette[2], report.Palette[7]}
)

// Draw lays a chart out and returns how to write it in the format of the file's name:
// .svg, .png or .csv. The same chart gives the same bytes.
func Draw(c Chart, file string) (func(io.Writer) error, error) {
	switch filepath.Ext(file) {
	case ".svg":
		canvas := vgsvg.New(width, c.height())
		if err := paint(c, draw.New(canvas)); err != nil {
			return nil, err
		}
		return func(w io.Writer) error { _, err := canvas.WriteTo(w); return err }, nil
	case ".png":
		canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, c.height()), vgimg.UseDPI(perInch))}
		if err := paint(c, draw.New(canvas)); err != nil {
			return nil, err
		}
		return func(w io.Writer) error { _, err := canvas.WriteTo(w); return err }, nil
	case ".csv":
		return func(w io.Writer) error { return csv.NewWriter(w).WriteAll(c.Rows()) }, nil
	}
	return nil, fmt.Errorf("%s: the name must end in .svg, .png or .csv", file)
}

func paint(c Chart, canvas draw.Canvas) error {
	f := c.frame()
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = f.X, f.Y
	for _, s := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Font.Variant, s.Color = "Sans", ink
	}
	p.Title.TextStyle.Font.Size = 12
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	}
	if f.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{}
	}
	var keys legend
	if err := c.fill(p, &keys); err != nil {
		return err
	}
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	area := canvas
	area.Min.X, area.Max.X, area.Min.Y, area.Max.Y = canvas.Min.X+6, canvas.Max.X-14, canvas.Min.Y+footer, canvas.Max.Y-6
	title := p.Title.TextStyle
	title.XAlign, title.YAlign = draw.XLeft, draw.YTop
	canvas.FillText(title, vg.Point{X: area.Min.X, Y: area.Max.Y}, f.Title)
	area.Max.Y -= title.FontExtents().Height + 4
	keys.paint(area)
	area.Max.Y -= keys.height(area.Max.X-area.Min.X) + 4
	p.Draw(area)
	note := text.Style{Color: grey, Font: font.From(plot.DefaultFont, 8), XAlign: draw.XLeft, YAlign: draw.YBottom, Handler: plot.DefaultTextHandler}
	note.Font.Variant = "Sans"
	if w, room := note.Width(f.Source), canvas.Max.X-canvas.Min.X-12; w > room {
		note.Font.Size = max(note.Font.Size*room/w, 5)
	}
	canvas.FillText(note, vg.Point{X: canvas.Min.X + 6, Y: canvas.Min.Y + 5}, f.Source)
	return nil
}

func addGrid(p *plot.Plot) {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = mesh, mesh
	p.Add(g)
}

// decades marks 1 to 9 of every decade and labels the decades; 2 and 5 too where there are few.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	few := hi/lo < 200
	var out []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				t.Label = number(v)
			}
			out = append(out, t)
		}
	}
	return out
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
