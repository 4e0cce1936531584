package sim

import (
	"math"
	"math/bits"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/units"
)

// pairs are the slow oracle of a pipeline of recursive doubling over ports of a rate each:
// floating-point numbers, all flows looked at in every step.
type pairs struct {
	port  []float64 // by rank, both ways, bytes/s
	steps int
	part  float64 // a rank's bytes of a slice
	at    []int   // by rank: the exchange that it is in, over all slices
	sent  []int   // by rank: exchanges begun
	moved map[message]bool
	left  map[message]float64 // bytes of what is on its way
}

// message is what a rank sends in an exchange.
type message struct{ from, exchange int }

func (p *pairs) to(m message) int { return m.from ^ 1<<(m.exchange%p.steps) }

// takes is how long an all-gather of some slices takes.
func (p *pairs) takes(slices int) (time float64) {
	for p.begin(slices); len(p.left) > 0; p.begin(slices) {
		rate := p.rates()
		least := math.Inf(1)
		for m, bytes := range p.left {
			least = min(least, bytes/rate[m])
		}
		time += least
		for m := range p.left {
			if p.left[m] -= rate[m] * least; p.left[m] < 1e-3 {
				delete(p.left, m)
				p.moved[m] = true
			}
		}
	}
	return time
}

// begin lets all ranks go on: they send, and wait for what their partner sends.
func (p *pairs) begin(slices int) {
	for changed := true; changed; {
		changed = false
		for r := range p.at {
			m := message{r, p.at[r]}
			if p.at[r] == slices*p.steps {
				continue
			}
			if p.sent[r] == p.at[r] {
				p.sent[r]++
				p.left[m] = p.part * float64(int(1)<<(m.exchange%p.steps))
				changed = true
			}
			if p.moved[message{p.to(m), m.exchange}] {
				p.at[r]++
				changed = true
			}
		}
	}
}

// rates are max-min fair: the fullest port fixes its flows, and so on.
func (p *pairs) rates() map[message]float64 {
	rate := map[message]float64{}
	for len(rate) < len(p.left) {
		least, full := math.Inf(1), []message(nil)
		for r, port := range p.port {
			for _, end := range []func(message) int{func(m message) int { return m.from }, p.to} {
				free, open := port, []message(nil)
				for m := range p.left {
					if x, fixed := rate[m]; end(m) == r && fixed {
						free -= x
					} else if end(m) == r {
						open = append(open, m)
					}
				}
				if len(open) > 0 && free/float64(len(open)) < least {
					least, full = free/float64(len(open)), open
				}
			}
		}
		for _, m := range full {
			rate[m] = least
		}
	}
	return rate
}

// A pipeline of exchanges between pairs falls out of step where one port is 1 % slower: that is what
// fair shares of ports do to it, and no fault of the engine.
func TestPairsFallOutOfStep(t *testing.T) {
	const rate = 50e9
	for _, c := range []struct{ ranks, slices int }{{4, 1}, {4, 16}, {8, 1}, {8, 4}, {8, 8}, {16, 4}} {
		topo, err := switched(t, c.ranks, "50GB/s", "0ns").Degrade(gen.Faults("link:gpu2--sw=0.99"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Run(topo, flat(schedule.GenDoubling, collective.AllGather, c.ranks, c.slices), units.GiB, profile(t, "ideal"),
			Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := pairs{port: make([]float64, c.ranks), steps: bits.Len(uint(c.ranks)) - 1, part: float64(units.GiB) / float64(c.ranks*c.slices),
			at: make([]int, c.ranks), sent: make([]int, c.ranks), moved: map[message]bool{}, left: map[message]float64{}}
		for r := range p.port {
			p.port[r] = rate
		}
		p.port[2] *= 0.99
		if want := p.takes(c.slices) * 1e12; math.Abs(float64(got.Time)-want) > 1e-6*want {
			t.Errorf("%d ranks, %d slices: %v, want %v", c.ranks, c.slices, got.Time, units.Time(want))
		}
	}
}
