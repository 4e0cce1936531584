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
type steps struct {
	bounds, likely []float64
	repeats        float64
	curves         []*curve // by number of tests
}

func (n *Noise) steps() *steps {
	out := &steps{bounds: []float64{n.MinSlowdown}, repeats: n.Repeats}
	for from := n.MinSlowdown; from < n.MaxSlowdown; from *= 2 {
		to := min(2*from, n.MaxSlowdown)
		out.bounds = append(out.bounds, to)
		out.likely = append(out.likely, math.Log(to/from)/(to-from)/math.Log(n.MaxSlowdown/n.MinSlowdown))
	}
	return out
}

// at is the logarithm of how likely a test is longer by some by a slowdown, known but for so much. Steps that lie far from it beside
// others add nothing.
func (s *steps) at(longer, wide float64) float64 {
	from := 0
	for from+2 < len(s.bounds) && longer-s.bounds[from+1] > reach*wide {
		from++
	}
	share, last, tail := 0., 0., 0.
	for i := from; i < len(s.bounds); i++ {
		z := (s.bounds[i] - longer) / wide
		outer := math.Erfc(math.Abs(z)/math.Sqrt2) / 2 // beyond it
		switch {
		case i == from:
		case last >= 0:
			share += (tail - outer) * s.likely[i-1]
		case z <= 0:
			share += (outer - tail) * s.likely[i-1]
		default:
			share += (1 - tail - outer) * s.likely[i-1]
		}
		if last, tail = z, outer; z > 0 && outer < 1e-12*share {
			break
		}
	}
	return math.Log(max(share, math.SmallestNonzeroFloat64))
}

// curve is steps.at for tests of one number, at points that are apart by a small share of how wide they are known.
type curve struct {
	from, apart float64
	at          []float64
}

const (
	finer = 16. // points within the width of a curve
	reach = 8.  // widths that a curve goes beyond the bounds
)

// of is at for a mean of so many tests, off by their repeats alone: between points of a curve, which is smooth, and beyond them as a
// normal distribution falls.
func (s *steps) of(longer float64, tests int) float64 {
	for len(s.curves) <= tests {
		s.curves = append(s.curves, nil)
	}
	wide := s.repeats / math.Sqrt(float64(tests))
	if s.curves[tests] == nil {
		c := &curve{from: s.bounds[0] - reach*wide, apart: wide / finer}
		for x := c.from; x <= s.bounds[len(s.bounds)-1]+reach*wide; x = c.from + float64(len(c.at))*c.apart {
			c.at = append(c.at, s.at(x, wide))
		}
		s.curves[tests] = c
	}
	c := s.curves[tests]
	point := (longer - c.from) / c.apart
	end := float64(len(c.at) - 1)
	if beyond := max(-point, point-end) / finer; beyond >= 0 {
		return c.at[int(min(max(point, 0), end))] - beyond*(reach+beyond/2)
	}
	i := int(point)
	return c.at[i] + (point-float64(i))*(c.at[i+1]-c.at[i])
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

// slowed is the logarithm of how likely tests are that faults slow, each the same each time, by anything between the least and the most: of
// each fault the levels of its tests of several kinds, which it slows as likely all by the same as each by its own. All are off by the
// same, which is summed over in steps where no healthy test says what that is: then tests of several faults may look like healthy ones.
// It also says what tests are off by after them.
func (p *Posterior) slowed(faults [][]*level, off normal) (float64, normal) {
	of := make([]split, len(faults))
	for i, levels := range faults {
		of[i] = p.noise.split(levels)
	}
	if one := p.noise.Repeats * p.noise.Repeats; off.variance <= one {
		sum := 0.
		for i := range of {
			sum += of[i].likely(func(l *level) float64 {
				return p.steps.at(l.mean-off.mean, math.Sqrt(off.variance+one/l.tests))
			})
		}
		return sum, off
	}
	far, largest, all := 3*math.Sqrt(off.variance), math.Inf(-1), make([]float64, 0, 64)
	for x := off.mean - far; x <= off.mean+far; x += p.noise.Repeats {
		likely := off.logDensity(x) + math.Log(p.noise.Repeats)
		for i := range of {
			likely += of[i].likely(func(l *level) float64 { return p.steps.of(l.mean-x, int(l.tests)) })
		}
		all, largest = append(all, likely), max(largest, likely)
	}
	var sum, first, second float64
	for i, x := range all {
		q, at := math.Exp(x-largest), off.mean-far+float64(i)*p.noise.Repeats
		sum, first, second = sum+q, first+q*at, second+q*at*at
	}
	mean := first / sum
	return largest + math.Log(sum), normal{mean, max(second/sum-mean*mean, p.noise.Repeats*p.noise.Repeats)}
}

// split are the tests of a fault by kinds, and all together, with the logarithms of how likely they lie so far apart.
type split struct {
	kinds       []*level
	all         level
	apart, same float64
}

func (n *Noise) split(kinds []*level) (s split) {
	for _, l := range kinds {
		s.apart += n.scatter(l)
	}
	if s.kinds = kinds; len(kinds) > 1 {
		s.all = joined(kinds)
		s.same = n.scatter(&s.all)
	}
	return s
}

// likely is the logarithm of how likely they are where that of a level's mean is given.
func (s *split) likely(at func(*level) float64) float64 {
	apart := s.apart
	for _, l := range s.kinds {
		apart += at(l)
	}
	if len(s.kinds) < 2 {
		return apart
	}
	same := s.same + at(&s.all)
	largest := max(same, apart)
	return largest + math.Log((math.Exp(same-largest)+math.Exp(apart-largest))/2)
}

// normal is a normal distribution.
type normal struct{ mean, variance float64 }

func (d normal) density(x float64) float64 { return math.Exp(d.logDensity(x)) }

func (d normal) logDensity(x float64) float64 {
	return -(x-d.mean)*(x-d.mean)/d.variance/2 - math.Log(2*math.Pi*d.variance)/2
}

// entropy is in nats.
func (d normal) entropy() float64 { return (1 + math.Log(2*math.Pi*d.variance)) / 2 }
