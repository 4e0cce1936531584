package figures

import (
	"testing"

	_ "railyard/internal/long"
	"railyard/report/chart"
)

// TestNothingBeatsTheIdeal: machines so small that memory forces a slow layout lie below the ideal, and so does the largest, by its
// efficiency.
func TestNothingBeatsTheIdeal(t *testing.T) {
	points := []ScalePoint{{GPUs: 8, UnitsPerSecond: 60_000, Efficiency: 1}, {GPUs: 64, UnitsPerSecond: 570_000, Efficiency: .998},
		{GPUs: 512, UnitsPerSecond: 4_600_000, Efficiency: .995}}
	l := Scaling("w", "tokens", "test", points).(*chart.Lines)
	ideal, got := l.Series[0].Points, l.Series[1].Points
	for i := range points {
		if got[i].Y > ideal[i].Y {
			t.Errorf("%v GPUs: %v, ideal %v", got[i].X, got[i].Y, ideal[i].Y)
		}
	}
	if share := got[2].Y / ideal[2].Y; share < .994 || share > .996 {
		t.Errorf("the figure says %.4f, the efficiency is 0.995", share)
	}
}
