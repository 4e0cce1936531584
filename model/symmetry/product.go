package symmetry

import "slices"

// Product is the group of points in a grid whose coordinates along each axis a group of its own
// permutes. There may be places without a point, if these groups leave them empty.
type Product struct {
	radix Digits
	axes  []Group
	place []int32 // by point: its number in mixed radix
	point []int32 // by place; −1: none
}

// NewProduct is the one of groups along the axes of a grid, the last one fastest. place says where points are, by their numbers in
// mixed radix.
func NewProduct(dims, place []int32, axes []Group) *Product {
	g := &Product{radix: Radix(dims), axes: axes, place: place}
	g.point = slices.Repeat([]int32{-1}, g.radix.Count())
	for p, at := range place {
		g.point[at] = int32(p)
	}
	return g
}

// InPlace are the places of points that stand in order on the grid.
func InPlace(points int) []int32 {
	out := make([]int32, points)
	for p := range out {
		out[p] = int32(p)
	}
	return out
}

// Orbit is that of all coordinates.
func (g *Product) Orbit(p int) (first, size int) {
	size = 1
	place := int32(0)
	for i, d := range g.radix {
		c, n := g.axes[i].Orbit(int(d.Of(g.place[p])))
		place, size = place+int32(c)*d.Stride, size*n
	}
	return int(g.point[place]), size
}

// Pair is that of all coordinates.
func (g *Product) Pair(a, b int) (to, count int) {
	count = 1
	place := int32(0)
	for i, d := range g.radix {
		c, n := g.axes[i].Pair(int(d.Of(g.place[a])), int(d.Of(g.place[b])))
		place, count = place+int32(c)*d.Stride, count*n
	}
	return int(g.point[place]), count
}

// Generators are those along each axis.
func (g *Product) Generators() (out []func(int) int) {
	for i, d := range g.radix {
		for _, f := range g.axes[i].Generators() {
			out = append(out, func(p int) int {
				place := g.place[p]
				c := d.Of(place)
				return int(g.point[place+(int32(f(int(c)))-c)*d.Stride])
			})
		}
	}
	return out
}
