// Package fit makes cost profiles from measurements.
//
// The model is linear: a collective takes T = λ + A·α + X·ε, where A is the number of
// messages that follow one another, X the time at line rate, α the cost of a message,
// ε the inverse of the share of the line rate that is reached, and λ the launch. α and
// ε depend on the protocol and, piecewise, on the size of a message. λ is shared; it
// can be told from α because collectives and GPU counts differ in A. Unknowns are not
// negative and ε is at least 1. Rows are weighted by 1/T², so that relative errors
// count; where the pieces end is chosen by held-out error.
package fit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
)

// Features is what a measured case has to do.
type Features struct {
	Medium   topology.Medium
	Protocol string
	Messages float64     // A: messages one after the other
	Line     units.Time  // X: time at line rate
	Message  units.Bytes // size of a message
	Launched bool        // whether the launch is in the time
	Size     units.Bytes
	Time     units.Time // measured
}

// Result is a fitted profile and how well it fits.
type Result struct {
	Profile    *cost.Profile
	Rows       int
	InSample   float64 // MAPE
	HeldOut    float64 // MAPE of rows left out in turn (folds folds)
	Parameters int
}

// folds is the number of parts that are left out in turn; row i belongs to part i mod
// folds after sorting by protocol and size, so every part covers all sizes.
const folds = 5

// breakpoints are the piecewise models that are tried.
var breakpoints = [][]units.Bytes{
	nil,
	{64 * units.KiB},
	{16 * units.KiB, 256 * units.KiB},
	{4 * units.KiB, 32 * units.KiB, 256 * units.KiB, 2 * units.MiB},
	{4 * units.KiB, 16 * units.KiB, 64 * units.KiB, 256 * units.KiB, units.MiB, 4 * units.MiB, 32 * units.MiB},
}

// Fit fits a profile. It refuses data from which the unknowns cannot be told.
func Fit(name, source, date string, rows []Features) (*Result, error) {
	if len(rows) < 8 {
		return nil, fmt.Errorf("%d usable rows are too few to fit: measure at least 8 sizes", len(rows))
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Features) int {
		switch {
		case a.Protocol != b.Protocol:
			if a.Protocol < b.Protocol {
				return -1
			}
			return 1
		default:
			return int(min(max(a.Size-b.Size, -1), 1))
		}
	})
	if !slices.ContainsFunc(rows, func(r Features) bool { return r.Size != rows[0].Size }) {
		return nil, fmt.Errorf("all rows have the size %v: latency and bandwidth cannot be told apart", rows[0].Size)
	}
	var best *Result
	for _, b := range breakpoints {
		m := newModel(rows, b)
		if m.unknowns() > len(rows)/2 {
			continue
		}
		r := &Result{Rows: len(rows), Parameters: m.unknowns(), HeldOut: heldOut(m, rows)}
		x := m.solve(rows)
		r.InSample = m.mape(x, rows)
		if best == nil || r.HeldOut < best.HeldOut*0.98 { // more pieces must earn their place
			r.Profile = m.profile(x, m.intervals(x, rows))
			best = r
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%d usable rows are too few for %d unknowns: measure at least twice as many sizes", len(rows),
			newModel(rows, nil).unknowns())
	}
	p := best.Profile
	p.Name, p.Origin = name, cost.Origin{Kind: cost.Fitted, Source: source, Date: date}
	p.Error = fmt.Sprintf("MAPE %.1f%% in sample, %.1f%% held out (%d rows, %d folds, %d parameters)", 100*best.InSample, 100*best.HeldOut,
		best.Rows, folds, best.Parameters)
	return best, nil
}

func heldOut(m *model, rows []Features) float64 {
	var errors []float64
	for f := range folds {
		var train, test []Features
		for i, r := range rows {
			if i%folds == f {
				test = append(test, r)
			} else {
				train = append(train, r)
			}
		}
		x := m.solve(train)
		for _, r := range test {
			errors = append(errors, m.predict(x, r)/float64(r.Time)-1)
		}
	}
	return measurement.MAPE(errors)
}

// curveKey is a medium and protocol.
type curveKey struct {
	medium   topology.Medium
	protocol string
}

// model numbers the unknowns: λ, then α and ε for each piece of each curve.
type model struct {
	breaks []units.Bytes
	curves []curveKey
	first  map[curveKey]int
	used   []bool // unknowns that some row depends on
	min    units.Bytes
	max    units.Bytes
}

func newModel(rows []Features, breaks []units.Bytes) *model {
	m := &model{breaks: breaks, first: map[curveKey]int{}, min: rows[0].Size}
	for _, r := range rows {
		k := curveKey{r.Medium, r.Protocol}
		if _, ok := m.first[k]; !ok {
			m.first[k] = 1 + len(m.curves)*2*(len(breaks)+1)
			m.curves = append(m.curves, k)
		}
		m.min, m.max = min(m.min, r.Size), max(m.max, r.Size)
	}
	m.used = make([]bool, m.size())
	for _, r := range rows {
		for i, v := range m.row(r) {
			m.used[i] = m.used[i] || v != 0
		}
	}
	return m
}

func (m *model) unknowns() int {
	n := 0
	for _, u := range m.used {
		if u {
			n++
		}
	}
	return n
}

func (m *model) piece(message units.Bytes) int {
	i := 0
	for i < len(m.breaks) && message >= m.breaks[i] {
		i++
	}
	return i
}

// row is the coefficients of the unknowns.
func (m *model) row(r Features) []float64 {
	out := make([]float64, m.size())
	if r.Launched {
		out[0] = 1
	}
	at := m.first[curveKey{r.Medium, r.Protocol}] + 2*m.piece(r.Message)
	out[at], out[at+1] = r.Messages, float64(r.Line)
	return out
}

// size is the number of unknowns, used or not.
func (m *model) size() int { return 1 + len(m.curves)*2*(len(m.breaks)+1) }

func (m *model) predict(x []float64, r Features) float64 {
	var sum float64
	for i, c := range m.row(r) {
		sum += c * x[i]
	}
	return sum
}

func (m *model) mape(x []float64, rows []Features) float64 {
	errors := make([]float64, len(rows))
	for i, r := range rows {
		errors[i] = m.predict(x, r)/float64(r.Time) - 1
	}
	return measurement.MAPE(errors)
}

// lower is the smallest value of an unknown: ε cannot beat the line.
func (m *model) lower(i int) float64 {
	if i > 0 && (i-1)%2 == 1 {
		return 1
	}
	return 0
}

// solve is weighted least squares with lower bounds.
func (m *model) solve(rows []Features) []float64 {
	coefficients, ones, lower := make([][]float64, len(rows)), make([]float64, len(rows)), make([]float64, m.size())
	for i, r := range rows {
		coefficients[i], ones[i] = m.row(r), 1
		for j := range coefficients[i] {
			coefficients[i][j] /= float64(r.Time)
		}
	}
	for i := range lower {
		lower[i] = m.lower(i)
	}
	return boundedLeastSquares(coefficients, ones, lower, nil)
}

// normal builds the weighted normal equations.
func (m *model) normal(rows []Features) (*mat.SymDense, []float64) {
	n := len(m.used)
	g, b := mat.NewSymDense(n, nil), make([]float64, n)
	for _, r := range rows {
		w := 1 / float64(r.Time)
		c := m.row(r)
		for i := range n {
			if c[i] == 0 {
				continue
			}
			for j := i; j < n; j++ {
				g.SetSym(i, j, g.At(i, j)+c[i]*c[j]*w*w)
			}
			b[i] += c[i] * w
		}
	}
	return g, b
}

// intervals are half the 95 % confidence intervals of the unknowns that are not at
// their bounds, from the inverse of the normal equations; 0 where they cannot be told.
func (m *model) intervals(x []float64, rows []Features) []float64 {
	g, _ := m.normal(rows)
	var free []int
	for i := range x {
		if m.used[i] && x[i] > m.lower(i) {
			free = append(free, i)
		}
	}
	out := make([]float64, len(x))
	if len(free) == 0 || len(rows) <= len(free) {
		return out
	}
	sub := mat.NewSymDense(len(free), nil)
	for a, i := range free {
		for b, j := range free {
			if a <= b {
				sub.SetSym(a, b, g.At(i, j))
			}
		}
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(sub) || chol.InverseTo(&inverse) != nil {
		return out
	}
	var rss float64
	for _, r := range rows {
		e := m.predict(x, r)/float64(r.Time) - 1
		rss += e * e
	}
	variance := rss / float64(len(rows)-len(free))
	for a, i := range free {
		out[i] = 1.96 * math.Sqrt(variance*inverse.At(a, a))
	}
	return out
}

// profile turns the unknowns into curves.
func (m *model) profile(x, ci []float64) *cost.Profile {
	p := &cost.Profile{Launch: units.Time(math.Round(x[0])), MinSize: m.min, MaxSize: m.max}
	for _, k := range m.curves {
		c := cost.Curve{Medium: k.medium.String(), Protocol: k.protocol}
		for piece := range len(m.breaks) + 1 {
			at := m.first[k] + 2*piece
			if !m.used[at] && !m.used[at+1] {
				continue // no row has messages of this size
			}
			s := cost.Segment{Alpha: units.Time(math.Round(x[at])), AlphaCI: units.Time(math.Round(ci[at])),
				Efficiency: math.Round(1e6/x[at+1]) / 1e6}
			if piece > 0 && len(c.Segments) > 0 {
				s.From = m.breaks[piece-1]
			}
			c.Segments = append(c.Segments, s)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
