package symmetry

import "slices"

// Product is the group of points in a grid whose coordinates along each axis a group of its own
// permutes. There may be places without a point, if these groups leave them empty.
type Product struct {
	radix Digits
	axes  []Group
	place []int32 // by point: its number in mixed radix; nil: its own
	point []int32 // by place; −1: none
}

// NewProduct is the one of groups along the axes of a grid, the last one fastest. place says where points are, by their numbers in
// mixed radix; nil: each at its own.
func NewProduct(dims, place []int32, axes []Group) *Product {
	g := &Product{radix: Radix(dims), axes: axes, place: place}
	if place != nil {
		g.point = slices.Repeat([]int32{-1}, g.radix.Count())
		for p, at := range place {
			g.point[at] = int32(p)
		}
	}
	return g
}

func (g *Product) placeOf(p int) int32 {
	if g.place == nil {
		return int32(p)
	}
	return g.place[p]
}

func (g *Product) at(place int32) int {
	if g.place == nil {
		return int(place)
	}
	return int(g.point[place])
}

// Orbit is that of all coordinates.
func (g *Product) Orbit(p int) (first, size int) {
	size = 1
	place := int32(0)
	for i, d := range g.radix {
		c, n := g.axes[i].Orbit(int(d.Of(g.placeOf(p))))
		place, size = place+int32(c)*d.Stride, size*n
	}
	return g.at(place), size
}

// Pair is that of all coordinates.
func (g *Product) Pair(a, b int) (to, count int) {
	count = 1
	place := int32(0)
	for i, d := range g.radix {
		c, n := g.axes[i].Pair(int(d.Of(g.placeOf(a))), int(d.Of(g.placeOf(b))))
		place, count = place+int32(c)*d.Stride, count*n
	}
	return g.at(place), count
}

// Generators are those along each axis.
func (g *Product) Generators() (out []func(int) int) {
	for i := range g.radix {
		for _, f := range g.axes[i].Generators() {
			to := make([]func(int) int, len(g.radix))
			to[i] = f
			out = append(out, g.along(to))
		}
	}
	return out
}

// along permutes the coordinates along each axis; nil: not along that one.
func (g *Product) along(axes []func(int) int) func(int) int {
	return func(p int) int {
		place := g.placeOf(p)
		for i, d := range g.radix {
			if axes[i] != nil {
				c := d.Of(place)
				place += (int32(axes[i](int(c))) - c) * d.Stride
			}
		}
		return g.at(place)
	}
}

// To is that along each axis.
func (g *Product) To(p int) (to, back func(int) int) {
	there, home := make([]func(int) int, len(g.radix)), make([]func(int) int, len(g.radix))
	for i, d := range g.radix {
		there[i], home[i] = g.axes[i].To(int(d.Of(g.placeOf(p))))
	}
	return g.along(there), g.along(home)
}

// Fixing is that along each axis.
func (g *Product) Fixing(p int) Group {
	out := *g
	out.axes = slices.Clone(g.axes)
	for i, d := range g.radix {
		out.axes[i] = g.axes[i].Fixing(int(d.Of(g.placeOf(p))))
	}
	return &out
}

// Restricted is the group along those axes along which any generator is wanted.
func (g *Product) Restricted(wanted func(to func(int) int) bool) *Product {
	out := *g
	out.axes = slices.Clone(g.axes)
	for i := range g.axes {
		only := *g
		only.axes = slices.Repeat([]Group{Digits{}}, len(g.axes))
		only.axes[i] = g.axes[i]
		if !slices.ContainsFunc(only.Generators(), wanted) {
			out.axes[i] = Digits{}
		}
	}
	return &out
}
