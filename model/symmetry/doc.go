// Package symmetry holds what finding symmetry needs, over plain numbers: groups of
// permutations of points with the orbits of points and of pairs, orbits of other things that
// go along, and classes of equal colours. Who asks says what the points are: nodes of a
// topology, ranks of a schedule, lanes of a simulation.
package symmetry

// Group is a group of permutations of the points 0 … n−1.
type Group interface {
	// Orbit is the point that stands for all to which the group takes p, and how many those are.
	Orbit(p int) (first, size int)
	// Pair is where b is when a is at the first point of its orbit: the point that stands for
	// all to which the permutations that leave that one where it is take b, and how many those are.
	Pair(a, b int) (to, count int)
	// Generators are permutations that generate the group.
	Generators() []func(p int) int
}
