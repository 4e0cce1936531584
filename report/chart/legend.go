package chart

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend says what colours and marks mean, in rows between title and plot, where it
// covers no data.
type legend struct {
	names  []string
	thumbs [][]plot.Thumbnailer
}

// The measures of a legend.
const (
	keyRow  = 13 * vg.Length(1)
	keyMark = 18 * vg.Length(1)
	keyGap  = 14 * vg.Length(1)
)

// add adds an entry; the same name twice is one entry.
func (l *legend) add(name string, thumbs ...plot.Thumbnailer) {
	if name == "" {
		return
	}
	for _, have := range l.names {
		if have == name {
			return
		}
	}
	l.names, l.thumbs = append(l.names, name), append(l.thumbs, thumbs)
}

func keyStyle() text.Style {
	s := sans(9, ink)
	s.XAlign, s.YAlign = draw.XLeft, draw.YCenter
	return s
}

// places are where the entries begin, and how many rows they take.
func (l *legend) places(room vg.Length) (at []vg.Point, rows int) {
	style := keyStyle()
	x := vg.Length(0)
	for i, name := range l.names {
		w := keyMark + 4 + style.Width(name) + keyGap
		if x > 0 && x+w > room {
			x, rows = 0, rows+1
		}
		at = append(at, vg.Point{X: x, Y: vg.Length(rows)})
		x += w
		if i == len(l.names)-1 {
			rows++
		}
	}
	return at, rows
}

func (l *legend) height(room vg.Length) vg.Length {
	_, rows := l.places(room)
	return vg.Length(rows) * keyRow
}

// paint draws the entries from the top left corner of the canvas.
func (l *legend) paint(c draw.Canvas) {
	at, _ := l.places(c.Max.X - c.Min.X)
	style := keyStyle()
	for i, p := range at {
		left, top := c.Min.X+p.X, c.Max.Y-p.Y*keyRow
		mark := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: top - keyRow + 3},
			Max: vg.Point{X: left + keyMark, Y: top - 3}}}
		for _, t := range l.thumbs[i] {
			t.Thumbnail(&mark)
		}
		c.FillText(style, vg.Point{X: left + keyMark + 4, Y: top - keyRow/2}, l.names[i])
	}
}
