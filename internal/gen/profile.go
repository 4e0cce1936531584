package gen

import (
	"railyard/model/cost"
	"railyard/model/units"
)

// Curved is a profile with a launch, a gap, an α, a cap and an efficiency that change with the
// size and are no round numbers.
func Curved() *cost.Profile {
	return &cost.Profile{Name: "curved", Latencies: true, Launch: 3 * units.Microsecond, Reduce: 333 * units.GBps,
		Curves: []cost.Curve{{Medium: "any", Protocol: "any", Gap: 377 * units.Nanosecond, Segments: []cost.Segment{
			{Alpha: 700 * units.Nanosecond, Efficiency: 0.37},
			{From: 8 * units.KiB, Alpha: 1333 * units.Nanosecond, Rate: 17_300_000_000, Efficiency: 0.83},
			{From: units.MiB, Alpha: 2 * units.Microsecond, Efficiency: 0.91},
		}}}}
}
