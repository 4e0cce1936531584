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
	for i, d := range g.radix {
		for _, f := range g.axes[i].Generators() {
			out = append(out, func(p int) int {
				place := g.placeOf(p)
				c := d.Of(place)
				return g.at(place + (int32(f(int(c)))-c)*d.Stride)
			})
		}
	}
	return out
}
