package symmetry_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/symmetry"
)

// Orbits of points and of pairs are those that the generators make, point by point.
func TestGroupsByTheirGenerators(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range 200 {
		n, g := randomTree(rng)
		againstGenerators(t, n, g)
		digits := randomDigits(rng)
		againstGenerators(t, digits.Count()*2, digits)
		if n < 7 {
			axis := randomDigits(rng)[:1]
			axis[0].Stride = 1
			points := n * int(axis[0].Size)
			product := symmetry.NewProduct([]int32{int32(n), axis[0].Size}, symmetry.InPlace(points), []symmetry.Group{g, axis})
			againstGenerators(t, points, product)
		}
	}
}

func againstGenerators(t *testing.T, n int, g symmetry.Group) {
	t.Helper()
	points, pairs := symmetry.NewOrbits(n), symmetry.NewOrbits(n*n)
	for _, p := range g.Generators() {
		hit := make([]bool, n)
		for a := range n {
			if hit[p(a)] {
				t.Fatalf("%+v: no permutation", g)
			}
			hit[p(a)] = true
			points.Join(a, p(a))
			for b := range n {
				pairs.Join(a*n+b, p(a)*n+p(b))
			}
		}
	}
	for a := range n {
		first, size := g.Orbit(a)
		if points.First(a) != points.First(first) || points.Size(a) != size {
			t.Fatalf("%+v: the orbit of %d is that of %d, of %d points", g, a, first, size)
		}
		if again, _ := g.Orbit(points.First(a)); again != first {
			t.Fatalf("%+v: orbit of %d: %d and %d stand for it", g, a, first, again)
		}
		for b := range n {
			to, count := g.Pair(a, b)
			if pairs.First(a*n+b) != pairs.First(first*n+to) || pairs.Size(a*n+b) != size*count {
				t.Fatalf("%+v: the pair of %d and %d is not that of %d and %d, %d of each", g, a, b, first, to, count)
			}
		}
	}
}

// Rows of a grid may be of several lengths: those of one length change places, and columns that as many rows have.
func TestGridsWithGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for range 100 {
		lengths := make([]int32, 1+rng.IntN(4))
		for i := range lengths {
			lengths[i] = 1 + rng.Int32N(4)
		}
		columns := make([]int32, slices.Max(lengths))
		var place []int32
		for row, n := range lengths {
			for c := range n {
				columns[c]++
				place = append(place, int32(row*len(columns))+c)
			}
		}
		dims := []int32{int32(len(lengths)), int32(len(columns))}
		axes := []symmetry.Group{symmetry.NewTree(lengths, nil), symmetry.NewTree(columns, nil)}
		againstGenerators(t, len(place), symmetry.NewProduct(dims, place, axes))
	}
}

// randomTree has groups of any sizes in up to three tiers, and now and then one that is not a
// tier of the tree.
func randomTree(rng *rand.Rand) (int, *symmetry.Tree) {
	n := 1 + rng.IntN(14)
	labels := make([]int32, n)
	for range rng.IntN(3) {
		labels[rng.IntN(n)] = int32(rng.IntN(2))
	}
	var tiers [][]int32
	of := rng.Perm(n)
	for groups := n; groups > 1 && len(tiers) < 3; {
		groups = 1 + rng.IntN(groups)
		tier := make([]int32, n)
		size := (n + groups - 1) / groups
		for i := range tier {
			tier[i] = int32(i / size)
			if rng.IntN(40) == 0 {
				tier[i] = int32(of[i])
			}
		}
		tiers = append(tiers, tier)
	}
	return n, symmetry.NewTree(labels, tiers)
}

// randomDigits are digits of numbers below twice their count.
func randomDigits(rng *rand.Rand) symmetry.Digits {
	var sizes []int32
	for range 1 + rng.IntN(3) {
		sizes = append(sizes, int32(1+rng.IntN(4)))
	}
	out := symmetry.Radix(append([]int32{2}, sizes...))[1:]
	for i := range out {
		out[i].Xor = out[i].Size&(out[i].Size-1) == 0 && rng.IntN(2) == 0
	}
	return out
}

// Moves compose, and go back.
func TestMovesGoBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for range 100 {
		g := randomDigits(rng)
		all := g.All()
		if slices.Sort(all); len(slices.Compact(all)) != g.Count() {
			t.Fatalf("%+v: moves %v", g, all)
		}
		for x := range int32(2 * g.Count()) {
			first, _ := g.Orbit(int(x))
			if g.Move(int32(first), g.By(x)) != x {
				t.Fatalf("%+v: %d does not come from its original", g, x)
			}
			for _, by := range all {
				if g.Move(g.Move(x, by), g.Inverse(by)) != x {
					t.Fatalf("%+v: %d moved by %d does not come back", g, x, by)
				}
			}
		}
	}
}
