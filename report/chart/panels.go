package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels are charts with one title, legend and source: below one another over the same horizontal axis, which the last one names, or
// side by side, each with its own title.
type Panels struct {
	Frame
	Charts []Chart
	Across bool
}

// The measures of panels: the first of those below one another is taller than the others.
const (
	tallPanel  = 8 * vg.Centimeter
	flatPanel  = 4.6 * vg.Centimeter
	sidePanel  = 11 * vg.Centimeter
	panelsHead = 1.2 * vg.Centimeter // title and a row of keys
)

func (x *Panels) panels() []panel {
	var out []panel
	for _, c := range x.Charts {
		out = append(out, c.panels()...)
	}
	return out
}

func (x *Panels) size() (across, down vg.Length) {
	if x.Across {
		return vg.Length(len(x.Charts)) * sidePanel, standard
	}
	return width, panelsHead + footer + tallPanel + vg.Length(len(x.Charts)-1)*flatPanel
}

// Rows are those of all panels, behind the panel's vertical axis.
func (x *Panels) Rows() [][]string {
	var out [][]string
	for _, c := range x.Charts {
		for _, r := range c.Rows() {
			out = append(out, append([]string{c.frame().Y}, r...))
		}
	}
	return out
}

// drawAcross draws plots side by side.
func drawAcross(plots []*plot.Plot, area draw.Canvas) {
	room := (area.Max.X - area.Min.X) / vg.Length(len(plots))
	for i, p := range plots {
		part := area
		part.Min.X = area.Min.X + vg.Length(i)*room
		part.Max.X = part.Min.X + room - 6
		drawPlot(p, part)
	}
}

// drawDown draws plots below one another, their data areas aligned.
func drawDown(plots []*plot.Plot, area draw.Canvas) {
	parts := make([]draw.Canvas, len(plots))
	flat := min(flatPanel, (area.Max.Y-area.Min.Y)/vg.Length(len(plots)))
	top, left := area.Max.Y, vg.Length(0)
	for i, p := range plots {
		if i < len(plots)-1 {
			p.X.Label.Text = ""
		}
		bottom := area.Min.Y + vg.Length(len(plots)-1-i)*flat
		parts[i] = area
		parts[i].Rectangle = vg.Rectangle{Min: vg.Point{X: area.Min.X, Y: bottom}, Max: vg.Point{X: area.Max.X, Y: top - 4}}
		top = bottom
		left = max(left, p.DataCanvas(parts[i]).Min.X)
	}
	shareAxis(plots)
	for i, p := range plots {
		parts[i].Min.X += left - p.DataCanvas(parts[i]).Min.X
		drawPlot(p, parts[i])
	}
}

// labelRow is the room of the horizontal axis' label.
const labelRow = 15 * vg.Length(1)

// drawPlot draws a plot and below it the label of its horizontal axis, for which the plot itself takes room to the right of logarithmic
// axes.
func drawPlot(p *plot.Plot, area draw.Canvas) {
	label := p.X.Label.Text
	p.X.Label.Text = ""
	if label != "" {
		area.Min.Y += labelRow
	}
	p.Draw(area)
	style := sans(10, ink)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	data := p.DataCanvas(area)
	area.FillText(style, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: area.Min.Y - labelRow + 2}, label)
}

// shareAxis gives plots the same horizontal axis.
func shareAxis(plots []*plot.Plot) {
	lo, hi := plots[0].X.Min, plots[0].X.Max
	for _, p := range plots {
		lo, hi = min(lo, p.X.Min), max(hi, p.X.Max)
	}
	for _, p := range plots {
		p.X.Min, p.X.Max = lo, hi
	}
}
