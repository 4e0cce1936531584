package symmetry

// Product is the group of points in a grid whose coordinates along each axis a group of its own
// permutes.
type Product struct {
	radix Digits
	axes  []Group
}

// NewProduct is the one of groups along the axes of a grid, the last one fastest.
func NewProduct(dims []int32, axes []Group) *Product { return &Product{Radix(dims), axes} }

// Orbit is that of all coordinates.
func (g *Product) Orbit(p int) (first, size int) {
	size = 1
	for i, d := range g.radix {
		c, n := g.axes[i].Orbit(int(d.Of(int32(p))))
		first, size = first+c*int(d.Stride), size*n
	}
	return first, size
}

// Pair is that of all coordinates.
func (g *Product) Pair(a, b int) (to, count int) {
	count = 1
	for i, d := range g.radix {
		c, n := g.axes[i].Pair(int(d.Of(int32(a))), int(d.Of(int32(b))))
		to, count = to+c*int(d.Stride), count*n
	}
	return to, count
}

// Generators are those along each axis.
func (g *Product) Generators() (out []func(int) int) {
	for i, d := range g.radix {
		for _, f := range g.axes[i].Generators() {
			out = append(out, func(p int) int {
				c := int(d.Of(int32(p)))
				return p + (f(c)-c)*int(d.Stride)
			})
		}
	}
	return out
}
