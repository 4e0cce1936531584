package symmetry

// Orbits are sets of points, joined as permutations take them to one another. The least of a
// set stands for it.
//
// R. E. Tarjan, "Efficiency of a good but not linear set union algorithm", 1975.
type Orbits struct{ parent, size []int32 }

// NewOrbits are n points, each by itself.
func NewOrbits(n int) *Orbits {
	o := &Orbits{parent: make([]int32, n), size: make([]int32, n)}
	for i := range o.parent {
		o.parent[i], o.size[i] = int32(i), 1
	}
	return o
}

// First is the least point of a point's orbit.
func (o *Orbits) First(p int) int {
	x := int32(p)
	for o.parent[x] != x {
		up := &o.parent[x]
		*up = o.parent[*up] // halve the path
		x = *up
	}
	return int(x)
}

// Size is how many points there are in a point's orbit.
func (o *Orbits) Size(p int) int { return int(o.size[o.First(p)]) }

// Join makes one orbit of two.
func (o *Orbits) Join(a, b int) {
	a, b = o.First(a), o.First(b)
	if a != b {
		low, high := min(a, b), max(a, b)
		o.parent[high] = int32(low)
		o.size[low] += o.size[high]
	}
}

// Classes are the orbits, numbered.
func (o *Orbits) Classes() Classes {
	first := make([]int32, len(o.parent))
	for p := range first {
		first[p] = int32(o.First(p))
	}
	return Number(first)
}
