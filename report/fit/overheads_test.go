package fit

import (
	"testing"

	"railyard/model/units"
)

func TestOverheads(t *testing.T) {
	const launch, alpha = 600 * units.Nanosecond, 150 * units.Nanosecond
	var rows []Features
	for _, messages := range []units.Time{1, 8, 64} {
		for _, line := range []units.Time{20 * units.Nanosecond, 300 * units.Nanosecond} {
			rows = append(rows, Features{Messages: float64(messages), Line: line, Time: launch + messages*alpha + line})
		}
	}
	l, a, mean := Overheads(rows)
	if max(l-launch, launch-l) > units.Nanosecond || max(a-alpha, alpha-a) > units.Nanosecond || mean > 1e-3 {
		t.Errorf("%v and %v, error %v; want %v and %v", l, a, mean, launch, alpha)
	}
	for i := range rows {
		rows[i].Line = 2 * rows[i].Time // bytes that take longer than all
	}
	if l, a, _ = Overheads(rows); l != 0 || a != 0 {
		t.Errorf("%v and %v of runs faster than their bytes: must be 0", l, a)
	}
}
