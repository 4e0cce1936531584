package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"railyard/model/cost"
)

// Estimates fits what the library's own estimates are off by over each medium: three factors (cost.Estimate), whose
// logarithms are those of all media of a class (cost.ClassOf), how far networks that are driven alike (cost.TransportOf) lie
// from that, and how far each medium lies from these. How far they lie apart, and machines from their medium, is found from
// the cases as well (empirical Bayes, by expectation and maximisation: Dempster, Laird, Rubin 1977), so that a medium is
// believed as much as its machines agree. Every machine weighs the same, however many rows it has; rows that are far off
// weigh less.
func Estimates(cases []KernelCase) []cost.Estimate {
	m := newEstimates(cases)
	for range 100 {
		before := slices.Clone(m.x)
		if m.step(); farthest(before, m.x) < 1e-3 {
			break
		}
	}
	var out []cost.Estimate
	for _, g := range slices.SortedFunc(maps.Keys(m.at), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.transport, b.transport), cmp.Compare(a.over, b.over))
	}) {
		if !g.ofClass() || g.class == cost.Across {
			out = append(out, m.estimate(g))
		}
	}
	return out
}

// group is what shares unknowns: a class, networks that are driven alike, or a medium.
type group struct{ class, transport, over string }

// medium is the narrowest group that a medium is of.
func medium(over string) group {
	return group{cost.ClassOf(over), cost.TransportOf(over), over}
}

// within are the groups that a group is in, itself the last.
func (g group) within() []group {
	out := []group{{class: g.class}}
	if g.transport != "" {
		out = append(out, group{class: g.class, transport: g.transport})
	}
	if g.over != "" {
		out = append(out, g)
	}
	return out
}

// ofClass reports whether a group is a whole class.
func (g group) ofClass() bool { return g.transport == "" && g.over == "" }

// Of the logarithms of an estimate's factors: which.
const (
	atLatency = iota
	atBytes
	atFlags
	parts
)

// ofClass are the variances that are expected of a class's factors: there are three classes, too few to tell. Line rates
// are line rates.
var ofClass = [parts]float64{1, 0.01, 1}

// fair is how many standard deviations of a machine's rows a row may be off to count in full; beyond, all count the
// same, so that one odd machine does not move the others (Huber 1964).
const fair = 1.345

// leastVariance is what those of media and machines are thought to have at least.
const leastVariance = 1e-3

// estimates are the unknowns, with the rows that they are fitted on.
type estimates struct {
	cases    []KernelCase
	at       map[group]int // where a group's unknowns begin
	x        []float64
	media    [parts]float64           // variances: of media around their transport or class, and of transports
	machines float64                  // of a machine's rows together
	rows     map[group]map[string]int // of each system
}

func newEstimates(cases []KernelCase) *estimates {
	m := &estimates{cases: cases, at: map[group]int{}, rows: map[group]map[string]int{}, media: [parts]float64{1, 1, 1}, machines: 0.1}
	for i := range cases {
		for _, g := range medium(cases[i].Over).within() {
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
		log := 0.0
		for _, h := range g.within() {
			log += m.x[m.at[h]+p]
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
	return cost.Estimate{Over: cmp.Or(g.over, g.transport, g.class), Latency: round(v[atLatency], 1e4),
		Bytes: round(v[atBytes], 1e4), Flags: round(v[atFlags], 1e4), Rows: rows, Systems: len(m.rows[g])}
}

// step is one of Gauss and Newton's, and one of the variances.
func (m *estimates) step() {
	n := len(m.x)
	precision, want := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for g, at := range m.at {
		for p := range parts {
			expected := 1 / ofClass[p]
			if !g.ofClass() {
				expected = 1 / m.media[p]
			}
			precision.SetSym(at+p, at+p, expected)
		}
	}
	off, systems := 0.0, map[string]bool{}
	for i := range m.cases {
		c := &m.cases[i]
		where, row, miss := m.gradient(c)
		share := 1 / float64(m.rows[medium(c.Over)][c.System]) // of the machine
		weight := share * min(1, fair*math.Sqrt(m.machines)/math.Abs(miss)) / m.machines
		off += share * min(miss*miss, fair*fair*m.machines)
		systems[c.Over+c.System] = true
		for a, j := range where {
			miss += row[a] * m.x[j]
		}
		for a, j := range where {
			want.SetVec(j, want.AtVec(j)+weight*row[a]*miss)
			for b, k := range where {
				if k >= j {
					precision.SetSym(j, k, precision.At(j, k)+weight*row[a]*row[b])
				}
			}
		}
	}
	var chol mat.Cholesky
	var x mat.VecDense
	var covariance mat.SymDense
	if !chol.Factorize(precision) || chol.SolveVecTo(&x, want) != nil || chol.InverseTo(&covariance) != nil {
		return // rows that say nothing
	}
	copy(m.x, x.RawVector().Data)
	m.machines = max(off/float64(max(len(systems), 1)), leastVariance)
	m.spread(&covariance)
}

// spread takes the variances of media from where they lie and how sure that is.
func (m *estimates) spread(covariance *mat.SymDense) {
	var sum [parts]float64
	media := 0.0
	for g, at := range m.at {
		if g.ofClass() {
			continue
		}
		media++
		for p := range parts {
			sum[p] += m.x[at+p]*m.x[at+p] + covariance.At(at+p, at+p)
		}
	}
	for p := range sum {
		m.media[p] = max(sum[p]/media, leastVariance)
	}
}

// gradient of the logarithm of a case's estimate by the unknowns that it depends on, and how far the measured one is
// above it.
func (m *estimates) gradient(c *KernelCase) (where []int, row []float64, off float64) {
	groups := medium(c.Over).within()
	where, row = make([]int, len(groups)*parts), make([]float64, len(groups)*parts)
	v := m.factors(medium(c.Over))
	e := cost.Estimate{Latency: v[atLatency], Bytes: v[atBytes], Flags: v[atFlags]}
	l, b := e.Corrected(c.Latency, c.Bytes, c.Size, c.Protocol)
	flags := 0.0
	if c.Protocol == cost.LL {
		flags = b
	}
	for i, g := range groups {
		at := m.at[g]
		for p, slope := range [parts]float64{l, b, flags} {
			where[i*parts+p], row[i*parts+p] = at+p, slope/(l+b)
		}
	}
	return where, row, math.Log(float64(c.Time) / (l + b))
}

func farthest(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
