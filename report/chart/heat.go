package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// maxCells bounds a heat map.
const maxCells = 1 << 14

// Heat is a matrix of values as colours, dark to bright; NaN stays white. With Kinds it
// is a map of names instead: Values are indices into them.
type Heat struct {
	Frame
	Columns, Names []string // of the columns, of the rows from the top
	Values         [][]float64
	Kinds          []string
	Low, High      float64 // of the colours; both 0: from the data
	Unit           string
}

func (h *Heat) panels() []panel { return []panel{h} }

func (h *Heat) size() (across, down vg.Length) {
	return width, footer + 4*vg.Centimeter + vg.Length(min(max(len(h.Names), 4), 40))*0.5*vg.Centimeter
}

// Rows are row, column and value.
func (h *Heat) Rows() [][]string {
	rows := [][]string{{h.Y, h.X, "value " + h.Unit}}
	for i, values := range h.Values {
		for k, v := range values {
			text := exact(v)
			if h.Kinds != nil && !math.IsNaN(v) {
				text = h.Kinds[int(v)]
			}
			rows = append(rows, []string{h.Names[i], h.Columns[k], text})
		}
	}
	return rows
}

func (h *Heat) fill(p *plot.Plot, keys *legend) error {
	if err := h.check(); err != nil {
		return err
	}
	colour := h.scale(keys)
	for i, values := range h.Values {
		y := float64(len(h.Values) - 1 - i)
		for k, v := range values {
			if math.IsNaN(v) {
				continue
			}
			p.Add(rectangle(float64(k)-0.5, y-0.5, float64(k)+0.5, y+0.5, colour(v)))
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks(h.Columns, 16, false), ticks(h.Names, 40, true)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(h.Columns))-0.5, -0.5, float64(len(h.Names))-0.5
	return nil
}

func (h *Heat) check() error {
	if len(h.Values) == 0 || len(h.Values) != len(h.Names) || len(h.Values)*len(h.Columns) > maxCells {
		return fmt.Errorf("chart %q: %d rows for %d names and %d columns (at most %d cells)", h.Title, len(h.Values), len(h.Names),
			len(h.Columns), maxCells)
	}
	for i, values := range h.Values {
		if len(values) != len(h.Columns) {
			return fmt.Errorf("chart %q: row %s has %d values for %d columns", h.Title, h.Names[i], len(values), len(h.Columns))
		}
		for _, v := range values {
			if math.IsInf(v, 0) {
				return fmt.Errorf("chart %q: row %s has a value of %v", h.Title, h.Names[i], v)
			}
			if h.Kinds != nil && !math.IsNaN(v) && (v < 0 || int(v) >= len(h.Kinds) || v != math.Trunc(v)) {
				return fmt.Errorf("chart %q: row %s has kind %v of %d", h.Title, h.Names[i], v, len(h.Kinds))
			}
		}
	}
	return nil
}

// scale is the colour of a value; the legend says what colours mean.
func (h *Heat) scale(keys *legend) func(float64) color.RGBA {
	key := func(name string, c color.RGBA) { keys.add(name, rectangle(0, 0, 0, 0, c)) }
	if h.Kinds != nil {
		for i, name := range h.Kinds {
			key(name, Available[i%len(Available)])
		}
		return func(v float64) color.RGBA { return Available[int(v)%len(Available)] }
	}
	lo, hi := h.bounds()
	colour := func(v float64) color.RGBA { return Shade((v - lo) / (hi - lo)) }
	for _, share := range []float64{0, 0.5, 1} {
		v := lo + share*(hi-lo)
		key(number(v)+" "+h.Unit, colour(v))
	}
	return colour
}

func (h *Heat) bounds() (lo, hi float64) {
	if lo, hi = h.Low, h.High; lo < hi {
		return lo, hi
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, values := range h.Values {
		for _, v := range values {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if !(lo < hi) {
		return lo - 0.5, lo + 0.5
	}
	return lo, hi
}

// ticks labels names, or every so many where there are too many to read.
func ticks(names []string, most int, fromTop bool) plot.ConstantTicks {
	step := (len(names) + most - 1) / most
	var out plot.ConstantTicks
	for i := 0; i < len(names); i += max(step, 1) {
		at := i
		if fromTop {
			at = len(names) - 1 - i
		}
		out = append(out, plot.Tick{Value: float64(at), Label: names[i]})
	}
	return out
}

// blues go from light to dark in one hue, which every eye can order.
var blues = []color.RGBA{{222, 235, 247, 255}, {107, 174, 214, 255}, {33, 113, 181, 255}, {8, 29, 88, 255}}

// Shade is the colour of a share from 0 to 1, light to dark.
func Shade(share float64) color.RGBA {
	at := min(max(share, 0), 1) * float64(len(blues)-1)
	i := min(int(at), len(blues)-2)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (at-float64(i))*(float64(b)-float64(a)))) }
	a, b := blues[i], blues[i+1]
	return color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 255}
}
