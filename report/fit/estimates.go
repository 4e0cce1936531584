package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"railyard/model/cost"
)

// Estimates fits what the library's own estimates are off by over each medium: three factors (cost.Estimate), whose
// logarithms are those of all media of a class (cost.ClassOf) and how far each medium lies from that, expected to be
// near 0. Every machine weighs the same, however many rows it has; rows that are far off weigh less.
func Estimates(cases []KernelCase) []cost.Estimate {
	m := newEstimates(cases)
	for range 50 {
		before := slices.Clone(m.x)
		if m.step(); farthest(before, m.x) < 1e-4 {
			break
		}
	}
	var out []cost.Estimate
	for _, g := range slices.SortedFunc(maps.Keys(m.at), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.over, b.over))
	}) {
		if g.over != "" || g.class == cost.Across {
			out = append(out, m.estimate(g))
		}
	}
	return out
}

// group is what shares unknowns: a class, or a medium of it.
type group struct{ class, over string }

// levels are the groups that a case is of.
func levels(over string) [2]group {
	class := cost.ClassOf(over)
	return [...]group{{class: class}, {class, over}}
}

// Of the logarithms of an estimate's factors: which, and the standard deviations that are expected of a class's from 0
// and of a medium's from those of its class.
const (
	atLatency = iota
	atFill
	atBytes
	parts
)

var byClass, byMedium = [parts]float64{1, 1, 0.1}, [parts]float64{0.7, 0.5, 0.1}

// machineNoise is the standard deviation of a machine's rows together; fair is up to where a row's error counts in
// full; beyond, all count the same, so that one odd machine does not move the others.
const (
	machineNoise = 0.25
	fair         = 0.35
)

// estimates are the unknowns, with the rows that they are fitted on.
type estimates struct {
	cases []KernelCase
	at    map[group]int // where a group's unknowns begin
	x     []float64
	rows  map[group]map[string]int // of each system
}

func newEstimates(cases []KernelCase) *estimates {
	m := &estimates{cases: cases, at: map[group]int{}, rows: map[group]map[string]int{}}
	for i := range cases {
		for _, g := range levels(cases[i].Over) {
			if _, ok := m.at[g]; !ok {
				m.at[g], m.rows[g] = len(m.x), map[string]int{}
				m.x = append(m.x, make([]float64, parts)...)
			}
			m.rows[g][cases[i].System]++
		}
	}
	return m
}

// factors of a group: its own and those of the groups that it is in.
func (m *estimates) factors(g group) (v [parts]float64) {
	for p := range v {
		log := m.x[m.at[group{class: g.class}]+p]
		if g.over != "" {
			log += m.x[m.at[g]+p]
		}
		v[p] = math.Exp(log)
	}
	return v
}

// estimate is the correction of a group.
func (m *estimates) estimate(g group) cost.Estimate {
	v, rows := m.factors(g), 0
	for _, n := range m.rows[g] {
		rows += n
	}
	return cost.Estimate{Over: cmp.Or(g.over, g.class), Latency: round(v[atLatency], 1e4),
		Fill: round(v[atFill], 1e4), Bytes: round(v[atBytes], 1e4), Rows: rows, Systems: len(m.rows[g])}
}

// step is one of Gauss and Newton's.
func (m *estimates) step() {
	rows, want := make([][]float64, len(m.x)), make([]float64, len(m.x))
	for g, at := range m.at {
		deviations := byClass
		if g.over != "" {
			deviations = byMedium
		}
		for p, deviation := range deviations {
			rows[at+p] = make([]float64, len(m.x))
			rows[at+p][at+p] = 1 / deviation
		}
	}
	for i := range m.cases {
		c := &m.cases[i]
		row, off := m.gradient(c)
		weight := min(1, fair/math.Abs(off)) * math.Sqrt(1/float64(m.rows[levels(c.Over)[1]][c.System])) / machineNoise
		for j := range row {
			off += row[j] * m.x[j]
			row[j] *= weight
		}
		rows, want = append(rows, row), append(want, off*weight)
	}
	lower := make([]float64, len(m.x))
	for i := range lower {
		lower[i] = math.Inf(-1)
	}
	m.x = boundedLeastSquares(rows, want, lower, m.x)
}

// gradient of the logarithm of a case's estimate, and how far the measured one is above it.
func (m *estimates) gradient(c *KernelCase) (row []float64, off float64) {
	groups := levels(c.Over)
	v := m.factors(groups[1])
	e := cost.Estimate{Latency: v[atLatency], Fill: v[atFill], Bytes: v[atBytes]}
	l, b := e.Corrected(c.Latency, c.Bytes, c.Size)
	row = make([]float64, len(m.x))
	for _, g := range groups {
		at := m.at[g]
		row[at+atLatency], row[at+atFill], row[at+atBytes] = l/(l+b), (l-e.Latency*c.Latency)/(l+b), b/(l+b)
	}
	return row, math.Log(float64(c.Time) / (l + b))
}

func farthest(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
