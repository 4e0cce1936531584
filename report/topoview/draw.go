package topoview

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"railyard/model/topology"
	"railyard/report/chart"
)

// Size of the picture.
const (
	width  = 30 * vg.Centimeter
	height = 20 * vg.Centimeter
)

// layers are the rows of a picture, top to bottom.
var layers = []topology.Kind{topology.Core, topology.Spine, topology.Leaf, topology.NIC, topology.CPU, topology.PCIeSwitch,
	topology.Memory, topology.GPU, topology.NVSwitch}

// mediumColour gives each medium its colour, the same in every picture.
func mediumColour(m topology.Medium) color.Color { return chart.Palette[int(m)%len(chart.Palette)] }

// Draw makes a picture of a topology, and returns how to write it in the format that
// the file's name says. One node is drawn device by device; where there are several,
// the first one stands for all and the fabric's switches are drawn above it, at most
// maxBoxes a level.
func Draw(t *topology.Topology, file string) (func(io.Writer) error, error) {
	return DrawLoaded(t, file, nil)
}

// DrawLoaded is Draw with links as wide and dark as they are used: load is the utilisation
// of each link that carries anything, from 0 to 1; nil draws their rates.
func DrawLoaded(t *topology.Topology, file string, load map[topology.LinkID]float64) (func(io.Writer) error, error) {
	c, write, err := chart.NewCanvas(file, width, height)
	if err != nil {
		return nil, fmt.Errorf("-o %w", err)
	}
	paint(c, t, load)
	return write, nil
}

// maxBoxes is how many devices of a kind are drawn; the count says how many there are.
const maxBoxes = 24

// picture is a topology laid out.
type picture struct {
	t      *topology.Topology
	canvas draw.Canvas
	where  map[topology.DeviceID]vg.Point
	shown  map[topology.Kind]int
	total  map[topology.Kind]int
	text   draw.TextStyle
	load   map[topology.LinkID]float64 // utilisation; nil: links show their rates
}

func paint(c draw.Canvas, t *topology.Topology, load map[topology.LinkID]float64) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	p := &picture{t: t, canvas: c, load: load, where: map[topology.DeviceID]vg.Point{}, shown: map[topology.Kind]int{},
		total: map[topology.Kind]int{}}
	p.text = plot.New().X.Label.TextStyle
	p.text.Font.Size, p.text.Font.Variant = 9, "Sans"
	p.text.XAlign, p.text.YAlign = -0.5, -0.5
	p.place()
	p.links()
	p.boxes()
	p.captions()
}

// wanted picks the devices to draw: the first node and the fabric's switches.
func (p *picture) wanted() map[topology.Kind][]topology.DeviceID {
	out := map[topology.Kind][]topology.DeviceID{}
	nodes := int32(1)
	if p.t.NumRanks() <= maxBoxes {
		nodes = int32(p.t.NumNodes())
	}
	for i, d := range p.t.Devices() {
		kind := d.Kind
		if kind == topology.Thread {
			kind = topology.GPU
		}
		p.total[kind]++
		if d.Node < nodes && len(out[kind]) < maxBoxes {
			out[kind] = append(out[kind], topology.DeviceID(i))
			p.shown[kind]++
		}
	}
	return out
}

func (p *picture) place() {
	devices := p.wanted()
	var rows []topology.Kind
	for _, k := range layers {
		if len(devices[k]) > 0 {
			rows = append(rows, k)
		}
	}
	left, right, bottom, top := vg.Length(70), width-20, vg.Length(60), height-50
	for i, k := range rows {
		y := top - vg.Length(float64(i)+0.5)/vg.Length(len(rows))*(top-bottom)
		list := devices[k]
		for j, d := range list {
			x := left + vg.Length(float64(j)+0.5)/vg.Length(len(list))*(right-left)
			p.where[d] = vg.Point{X: x, Y: y}
		}
		label := fmt.Sprintf("%s × %d", k, p.total[k])
		style := p.text
		style.XAlign = 0
		p.canvas.FillText(style, vg.Point{X: 6, Y: y}, label)
	}
	if p.meshed(devices[topology.GPU]) {
		p.ring(devices[topology.GPU], bottom, top, len(rows))
	}
}

// meshed reports whether ranks are joined directly, which a row cannot show.
func (p *picture) meshed(gpus []topology.DeviceID) bool {
	for _, d := range gpus {
		for _, l := range p.t.Out(d) {
			if p.t.RankOf(p.t.Links()[l].To) >= 0 {
				return true
			}
		}
	}
	return false
}

// ring bends the row of ranks into a flat ellipse.
func (p *picture) ring(gpus []topology.DeviceID, bottom, top vg.Length, rows int) {
	centre := vg.Point{X: (70 + width - 20) / 2, Y: p.where[gpus[0]].Y}
	rx := (width - 90) * 0.42
	ry := (top - bottom) / vg.Length(rows) * 0.42
	for i, d := range gpus {
		a := 2*math.Pi*float64(i)/float64(len(gpus)) + math.Pi/float64(len(gpus))
		p.where[d] = vg.Point{X: centre.X + rx*vg.Length(math.Cos(a)), Y: centre.Y + ry*vg.Length(math.Sin(a))}
	}
}

// links draws each pair of devices once, as wide as its bandwidth says.
func (p *picture) links() {
	var most float64
	for l := range p.t.Links() {
		most = max(most, p.t.Rate(topology.LinkID(l)).GBps())
	}
	for i, l := range p.t.Links() {
		a, okA := p.where[l.From]
		b, okB := p.where[l.To]
		if !okA || !okB || l.From > l.To {
			continue
		}
		w := 0.5 + 4*math.Sqrt(p.t.Rate(topology.LinkID(i)).GBps()/most)
		style := draw.LineStyle{Color: mediumColour(p.t.Class(topology.LinkID(i)).Medium), Width: vg.Length(w)}
		if p.load != nil {
			style = loadStyle(max(p.load[topology.LinkID(i)], p.load[p.back(l)]))
		}
		p.canvas.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
	}
}

// loadStyle shows a utilisation by colour and width.
func loadStyle(u float64) draw.LineStyle {
	if u == 0 {
		return draw.LineStyle{Color: color.Gray{Y: 225}, Width: 0.4}
	}
	return draw.LineStyle{Color: chart.Shade(u), Width: vg.Length(0.6 + 4*u)}
}

// back is a link's other direction.
func (p *picture) back(l topology.Link) topology.LinkID {
	for _, o := range p.t.Out(l.To) {
		if p.t.Links()[o].To == l.From && p.t.Links()[o].Class == l.Class {
			return o
		}
	}
	return topology.NoLink
}

func (p *picture) boxes() {
	for d := range p.t.Devices() {
		at, ok := p.where[topology.DeviceID(d)]
		if !ok {
			continue
		}
		dev := p.t.Devices()[d]
		label := dev.Kind.String() + strconv.Itoa(p.number(topology.DeviceID(d)))
		if n := p.shown[dev.Kind]; n > 12 {
			label = strconv.Itoa(p.number(topology.DeviceID(d)))
		}
		w, h := p.text.Width(label)+8, vg.Length(15)
		box := []vg.Point{{X: at.X - w/2, Y: at.Y - h/2}, {X: at.X + w/2, Y: at.Y - h/2}, {X: at.X + w/2, Y: at.Y + h/2},
			{X: at.X - w/2, Y: at.Y + h/2}}
		fill := color.Color(color.Gray{Y: 245})
		if dev.Kind.HoldsRank() {
			fill = color.RGBA{R: 214, G: 234, B: 200, A: 255}
		}
		p.canvas.FillPolygon(fill, box)
		p.canvas.StrokeLines(draw.LineStyle{Color: color.Gray{Y: 90}, Width: 0.7}, append(box, box[0]))
		p.canvas.FillText(p.text, at, label)
	}
}

// number is a device's place among its kind in its node.
func (p *picture) number(d topology.DeviceID) int {
	dev := p.t.Devices()[d]
	n := 0
	for i := d - 1; i >= 0 && p.t.Devices()[i].Node == dev.Node; i-- {
		if p.t.Devices()[i].Kind == dev.Kind {
			n++
		}
	}
	return n
}

// captions writes the title and the legend.
func (p *picture) captions() {
	title := p.text
	title.Font.Size, title.XAlign = 14, 0
	name := p.t.Name()
	if n := p.t.NumNodes(); n > 1 {
		name += fmt.Sprintf(": %d nodes, %d ranks", n, p.t.NumRanks())
		if p.t.NumRanks() > maxBoxes {
			name += " (the first node stands for all)"
		}
	}
	p.canvas.FillText(title, vg.Point{X: 6, Y: height - 20}, name)
	x := vg.Length(6)
	if p.load != nil {
		for _, u := range []float64{0, 0.25, 0.5, 0.75, 1} {
			p.canvas.StrokeLine2(loadStyle(u), x, 16, x+18, 16)
			style := p.text
			style.XAlign = 0
			label := fmt.Sprintf("%.0f %% used", 100*u)
			p.canvas.FillText(style, vg.Point{X: x + 23, Y: 16}, label)
			x += style.Width(label) + 40
		}
		return
	}
	used := map[int32]bool{}
	for _, l := range p.t.Links() {
		used[l.Class] = true
	}
	for i, c := range p.t.Classes() {
		if !used[int32(i)] {
			continue
		}
		p.canvas.StrokeLine2(draw.LineStyle{Color: mediumColour(c.Medium), Width: 4}, x, 16, x+18, 16)
		style := p.text
		style.XAlign = 0
		label := fmt.Sprintf("%s %v", c.Name, c.Rate)
		p.canvas.FillText(style, vg.Point{X: x + 23, Y: 16}, label)
		x += style.Width(label) + 40
	}
}
