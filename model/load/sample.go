package load

import (
	"context"
	"time"

	"railyard/model/health"
)

// Sample is what a machine's counters said at a moment.
type Sample struct {
	At    time.Time // differences of two go by the monotonic clock, where it was read on this machine
	State *health.State
	// Brief are two readings, a moment apart, of the counters that may go round more than once until the next sample; none where none may.
	Brief []Sample
}

// Source is where samples come from: the live machine, or files.
type Source interface {
	// Next waits until a sample is due, and takes it; io.EOF says that there are no more.
	Next(ctx context.Context) (Sample, error)
}

// counterIncrease is how much a counter grew between two samples: to the same value it did not; where it ran backwards, it was
// either wrapped or cleared. It is taken for wrapped where it can be, and where it then grew by less than half of its range, as
// sequence numbers are read (RFC 1982); else it counts from zero, which is the least that it can have grown.
func counterIncrease(f health.Fact, before, after float64) (by float64, cleared bool) {
	if after >= before {
		return after - before, false
	}
	if by := after + f.Wraps - before; by > 0 && by < f.Wraps/2 {
		return by, false
	}
	return after, true
}
