package chart

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// maxSpans bounds a timeline: more cannot be seen and make files of many megabytes.
const maxSpans = 5000

// Span is something that goes on in a lane for a while.
type Span struct {
	Lane     string
	Kind     string // of the same colour everywhere
	From, To float64
	Colour   color.RGBA
}

// Timeline is spans in lanes, the first lane on top.
type Timeline struct {
	Frame
	Spans []Span
}

func (t *Timeline) panels() []panel { return []panel{t} }

func (t *Timeline) size() (across, down vg.Length) {
	return width, footer + 3*vg.Centimeter + vg.Length(len(t.lanes()))*0.8*vg.Centimeter
}

func (t *Timeline) lanes() []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range t.Spans {
		if !seen[s.Lane] {
			seen[s.Lane] = true
			out = append(out, s.Lane)
		}
	}
	return out
}

// Rows are lane, kind, from and to.
func (t *Timeline) Rows() [][]string {
	rows := [][]string{{"lane", "kind", "from " + t.X, "to " + t.X}}
	for _, s := range t.Spans {
		rows = append(rows, []string{s.Lane, s.Kind, exact(s.From), exact(s.To)})
	}
	return rows
}

func (t *Timeline) fill(p *plot.Plot, keys *legend) error {
	if len(t.Spans) == 0 || len(t.Spans) > maxSpans {
		return fmt.Errorf("chart %q has %d spans: it can show 1 to %d", t.Title, len(t.Spans), maxSpans)
	}
	lanes := t.lanes()
	row := map[string]float64{}
	for i, name := range lanes {
		row[name] = float64(len(lanes) - 1 - i)
	}
	for _, s := range t.Spans {
		if !finite(s.From) || !finite(s.To) || s.To < s.From || t.Sizes && s.From <= 0 {
			return fmt.Errorf("chart %q: a span of %s from %v to %v", t.Title, s.Lane, s.From, s.To)
		}
		box := rectangle(s.From, row[s.Lane]-0.36, s.To, row[s.Lane]+0.36, s.Colour)
		p.Add(box)
		keys.add(s.Kind, box)
	}
	nameRows(p, lanes)
	return nil
}
