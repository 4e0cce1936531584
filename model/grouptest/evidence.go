package grouptest

import "math"

// Result is how a test ended.
type Result struct {
	Test
	By     int     // what it was measured by, from 0, which measures next tests: results are off by together, and slowed, by each alike
	Longer float64 // logarithm of its time over what is expected of this group where it is healthy
}

// Noise is how far results are off, all as logarithms of times.
type Noise struct {
	Repeats                  float64 // standard deviation of repeats
	Machine                  float64 // of what all tests are off by together, because expectations are
	MinSlowdown, MaxSlowdown float64 // by how much a fault slows a test
}

// steps are the bounds of steps of slowdowns, each to twice as much, and how likely a slowdown is in each, per unit: as likely by twice
// as much (Jeffreys' prior of a scale).
type steps struct{ bounds, likely []float64 }

func (n *Noise) steps() *steps {
	out := &steps{bounds: []float64{n.MinSlowdown}}
	for from := n.MinSlowdown; from < n.MaxSlowdown; from *= 2 {
		to := min(2*from, n.MaxSlowdown)
		out.bounds = append(out.bounds, to)
		out.likely = append(out.likely, math.Log(to/from)/(to-from)/math.Log(n.MaxSlowdown/n.MinSlowdown))
	}
	return out
}

// at is the logarithm of how likely a test is longer by some by a slowdown, known but for so much.
func (s *steps) at(longer, wide float64) float64 {
	share, last, tail := 0., 0., 0.
	for i, bound := range s.bounds {
		z := (bound - longer) / wide
		outer := math.Erfc(math.Abs(z)/math.Sqrt2) / 2 // beyond it
		switch {
		case i == 0:
		case last >= 0:
			share += (tail - outer) * s.likely[i-1]
		case z <= 0:
			share += (outer - tail) * s.likely[i-1]
		default:
			share += (1 - tail - outer) * s.likely[i-1]
		}
		last, tail = z, outer
	}
	return math.Log(max(share, math.SmallestNonzeroFloat64))
}

// level is what some tests are off by together: their number, mean and squared deviations from it.
type level struct{ tests, mean, squares float64 }

func (l *level) add(x float64) {
	l.tests++
	off := x - l.mean
	l.mean += off / l.tests
	l.squares += off * (x - l.mean)
}

// joined is the level of the tests of several.
func joined(levels []*level) (out level) {
	for _, l := range levels {
		all, off := out.tests+l.tests, l.mean-out.mean
		out.squares += l.squares + off*off*out.tests*l.tests/all
		out.mean, out.tests = out.mean+off*l.tests/all, all
	}
	return out
}

// scatter is the logarithm of how likely tests of one level lie so far apart, but for where that level is.
func (n *Noise) scatter(l *level) float64 {
	if l.tests == 0 {
		return 0
	}
	one := n.Repeats * n.Repeats
	return -l.squares/one/2 - (l.tests-1)*math.Log(2*math.Pi*one)/2 - math.Log(l.tests)/2
}

// offset is what all tests are off by together, by those that no fault touches, and the logarithm of how likely they are (a normal
// distribution of unknown mean: Gelman et al., Bayesian Data Analysis, 2013, section 2.5).
func (n *Noise) offset(l *level) (off normal, likely float64) {
	machine := n.Machine * n.Machine
	if l.tests == 0 {
		return normal{0, machine}, 0
	}
	own := n.Repeats * n.Repeats / l.tests
	wide := machine + own
	likely = n.scatter(l) - l.mean*l.mean/wide/2 - math.Log(2*math.Pi*wide)/2
	return normal{l.mean * machine / wide, machine * own / wide}, likely
}

// slowed is the logarithm of how likely tests are that one fault slows, the same each time, by anything between the least and the most.
func (p *Posterior) slowed(l *level, off normal) float64 {
	if l.tests == 0 {
		return 0
	}
	return p.noise.scatter(l) + p.steps.at(l.mean-off.mean, math.Sqrt(off.variance+p.noise.Repeats*p.noise.Repeats/l.tests))
}

// together is the logarithm of how likely tests of several kinds are that one fault slows, by their levels: as likely all by the same as
// each kind by its own.
func (p *Posterior) together(levels []*level, off normal) float64 {
	if len(levels) < 2 {
		return p.apart(levels, off)
	}
	all := joined(levels)
	same, apart := p.slowed(&all, off), p.apart(levels, off)
	largest := max(same, apart)
	return largest + math.Log((math.Exp(same-largest)+math.Exp(apart-largest))/2)
}

// apart is that of kinds that are slowed each by its own, all off by the same: which is summed over in steps where no healthy test says
// what that is.
func (p *Posterior) apart(levels []*level, off normal) (sum float64) {
	repeats := p.noise.Repeats
	if len(levels) < 2 || off.variance <= repeats*repeats {
		for _, l := range levels {
			sum += p.slowed(l, off)
		}
		return sum
	}
	constant := 0.
	for _, l := range levels {
		constant += p.noise.scatter(l)
	}
	reach, largest, all := 3*math.Sqrt(off.variance), math.Inf(-1), []float64(nil)
	for x := off.mean - reach; x <= off.mean+reach; x += repeats {
		likely := math.Log(off.density(x) * repeats)
		for _, l := range levels {
			likely += p.steps.at(l.mean-x, repeats/math.Sqrt(l.tests))
		}
		all, largest = append(all, likely), max(largest, likely)
	}
	for _, x := range all {
		sum += math.Exp(x - largest)
	}
	return constant + largest + math.Log(sum)
}

// normal is a normal distribution.
type normal struct{ mean, variance float64 }

func (d normal) density(x float64) float64 {
	return math.Exp(-(x-d.mean)*(x-d.mean)/d.variance/2) / math.Sqrt(2*math.Pi*d.variance)
}

// entropy is in nats.
func (d normal) entropy() float64 { return (1 + math.Log(2*math.Pi*d.variance)) / 2 }
