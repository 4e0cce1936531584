package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"railyard/report/chart"
)

// The measures of the chart.
const (
	bandRow    = 1.1 * vg.Centimeter
	bandAxis   = 0.9 * vg.Centimeter // the labels of the sizes
	keyRow     = 14.0                // of the legend, in points
	chartTitle = 24.0
	lossPanel  = 6 * vg.Centimeter
)

// mostLoss is where the second panel ends, in per cent: from there on it does not matter.
const mostLoss = 100

// Draw lays the chart out and returns how to write it in the format of the file's name
// (.svg or .png): above, a band for each topology, coloured by the best algorithm at each
// size; below, how much longer the runner-up takes. The same document gives the same bytes.
func (d *CrossoverDocument) Draw(file, tool string) (func(io.Writer) error, error) {
	c, err := d.chart()
	if err != nil {
		return nil, err
	}
	c.source = fmt.Sprintf("simulated by %s; %s", tool, d.profiles())
	height := c.bandsBottom() + lossPanel + footer
	canvas, write, err := chart.NewCanvas(file, figureWidth, height)
	if err != nil {
		return nil, err
	}
	c.paint(canvas)
	return write, nil
}

// profiles says which topology was simulated with which profile.
func (d *CrossoverDocument) profiles() string {
	var names []string
	of := map[string][]string{}
	for _, t := range d.Topologies {
		if of[t.Profile] == nil {
			names = append(names, t.Profile)
		}
		of[t.Profile] = append(of[t.Profile], t.Topology)
	}
	if len(names) == 1 {
		return "profile " + names[0]
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("profile %s: %s", n, strings.Join(of[n], ", "))
	}
	return strings.Join(names, "; ")
}

// crossoverChart is the chart with everything decided but the places.
type crossoverChart struct {
	d       *CrossoverDocument
	best    []string // in the order in which they come up
	colours map[string]color.RGBA
	bands   *plot.Plot
	loss    *plot.Plot
	source  string
}

func (d *CrossoverDocument) chart() (*crossoverChart, error) {
	if len(d.Topologies) == 0 {
		return nil, fmt.Errorf("there is nothing to draw: no topology")
	}
	if len(d.Topologies) > len(lossLines) {
		return nil, fmt.Errorf("a chart shows at most %d topologies, but there are %d", len(lossLines), len(d.Topologies))
	}
	c := &crossoverChart{d: d, colours: map[string]color.RGBA{}}
	for _, t := range d.Topologies {
		for _, b := range t.Bands {
			if _, known := c.colours[b.Best]; known {
				continue
			}
			n := len(c.best)
			if n == 2*len(bandColours) {
				return nil, fmt.Errorf("a chart shows at most %d algorithms and protocols: narrow them with --algo or --proto", n)
			}
			c.best = append(c.best, b.Best)
			c.colours[b.Best] = bandColours[n%len(bandColours)]
			if n >= len(bandColours) {
				c.colours[b.Best] = paler(c.colours[b.Best])
			}
		}
	}
	c.bands, c.loss = c.bandsPlot(), plot.New()
	return c, c.lossPlot()
}

// bandColours are those of areas, where yellow can be seen as well.
var bandColours = append(append([]color.RGBA{}, seriesColours...), chart.Palette[5])

// paler is a colour half way to white.
func paler(c color.RGBA) color.RGBA {
	half := func(v uint8) uint8 { return uint8((int(v) + 255) / 2) }
	return color.RGBA{R: half(c.R), G: half(c.G), B: half(c.B), A: 255}
}

// readableOn is black or white, whichever stands out from a colour.
func readableOn(c color.RGBA) color.Color {
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) < 128_000 {
		return color.White
	}
	return color.Black
}

// sizes is the horizontal axis, the same in both panels.
func (c *crossoverChart) sizes(p *plot.Plot) {
	s := newSpan()
	for _, t := range c.d.Topologies {
		for _, b := range t.Bands {
			s.add(float64(b.From))
			s.add(float64(b.To))
		}
	}
	p.X.Min, p.X.Max = s.lo/math.Sqrt2, s.hi*math.Sqrt2
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks{}
}

// bandsPlot is the upper panel.
func (c *crossoverChart) bandsPlot() *plot.Plot {
	p := plot.New()
	sans(p)
	c.sizes(p)
	var ticks []plot.Tick
	for i := range c.d.Topologies {
		ticks = append(ticks, plot.Tick{Value: float64(-i), Label: c.d.Topologies[i].name()})
	}
	p.Y.Min, p.Y.Max = 0.5-float64(len(ticks)), 0.5
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = plot.ConstantTicks(ticks), 0, 0
	p.Add(c)
	return p
}

// Plot implements plot.Plotter: the bands.
func (c *crossoverChart) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	for i, t := range c.d.Topologies {
		low, high := y(-float64(i)-0.36), y(-float64(i)+0.36)
		for j, b := range t.Bands {
			end := b.To
			if j+1 < len(t.Bands) {
				end = t.Bands[j+1].From
			}
			left, right := x(float64(b.From)), x(float64(end))
			if right-left < 1.5 { // of a single size
				left, right = left-0.75, right+0.75
			}
			canvas.FillPolygon(c.colours[b.Best], []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
			if j > 0 {
				canvas.StrokeLine2(draw.LineStyle{Color: color.White, Width: 1}, left, low, left, high)
			}
			style := sansText(8, draw.XCenter, readableOn(c.colours[b.Best]))
			style.YAlign = draw.YCenter
			if style.Width(b.Best)+6 < right-left {
				canvas.FillText(style, vg.Point{X: (left + right) / 2, Y: (low + high) / 2}, b.Best)
			}
		}
	}
}

// lossLines tell topologies apart without colour, which already means the algorithm.
var lossLines = []struct {
	grey   uint8
	dashes []vg.Length
	glyph  draw.GlyphDrawer
}{
	{0, nil, draw.CircleGlyph{}}, {0, []vg.Length{5, 3}, draw.SquareGlyph{}}, {0, []vg.Length{1.5, 2.5}, draw.TriangleGlyph{}},
	{120, nil, draw.PyramidGlyph{}}, {120, []vg.Length{5, 3}, draw.RingGlyph{}}, {120, []vg.Length{1.5, 2.5}, draw.BoxGlyph{}},
}

// lossPlot is the lower panel.
func (c *crossoverChart) lossPlot() error {
	p := c.loss
	sans(p)
	c.sizes(p)
	p.Y.Label.Text = "runner-up's loss (%)"
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	top := 10.0
	for i, t := range c.d.Topologies {
		var pts plotter.XYs
		for _, r := range t.Rows {
			if r.RunnerUp != "" {
				pts = append(pts, plotter.XY{X: float64(r.SizeBytes), Y: min(100*r.RunnerLoss, mostLoss)})
				top = max(top, pts[len(pts)-1].Y)
			}
		}
		if len(pts) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(pts)
		if err != nil {
			return err
		}
		look := lossLines[i]
		grey := color.RGBA{R: look.grey, G: look.grey, B: look.grey, A: 255}
		line.Color, line.Width, line.Dashes = grey, 1.2, look.dashes
		dots.Color, dots.Shape, dots.Radius = grey, look.glyph, 2.2
		p.Add(line, dots)
		p.Legend.Add(t.name(), line, dots)
	}
	p.Y.Min, p.Y.Max = 0, top*1.05
	if top == mostLoss {
		p.Y.Label.Text = fmt.Sprintf("runner-up's loss (%%), cut at %d", mostLoss)
	}
	p.Legend.Top, p.Legend.XOffs, p.Legend.YOffs, p.Legend.Padding, p.Legend.ThumbnailWidth = true, -8, -6, 2, 26
	return nil
}

// keys places the legend: how far right each name begins, in rows.
func (c *crossoverChart) keys() [][]string {
	style := sansText(9, draw.XLeft, color.Black)
	var rows [][]string
	room := vg.Length(0)
	for _, name := range c.best {
		width := style.Width(name) + 28
		if room < width {
			rows = append(rows, nil)
			room = figureWidth - 30
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], name)
		room -= width
	}
	return rows
}

// bandsBottom is how far down the upper panel ends.
func (c *crossoverChart) bandsBottom() vg.Length {
	return chartTitle + vg.Length(len(c.keys()))*keyRow + 8 + vg.Length(len(c.d.Topologies))*bandRow + bandAxis
}

// paint draws title, legend, the panels with their data areas aligned, and the source.
func (c *crossoverChart) paint(canvas draw.Canvas) {
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	top := canvas.Max.Y
	canvas.FillText(sansText(13, draw.XCenter, color.Black), vg.Point{X: (canvas.Min.X + canvas.Max.X) / 2, Y: top - 18}, "Best schedule of "+c.d.Collective+" against size")
	c.paintKeys(canvas, top-chartTitle)
	upper, lower := canvas, canvas
	upper.Rectangle = vg.Rectangle{Min: vg.Point{X: canvas.Min.X + 6, Y: top - c.bandsBottom()},
		Max: vg.Point{X: canvas.Max.X - 14, Y: top - chartTitle - vg.Length(len(c.keys()))*keyRow - 8}}
	lower.Rectangle = vg.Rectangle{Min: vg.Point{X: upper.Min.X, Y: upper.Min.Y - lossPanel}, Max: vg.Point{X: upper.Max.X, Y: upper.Min.Y - 6}}
	left := max(c.bands.DataCanvas(upper).Min.X, c.loss.DataCanvas(lower).Min.X)
	upper.Min.X += left - c.bands.DataCanvas(upper).Min.X
	lower.Min.X += left - c.loss.DataCanvas(lower).Min.X
	c.bands.Draw(upper)
	c.loss.Draw(lower)
	canvas.FillText(sansText(10, draw.XCenter, color.Black), vg.Point{X: (left + upper.Max.X) / 2, Y: canvas.Min.Y + 21}, "size (bytes; K = 1024)")
	canvas.FillText(sansText(8, draw.XLeft, keyColour), vg.Point{X: canvas.Min.X + 6, Y: canvas.Min.Y + 5}, c.source)
}

// paintKeys draws the legend of the colours.
func (c *crossoverChart) paintKeys(canvas draw.Canvas, top vg.Length) {
	style := sansText(9, draw.XLeft, color.Black)
	for i, row := range c.keys() {
		x, y := canvas.Min.X+15, top-vg.Length(i+1)*keyRow
		for _, name := range row {
			canvas.FillPolygon(c.colours[name], []vg.Point{{X: x, Y: y}, {X: x + 12, Y: y}, {X: x + 12, Y: y + 9}, {X: x, Y: y + 9}})
			canvas.FillText(style, vg.Point{X: x + 16, Y: y}, name)
			x += style.Width(name) + 28
		}
	}
}
