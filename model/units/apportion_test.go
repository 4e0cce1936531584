package units_test

import (
	"slices"
	"testing"

	"railyard/model/units"
)

func TestApportion(t *testing.T) {
	third := 1. / 3
	for _, c := range []struct {
		whole int
		parts []float64
		want  []int
	}{
		{0, nil, []int{}},
		{7, nil, []int{}},
		{7, []float64{1}, []int{7}},
		{10, []float64{third, third, third}, []int{4, 3, 3}},
		{3, []float64{1 - 2*third, third, third}, []int{1, 1, 1}},
		{5, []float64{0.5, 0, 0.5}, []int{3, 0, 2}},
		{10, []float64{0.26, 0.26, 0.48}, []int{3, 2, 5}},
		{100, []float64{0.005, 0.4975, 0.4975}, []int{0, 50, 50}},
	} {
		if got := units.Apportion(c.whole, c.parts); !slices.Equal(got, c.want) {
			t.Errorf("%d in parts of %v: %v, want %v", c.whole, c.parts, got, c.want)
		}
	}
}
