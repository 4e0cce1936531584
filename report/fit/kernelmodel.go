package fit

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// kernelModel is linear in base, hop, net hop and the slowdown of each piece, for a given
// shape. Cases of several machines may share all but the base.
type kernelModel struct {
	belief
	bases   []string // groups of cases with a base of their own
	chain   bool
	line    float64
	reached int // the last piece that a case's chunk has bytes of
}

// newKernelModel is the model of some cases; with groups, each machine, collective and
// way of launching has its own base.
func newKernelModel(cases []KernelCase, b belief, groups bool) *kernelModel {
	m := &kernelModel{belief: b, line: cases[0].Line}
	for i := range cases {
		m.chain = m.chain || cases[i].Passes > 0
		for m.reached+1 < len(pieces) && cases[i].Chunk > pieces[m.reached+1] {
			m.reached++
		}
		if name := baseOf(&cases[i]); groups && !slices.Contains(m.bases, name) {
			m.bases = append(m.bases, name)
		}
	}
	if !groups {
		m.bases = []string{""}
	}
	slices.Sort(m.bases)
	return m
}

// inGraph ends the names of groups whose cases ran in graphs.
const inGraph = " graph"

func baseOf(c *KernelCase) string {
	if c.Graph {
		return c.Machine + " " + c.Collective + inGraph
	}
	return c.Machine + " " + c.Collective
}

// The columns: bases, then wide, hop, net hop and pieces.
func (m *kernelModel) wideAt() int  { return len(m.bases) }
func (m *kernelModel) hopAt() int   { return len(m.bases) + 1 }
func (m *kernelModel) netAt() int   { return len(m.bases) + 2 }
func (m *kernelModel) pieceAt() int { return len(m.bases) + 3 }
func (m *kernelModel) size() int    { return m.pieceAt() + len(pieces) }

// base is the column of a case's base.
func (m *kernelModel) base(c *KernelCase) int {
	return max(slices.Index(m.bases, baseOf(c)), 0)
}

// row is a case's coefficients.
func (m *kernelModel) row(c *KernelCase, s shape) []float64 {
	out := make([]float64, m.size())
	out[m.base(c)], out[m.wideAt()] = 1, cost.Widened(c.Size)
	out[m.hopAt()], out[m.netAt()] = c.Hops, c.NetHops
	first := units.Bytes(0) // bytes that pass all hops
	if c.Passes > 0 {
		first = min(c.Chunk, s.fill)
	}
	for i := range pieces {
		streamed, filling := within(i, c.Chunk), within(i, first)
		out[m.pieceAt()+i] = ((c.Steps+s.drain*c.Drains)*(streamed-filling) + c.Passes*filling) / c.Line * 1e12
	}
	return out
}

// within is how many of the first bytes of a chunk belong to piece i.
func within(i int, bytes units.Bytes) float64 {
	end := bytes
	if i+1 < len(pieces) {
		end = min(end, pieces[i+1])
	}
	return float64(max(end-pieces[i], 0))
}

// shape are the unknowns that times do not depend on linearly; they are tried.
type shape struct {
	drain float64
	fill  units.Bytes
}

// solution is a model with its unknowns.
type solution struct {
	x []float64
	shape
}

// drains are the values of drain that are tried.
var drains = []float64{0, 0.2, 0.4, 0.6, 0.8, 1}

// fills are the sizes that may fill a chain.
var fills = []units.Bytes{0, 64 * units.KiB, 128 * units.KiB, 256 * units.KiB, 512 * units.KiB, units.MiB, 2 * units.MiB, 4 * units.MiB,
	8 * units.MiB, 16 * units.MiB, 32 * units.MiB}

// solve takes the most likely shape: of the fills with the expected drain, then of the
// drains.
func (m *kernelModel) solve(cases []KernelCase) solution {
	best, least := solution{shape: shape{m.Drain, m.Fill}}, math.Inf(1)
	try := func(x shape) {
		s := solution{m.least(cases, x, best.x), x}
		sum := m.unlikely(x)
		for i := range cases {
			e := m.predict(s, &cases[i])/float64(cases[i].Time) - 1
			sum += e * e
		}
		if sum < least {
			best, least = s, sum
		}
	}
	try(best.shape)
	for _, fill := range fills {
		if m.chain {
			try(shape{m.Drain, fill})
		}
	}
	for _, drain := range drains {
		try(shape{drain, best.fill})
	}
	return best
}

// leastLatency is the share of a believed latency that is left at least: no launch and no message is free, whatever
// rows say that lie far apart.
const leastLatency = 0.2

// leastSlowdown is what headers leave at least of a line's rate, whatever rate a topology says.
const leastSlowdown = 1.01

// least is weighted least squares with lower bounds, and a row for
// each unknown that is believed to be near a value.
func (m *kernelModel) least(cases []KernelCase, s shape, start []float64) []float64 {
	rows, want := make([][]float64, len(cases)), make([]float64, len(cases))
	for i := range cases {
		rows[i], want[i] = m.row(&cases[i], s), 1
		for j := range rows[i] {
			rows[i][j] /= float64(cases[i].Time)
		}
	}
	believe := func(at int, value, deviation float64) {
		row := make([]float64, m.size())
		row[at] = noise / deviation
		rows, want = append(rows, row), append(want, noise*value/deviation)
	}
	for i := range m.bases {
		believe(i, float64(m.Base), max(m.belief.base*float64(m.Base), 1e6))
	}
	believe(m.wideAt(), float64(m.Wide), m.wide*1e6)
	believe(m.hopAt(), float64(m.Hop), max(m.hop*float64(m.Hop), 1e5))
	believe(m.netAt(), float64(m.NetHop), max(m.net*float64(m.NetHop), 1e6))
	lower := make([]float64, m.size())
	for i := range m.bases {
		lower[i] = leastLatency * float64(m.Base)
	}
	lower[m.hopAt()], lower[m.netAt()] = leastLatency*float64(m.Hop), leastLatency*float64(m.NetHop)
	expected := m.slowdowns()
	for i, v := range expected {
		lower[m.pieceAt()+i] = leastSlowdown
		if at := m.pieceAt() + i; i <= m.reached {
			believe(at, v, m.deviation(i, v, m.line))
		} else { // no row tells: as far from what is expected as the piece before it, so that rates go on as they are
			row := make([]float64, m.size())
			row[at], row[at-1] = noise/v, -noise/expected[i-1]
			rows, want = append(rows, row), append(want, 0)
		}
	}
	return boundedLeastSquares(rows, want, lower, start)
}

func (m *kernelModel) predict(s solution, c *KernelCase) float64 {
	t := 0.0
	for i, v := range m.row(c, s.shape) {
		t += v * s.x[i]
	}
	return max(t, c.Steps*float64(c.Chunk)/c.Line*1e12)
}

func (m *kernelModel) mape(s solution, cases []KernelCase) float64 {
	errors := make([]float64, len(cases))
	for i := range cases {
		errors[i] = m.predict(s, &cases[i])/float64(cases[i].Time) - 1
	}
	return measurement.MAPE(errors)
}

// fit is the kernel fitted on all cases; of several bases it has their mean.
func (m *kernelModel) fit(cases []KernelCase) cost.Kernel {
	s := m.solve(cases)
	return m.kernel(s, cases, func(string) bool { return true })
}

// shownBases are the groups of some whose base is at least half of what one of their cases took. Where only long cases were measured,
// a base is what the rest of the kernel leaves of them, and says nothing of short ones.
func (m *kernelModel) shownBases(s solution, cases []KernelCase, in func(base string) bool) map[int]bool {
	out := map[int]bool{}
	for i := range cases {
		if at := m.base(&cases[i]); in(m.bases[at]) && 2*s.x[at] >= float64(cases[i].Time) {
			out[at] = true
		}
	}
	return out
}

// meanBase is that of some groups: of those that show theirs, else of all groups that do, else of those, whether they show it or
// not. Groups in graphs count where all are: kernels start sooner there, and few machines were measured so.
func (m *kernelModel) meanBase(s solution, cases []KernelCase, in func(base string) bool) float64 {
	shown := m.shownBases(s, cases, in)
	if len(shown) == 0 {
		shown = m.shownBases(s, cases, func(string) bool { return true })
	}
	var graphs, others []float64
	for i, name := range m.bases {
		switch {
		case !shown[i] && (len(shown) > 0 || !in(name)):
		case strings.HasSuffix(name, inGraph):
			graphs = append(graphs, s.x[i])
		default:
			others = append(others, s.x[i])
		}
	}
	if len(others) == 0 {
		others = graphs
	}
	return stat.Mean(others, nil)
}

// kernel is a solution as a kernel, with the mean base of some groups.
func (m *kernelModel) kernel(s solution, cases []KernelCase, in func(base string) bool) cost.Kernel {
	base := m.meanBase(s, cases, in)
	k := cost.Kernel{Base: picoseconds(base), Wide: picoseconds(s.x[m.wideAt()]), Hop: picoseconds(s.x[m.hopAt()]),
		NetHop: picoseconds(s.x[m.netAt()]), Drain: s.drain, Fill: s.fill,
		MinSize: cases[0].Size, MaxSize: cases[0].Size, Rows: len(cases), Error: round(m.mape(s, cases), 1e4)}
	for i, from := range pieces {
		k.Pieces = append(k.Pieces, cost.Piece{From: from, Slowdown: max(round(s.x[m.pieceAt()+i], 1e5), 1)})
	}
	systems := map[string]bool{}
	for _, c := range cases {
		systems[c.System] = true
		k.MinSize, k.MaxSize = min(k.MinSize, c.Size), max(k.MaxSize, c.Size)
	}
	k.Systems = len(systems)
	k.Latency, k.Bytes = m.atEnds(s, cases, &k)
	return k
}

// atEnds are the share of latency in what takes a kernel's smallest size, and of bytes in its largest: the medians over cases.
func (m *kernelModel) atEnds(s solution, cases []KernelCase, k *cost.Kernel) (latency, bytes float64) {
	var small, large []float64
	for i := range cases {
		share, row := 0.0, m.row(&cases[i], s.shape)
		for j, v := range row[:m.pieceAt()] {
			share += v * s.x[j]
		}
		share /= m.predict(s, &cases[i])
		if cases[i].Size == k.MinSize {
			small = append(small, share)
		}
		if cases[i].Size == k.MaxSize {
			large = append(large, 1-share)
		}
	}
	return round(measurement.Median(small), 1e3), round(measurement.Median(large), 1e3)
}
