// Package goodput predicts which share of a cluster's time goes into training when parts
// of it fail: analytically, and by a seeded Monte-Carlo run of the same rules.
//
// The rules: failures of each kind come at a constant rate (an exponential distribution)
// for every part. A kind that stops the job throws away the work since the last
// checkpoint and costs a restart; failures during restart and checkpoint count too. A
// kind that does not stop it slows the job down until the part is repaired.
package goodput

import (
	"fmt"
	"math"
)

// Cause is a kind of failure.
type Cause struct {
	Name   string
	Parts  int     // of it in the cluster
	PerDay float64 // failures of one part a day
	// Where the failure does not stop the job: the step's time while it lasts, over the
	// healthy one's; 0 means that it stops the job.
	Slowdown float64
	Repair   float64 // hours until a part that slows the job is whole again
}

func (c Cause) rate() float64 { return float64(c.Parts) * c.PerDay / 24 } // an hour

func (c Cause) stops() bool { return c.Slowdown == 0 }

// Plan is how a job guards itself; all in hours.
type Plan struct {
	Checkpoint float64 // the job stands still while one is written
	Interval   float64 // work between checkpoints; 0: the best one
	Restart    float64 // detect, replace from spares, load the checkpoint
}

// Result is where the time goes; the shares add up to 1.
type Result struct {
	Goodput     float64 // share of time that is training which lasts
	Checkpoints float64 // share spent writing them
	Lost        float64 // share that is done again, or down
	Slowed      float64 // share lost to running on with a part missing
	Interval    float64 // hours of work between checkpoints
	MTBF        float64 // hours between failures that stop the job; +Inf where none does
	StopsADay   float64
}

// Check reports what is wrong with causes or plan.
func Check(causes []Cause, p Plan) error {
	for _, c := range causes {
		switch {
		case c.Parts < 0 || !finite(c.PerDay) || c.PerDay < 0:
			return fmt.Errorf("cause %s: parts and rate must not be negative", c.Name)
		case !finite(c.Slowdown) || c.Slowdown != 0 && c.Slowdown < 1:
			return fmt.Errorf("cause %s: a slowdown is at least 1 (0: the job stops)", c.Name)
		case !finite(c.Repair) || c.Repair < 0:
			return fmt.Errorf("cause %s: the repair time must not be negative", c.Name)
		}
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"checkpoint", p.Checkpoint}, {"interval", p.Interval}, {"restart", p.Restart}} {
		if !finite(f.v) || f.v < 0 {
			return fmt.Errorf("%s: %v hours must not be negative", f.name, f.v)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Analytic is the expected result over a long run: Daly's exact expectation of the time
// that a piece of work needs with exponential failures (J. T. Daly, "A higher order
// estimate of the optimum checkpoint interval for restart dumps", FGCS 22, 2006, eq. 13),
// and for failures that only slow the job the mean slowdown of M/G/∞ queues of repairs,
// which act one beside the other.
func Analytic(causes []Cause, p Plan) (Result, error) {
	if err := Check(causes, p); err != nil {
		return Result{}, err
	}
	stops := stopRate(causes)
	r := Result{Interval: p.Interval, MTBF: math.Inf(1), StopsADay: stops * 24}
	if stops > 0 {
		r.MTBF = 1 / stops
	}
	if r.Interval == 0 {
		r.Interval = BestInterval(stops, p)
	}
	slow := meanSlowdown(causes)
	work, wall := 1.0, 1.0
	if !math.IsInf(r.Interval, 1) {
		work, wall = r.Interval, piece(stops, p.Restart, r.Interval+p.Checkpoint)
	}
	useful := work / wall
	r.Checkpoints = 0
	if !math.IsInf(r.Interval, 1) {
		r.Checkpoints = p.Checkpoint / wall
	}
	r.Lost = 1 - useful - r.Checkpoints
	r.Goodput = useful / slow
	r.Slowed = useful - r.Goodput
	return r, nil
}

func stopRate(causes []Cause) float64 {
	sum := 0.0
	for _, c := range causes {
		if c.stops() {
			sum += c.rate()
		}
	}
	return sum
}

// piece is the expected time for a piece of work, hours, that starts anew after each failure.
func piece(rate, restart, work float64) float64 {
	if rate == 0 {
		return work
	}
	return math.Exp(rate*restart) * math.Expm1(rate*work) / rate
}

// BestInterval minimises the expected time for a unit of work: the root of
// (1−rate·τ)·e^(rate·(τ+C)) = 1 (the derivative of Daly's expectation), by bisection.
func BestInterval(rate float64, p Plan) float64 {
	if rate == 0 {
		return math.Inf(1)
	}
	if p.Checkpoint == 0 {
		return 1e-6 / rate // free checkpoints: as often as one likes
	}
	lo, hi := 0.0, 1/rate
	for range 200 {
		mid := (lo + hi) / 2
		if (1-rate*mid)*math.Exp(rate*(mid+p.Checkpoint)) > 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// meanSlowdown is the mean of the step's time over the healthy one's when the slowing
// causes act: the worst one present counts. Parts under repair are Poisson distributed.
func meanSlowdown(causes []Cause) float64 {
	speed, above := 0.0, 1.0 // above: no cause slower than those passed so far is present
	for _, c := range slowestFirst(causes) {
		none := math.Exp(-c.rate() * c.Repair)
		speed += above * (1 - none) / c.Slowdown
		above *= none
	}
	return 1 / (speed + above)
}
