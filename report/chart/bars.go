package chart

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Part is a piece of a bar.
type Part struct {
	Name   string
	Value  float64
	Colour color.RGBA
}

// Bar is a row of parts, one after the other from Start.
type Bar struct {
	Name  string
	Start float64
	Parts []Part
}

// Bars are horizontal bars, the first one on top. The Y axis has the bars' names.
type Bars struct {
	Frame
	Bars []Bar
}

func (b *Bars) panels() []panel { return []panel{b} }

func (b *Bars) size() (across, down vg.Length) {
	return width, footer + 3*vg.Centimeter + vg.Length(max(len(b.Bars), 3))*0.8*vg.Centimeter
}

// Rows are bar, part and value.
func (b *Bars) Rows() [][]string {
	rows := [][]string{{b.Y, "part", b.X}}
	for _, bar := range b.Bars {
		for _, p := range bar.Parts {
			rows = append(rows, []string{bar.Name, p.Name, exact(p.Value)})
		}
	}
	return rows
}

func (b *Bars) fill(p *plot.Plot, keys *legend) error {
	if len(b.Bars) == 0 {
		return fmt.Errorf("chart %q has no bars", b.Title)
	}
	addGrid(p)
	names, most := make([]string, len(b.Bars)), 0.0
	for i, bar := range b.Bars {
		y := float64(len(b.Bars) - 1 - i)
		names[i] = bar.Name
		at := bar.Start
		for _, part := range bar.Parts {
			if !finite(part.Value) || part.Value < 0 {
				return fmt.Errorf("chart %q: %s of %s is %v", b.Title, part.Name, bar.Name, part.Value)
			}
			box := rectangle(at, y-0.36, at+part.Value, y+0.36, part.Colour)
			p.Add(box)
			keys.add(part.Name, box)
			at += part.Value
		}
		most = max(most, at)
	}
	nameRows(p, names)
	p.X.Min, p.X.Max = 0, most*1.02
	return nil
}

// Waterfall is how a whole is made up, each part beginning where the one before it ends;
// the last bar is the sum.
func Waterfall(f Frame, parts []Part, total string) *Bars {
	b := &Bars{Frame: f}
	sum := 0.0
	for _, p := range parts {
		b.Bars = append(b.Bars, Bar{Name: p.Name, Start: sum, Parts: []Part{{Value: p.Value, Colour: p.Colour}}})
		sum += p.Value
	}
	b.Bars = append(b.Bars, Bar{Name: total, Parts: []Part{{Value: sum, Colour: grey}}})
	return b
}

// nameRows makes the vertical axis one of names, the first on top.
func nameRows(p *plot.Plot, names []string) {
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = ticks(names, len(names), true), -0.7, float64(len(names))-0.3
}

func rectangle(x0, y0, x1, y1 float64, c color.RGBA) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}}, Color: c}
}
