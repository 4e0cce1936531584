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

// InARow are costs of operations in a row, as those of engines between nodes are found: of messages one thread carries, whose α passes
// while others move, and of messages on several streams, whose α does not.
func InARow() []*cost.Profile {
	inside := cost.Curve{Medium: "any", Protocol: "any", Receive: 1100 * units.Nanosecond,
		Segments: []cost.Segment{{Alpha: 2300 * units.Nanosecond, Rate: 43_700_000_000, Efficiency: 0.97}}}
	segments := []cost.Segment{{Alpha: 12345 * units.Nanosecond, Rate: 3_300_000_000, Efficiency: 0.17},
		{From: 64 * units.KiB, Alpha: 12345 * units.Nanosecond, Rate: 4_100_000_000, Efficiency: 0.29},
		{From: 2 * units.MiB, Alpha: 13 * units.Microsecond, Rate: 3_700_000_000, Efficiency: 0.21}}
	thread := cost.Curve{Medium: "network", Protocol: "any", Segments: segments, Smooth: true, Row: true, Ahead: true,
		Launch: 1200 * units.Nanosecond, Receive: 3100 * units.Nanosecond, Gap: 2900 * units.Nanosecond, Part: 700 * units.Nanosecond,
		Carrier: 4_500_000_000, Reduce: 33 * units.GBps, Copy: 49 * units.GBps}
	streams := cost.Curve{Medium: "network", Protocol: "any", Segments: segments, Row: true, Launch: 3700 * units.Nanosecond,
		Receive: 14 * units.Microsecond, Gap: 2100 * units.Nanosecond, Further: 3700 * units.Nanosecond, Carrier: 4_300_000_000,
		Channels: true, Node: 11_800_000_000}
	return []*cost.Profile{{Name: "thread", Curves: []cost.Curve{thread, inside}}, {Name: "streams", Curves: []cost.Curve{streams, inside}}}
}
