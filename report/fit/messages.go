package fit

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
)

// Part is what a case has to do in one protocol with messages of one size: Messages that
// follow one another, Line the time of bytes at line rate.
type Part struct {
	Medium   topology.Medium
	Protocol string
	Bytes    units.Bytes
	Messages float64
	Peers    float64 // see cost.Curve
	Line     units.Time
}

// Case is a measured case of one or several protocols.
type Case struct {
	Parts    []Part
	Launched bool // whether the launch is in the time
	Apart    bool // the launch began when the kernel ahead had ended, or has several kernels; a λ of its own where others did not
	Size     units.Bytes
	Time     units.Time // measured
}

// Messages fits smooth curves: T = λ + Σ (A·α(s) + N·p + X·ε(s)) over a case's parts,
// where α and ε change evenly between sizes a factor of four apart, and p, what a further peer
// costs, is one number a protocol. Rows are weighted by 1/T². Neighbours of a curve are held together, weakly, so
// that sizes that few cases have do not go their own way; and what is believed (a profile of
// the same machine; may be nil) holds where cases say nothing else.
func Messages(name, source, date string, cases []Case, believed *cost.Profile) (*Result, error) {
	if len(cases) < 8 {
		return nil, fmt.Errorf("%d usable rows are too few to fit: measure at least 8 sizes", len(cases))
	}
	if !slices.ContainsFunc(cases, func(c Case) bool { return c.Size != cases[0].Size }) {
		return nil, fmt.Errorf("all rows have the size %v: latency and bandwidth cannot be told apart", cases[0].Size)
	}
	m := newSmooth(cases, believed)
	x := m.solve(cases)
	r := &Result{Profile: m.profile(x, m.intervals(x, cases), cases), Rows: len(cases), InSample: measurement.MAPE(m.errors(x, cases)),
		Parameters: m.unknowns}
	var errors []float64
	for fold := range folds {
		var train, test []Case
		for i, c := range cases {
			if i%folds == fold {
				test = append(test, c)
			} else {
				train = append(train, c)
			}
		}
		errors = append(errors, m.errors(m.solve(train), test)...)
	}
	r.HeldOut = measurement.MAPE(errors)
	p := r.Profile
	p.Name, p.Origin = name, cost.Origin{Kind: cost.Measured, Source: source, Date: date}
	if believed != nil {
		p.Window = believed.Window // no case tells it
	}
	p.Error = fmt.Sprintf("MAPE %.1f%% in sample, %.1f%% held out (%d rows, %d folds, %d parameters)", 100*r.InSample, 100*r.HeldOut,
		r.Rows, folds, r.Parameters)
	return r, nil
}

// curve is where a medium's and protocol's unknowns are: p, then α and ε by knot.
type curve struct {
	curveKey
	first int
	knots []units.Bytes
	moves bool // it has bytes to move: else ε is not told
	apart bool // its launches are apart
}

// smooth numbers the unknowns: λ, the λ of launches apart, then those of curves.
type smooth struct {
	curves   []*curve
	at       map[curveKey]*curve
	apart    int // 0 unless there are both kinds of launches
	unknowns int
	believed []float64 // of each unknown; nil: nothing
}

// apartFactor is how far knots are apart.
const apartFactor = 4

func newSmooth(cases []Case, believed *cost.Profile) *smooth {
	m := &smooth{at: map[curveKey]*curve{}, unknowns: 2}
	smallest, largest := map[curveKey]units.Bytes{}, map[curveKey]units.Bytes{}
	for _, c := range cases {
		if c.Launched && !c.Apart {
			m.apart = 1
		}
		for _, p := range c.Parts {
			k := curveKey{p.Medium, p.Protocol}
			if m.at[k] == nil {
				m.at[k] = &curve{curveKey: k}
				m.curves = append(m.curves, m.at[k])
				smallest[k] = p.Bytes
			}
			m.at[k].moves, m.at[k].apart = m.at[k].moves || p.Line > 0, m.at[k].apart || c.Apart
			smallest[k], largest[k] = min(smallest[k], p.Bytes), max(largest[k], p.Bytes)
		}
	}
	for _, c := range m.curves {
		c.first = m.unknowns
		c.knots = []units.Bytes{0}
		if c.moves {
			c.knots = knots(smallest[c.curveKey], largest[c.curveKey])
		}
		m.unknowns += 1 + 2*len(c.knots)
	}
	if believed != nil {
		m.believe(believed)
	}
	return m
}

// believe takes the unknowns from a profile.
func (m *smooth) believe(p *cost.Profile) {
	m.believed = make([]float64, m.unknowns)
	m.believed[0], m.believed[1] = float64(p.Launch), float64(p.Launch)
	for _, c := range m.curves {
		for i, k := range c.knots {
			x := p.Transfer(c.medium, c.protocol, k)
			m.believed[c.first] = float64(x.Peer)
			m.believed[c.alpha(i)], m.believed[c.alpha(i)+1] = float64(x.Alpha), 1/x.Efficiency
			m.believed[1] = max(m.believed[1], float64(p.Launch+x.Launch))
		}
	}
}

// alpha is the number of a knot's α; its ε is the next.
func (c *curve) alpha(knot int) int { return c.first + 1 + 2*knot }

// knots are powers of apartFactor from the smallest message on, up to the last that a message reaches.
func knots(smallest, largest units.Bytes) (out []units.Bytes) {
	k := units.Bytes(64)
	for k*apartFactor <= smallest {
		k *= apartFactor
	}
	for ; k <= largest || len(out) == 0; k *= apartFactor {
		out = append(out, k)
	}
	return out
}

// weights are the two knots that a size lies between, and its share of the second.
func (c *curve) weights(size units.Bytes) (i int, share float64) {
	for i+1 < len(c.knots) && c.knots[i+1] <= size {
		i++
	}
	if i+1 < len(c.knots) {
		share = cost.Between(c.knots[i], c.knots[i+1], size)
	}
	return i, share
}

// row is the coefficients of the unknowns.
func (m *smooth) row(c *Case) []float64 {
	out := make([]float64, m.unknowns)
	switch {
	case c.Launched && c.Apart:
		out[m.apart] = 1
	case c.Launched:
		out[0] = 1
	}
	for _, p := range c.Parts {
		k := m.at[curveKey{p.Medium, p.Protocol}]
		out[k.first] += p.Peers
		i, share := k.weights(p.Bytes)
		for _, w := range []struct {
			knot  int
			share float64
		}{{i, 1 - share}, {i + 1, share}} {
			if w.share > 0 {
				out[k.alpha(w.knot)] += w.share * p.Messages
				out[k.alpha(w.knot)+1] += w.share * float64(p.Line)
			}
		}
	}
	return out
}

// stiffness is the error of a case that is worth as much as neighbours of a curve that differ by a
// microsecond, or by a byte's time at line rate; or an unknown that differs so much from what is believed.
const stiffness = 0.05

// system is the least squares: rows that should come to what is wanted, above lower bounds.
func (m *smooth) system(cases []Case) (rows [][]float64, want, lower []float64) {
	for i := range cases {
		row := m.row(&cases[i])
		for j := range row {
			row[j] /= float64(cases[i].Time)
		}
		rows, want = append(rows, row), append(want, 1)
	}
	lower = make([]float64, m.unknowns)
	for _, c := range m.curves {
		for i := range c.knots {
			lower[c.alpha(i)+1] = 1 // the line rate is not beaten
		}
	}
	for _, t := range m.ties() {
		row, sum := make([]float64, m.unknowns), 0.0
		for i, v := range t {
			row[i] = stiffness * v
			if m.believed != nil {
				sum += row[i] * m.believed[i]
			}
		}
		rows, want = append(rows, row), append(want, sum)
	}
	return rows, want, lower
}

func (m *smooth) solve(cases []Case) []float64 {
	rows, want, lower := m.system(cases)
	return boundedLeastSquares(rows, want, lower, nil)
}

// intervals are half the 95 % confidence intervals of the unknowns that are not at their bounds.
func (m *smooth) intervals(x []float64, cases []Case) []float64 {
	out := make([]float64, m.unknowns)
	var squares float64
	for _, e := range m.errors(x, cases) {
		squares += e * e
	}
	if len(cases) > m.unknowns {
		squares /= float64(len(cases) - m.unknowns)
	}
	for i, v := range newQuadratic(m.system(cases)).inverse(x) {
		out[i] = 1.96 * math.Sqrt(squares*v)
	}
	return out
}

// ties are sums of unknowns that are near 0, or near what they are believed to be: differences
// of neighbours; what a further peer costs; and, where something is believed, every unknown.
func (m *smooth) ties() (out []map[int]float64) {
	const us = 1 / float64(units.Microsecond)
	for _, c := range m.curves {
		out = append(out, map[int]float64{c.first: us})
		for i := 1; i < len(c.knots); i++ {
			out = append(out, map[int]float64{c.alpha(i): us, c.alpha(i - 1): -us}, map[int]float64{c.alpha(i) + 1: 1, c.alpha(i-1) +
				1: -1})
		}
		if m.believed == nil {
			continue
		}
		for i := range c.knots {
			out = append(out, map[int]float64{c.alpha(i): us}, map[int]float64{c.alpha(i) + 1: 1})
		}
	}
	if m.believed != nil {
		out = append(out, map[int]float64{0: us}, map[int]float64{1: us})
	}
	return out
}

func (m *smooth) errors(x []float64, cases []Case) (out []float64) {
	for i := range cases {
		sum := 0.0
		for j, v := range m.row(&cases[i]) {
			sum += v * x[j]
		}
		out = append(out, sum/float64(cases[i].Time)-1)
	}
	return out
}

// profile turns the unknowns into curves.
func (m *smooth) profile(x, ci []float64, cases []Case) *cost.Profile {
	p := &cost.Profile{Launch: units.Time(math.Round(x[0])), MinSize: cases[0].Size}
	for _, c := range cases {
		p.MinSize, p.MaxSize = min(p.MinSize, c.Size), max(p.MaxSize, c.Size)
	}
	for _, k := range m.curves {
		c := cost.Curve{Medium: k.medium.String(), Protocol: k.protocol, Smooth: len(k.knots) > 1, Peer: units.Time(math.Round(x[k.first]))}
		if k.apart {
			c.Launch = max(units.Time(math.Round(x[m.apart]-x[0])), 0)
		}
		for i, from := range k.knots {
			s := cost.Segment{From: from, Alpha: units.Time(math.Round(x[k.alpha(i)])), AlphaCI: units.Time(math.Round(ci[k.alpha(i)]))}
			if k.moves {
				s.Efficiency = math.Round(1e6/x[k.alpha(i)+1]) / 1e6
			}
			c.Segments = append(c.Segments, s)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}
