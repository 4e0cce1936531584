package units_test

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/model/units"
)

// TestGCD: it divides all numbers, and what is left of them has no other common divisor.
func TestGCD(t *testing.T) {
	if g := units.GCD[int64](); g != 0 {
		t.Error(g)
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, 5000), 1, 4).Draw(t, "list")
		g, want := units.GCD(list...), 0
		for d := 1; d <= 5000; d++ {
			all := true
			for _, x := range list {
				all = all && x%d == 0
			}
			if all {
				want = d
			}
		}
		if zero := units.GCD(append(list, 0)...); zero != g {
			t.Fatalf("with 0: %d, without %d", zero, g)
		}
		if g == 0 {
			want = 0 // only zeros: every number divides them
		}
		if g != want {
			t.Fatalf("%d, want %d", g, want)
		}
	})
}
