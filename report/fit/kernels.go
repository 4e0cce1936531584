package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
)

// KernelCase is a measured run of one kernel (see cost.Kernel) with its work.
type KernelCase struct {
	cost.KernelKey
	Hops, NetHops, Steps float64
	Chunk                units.Bytes
	Chain                bool       // the chunk goes down a chain of all hops
	Line                 float64    // bytes/s
	TableHop, TableNet   units.Time // used for a hop's cost where the cases cannot tell
	Ranks                int
	Series               string // cases of one series share their machine and run
	Size                 units.Bytes
	Time                 units.Time
}

// kernelPieces are the piecewise models of chunk movement that are tried, by chunk.
var kernelPieces = [][]units.Bytes{
	{0},
	{0, 256 * units.KiB},
	{0, 32 * units.KiB, 2 * units.MiB},
	{0, 16 * units.KiB, 256 * units.KiB, 4 * units.MiB},
	{0, 4 * units.KiB, 32 * units.KiB, 128 * units.KiB, 512 * units.KiB, 2 * units.MiB, 8 * units.MiB, 32 * units.MiB},
}

// leastCases is how many measurements a kernel needs.
const leastCases = 6

// Kernels fits a kernel for each key that has enough cases, in the order of the keys'
// names; the keys that have not are returned with their number of cases. What the cases
// of a key cannot tell, where all have the same number of GPUs, is given (see givenFor).
func Kernels(cases []KernelCase, general *cost.Profile) (kernels []cost.Kernel, left map[cost.KernelKey]int) {
	byKey := map[cost.KernelKey][]KernelCase{}
	for _, c := range cases {
		byKey[c.KernelKey] = append(byKey[c.KernelKey], c)
	}
	left = map[cost.KernelKey]int{}
	for key, list := range byKey {
		if len(list) < leastCases {
			left[key] = len(list)
			continue
		}
		kernels = append(kernels, fitKernel(key, list, givenFor(key, list, cases, general)))
	}
	slices.SortFunc(kernels, func(a, b cost.Kernel) int { return cmp.Compare(keyText(a.KernelKey), keyText(b.KernelKey)) })
	return kernels, left
}

func keyText(k cost.KernelKey) string {
	return fmt.Sprintf("%v %v %s %s %s %v", k.Graph, k.Network, k.Collective, k.Algorithm, k.Protocol, k.Pair)
}

// fitKernel tries all piecewise models; more pieces have to lower the held-out error.
func fitKernel(key cost.KernelKey, cases []KernelCase, g given) cost.Kernel {
	slices.SortStableFunc(cases, func(a, b KernelCase) int {
		return cmp.Or(cmp.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Series, b.Series))
	})
	var best cost.Kernel
	for i, all := range kernelPieces {
		pieces := reached(all, cases)
		m := newKernelModel(cases, pieces, g)
		if i > 0 && 3*m.size() > 2*len(cases) {
			break
		}
		k := m.fit(cases)
		k.KernelKey, k.HeldOut = key, round(m.heldOut(cases), 1e4)
		if i == 0 || k.HeldOut < 0.97*best.HeldOut {
			best = k
		}
	}
	return best
}

// reached are the pieces that chunks reach well into: what lies beyond cannot be fitted.
func reached(pieces []units.Bytes, cases []KernelCase) []units.Bytes {
	most := units.Bytes(0)
	for _, c := range cases {
		most = max(most, c.Chunk)
	}
	n := 1
	for n < len(pieces) && 2*pieces[n] <= most {
		n++
	}
	return pieces[:n]
}

// kernelModel is linear in base, hop, net hop and the slowdown of each piece, for a
// given drain. Hops that the cases cannot tell from the base keep the table's cost.
type kernelModel struct {
	pieces     []units.Bytes
	hop, net   bool // fitted
	tellsDrain bool
	chain      bool
	given      // where it is not fitted
}

func newKernelModel(cases []KernelCase, pieces []units.Bytes, g given) *kernelModel {
	m := &kernelModel{pieces: pieces, given: g}
	for _, c := range cases {
		m.chain = m.chain || c.Chain
		m.hop = m.hop || c.Hops != cases[0].Hops
		m.net = m.net || c.NetHops != cases[0].NetHops
		m.tellsDrain = m.tellsDrain || c.Steps != cases[0].Steps
	}
	return m
}

// size is the number of unknowns.
func (m *kernelModel) size() int { return 3 + len(m.pieces) }

// row is the coefficients of base, hop, net hop and pieces.
func (m *kernelModel) row(c *KernelCase, s shape) []float64 {
	out := make([]float64, m.size())
	out[0] = 1
	if m.hop {
		out[1] = c.Hops
	}
	if m.net {
		out[2] = c.NetHops
	}
	first := units.Bytes(0) // bytes that pass all hops
	if c.Chain {
		first = min(c.Chunk, s.fill)
	}
	for i := range m.pieces {
		streamed, filling := m.within(i, c.Chunk), m.within(i, first)
		out[3+i] = ((c.Steps+s.drain)*(streamed-filling) + (c.Hops+c.NetHops)*filling) / c.Line * 1e12
	}
	return out
}

// within is how many of the first bytes of a chunk belong to piece i.
func (m *kernelModel) within(i int, bytes units.Bytes) float64 {
	end := bytes
	if i+1 < len(m.pieces) {
		end = min(end, m.pieces[i+1])
	}
	return float64(max(end-m.pieces[i], 0))
}

// unfitted is the part of a case's time that is not fitted.
func (m *kernelModel) unfitted(c *KernelCase) float64 {
	t := 0.0
	if !m.hop {
		t += c.Hops * m.given.hop
	}
	if !m.net {
		t += c.NetHops * m.given.net
	}
	return t
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
var drains = []float64{-0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1}

// fills are the sizes that may fill a chain.
var fills = []units.Bytes{0, 256 * units.KiB, 512 * units.KiB, units.MiB, 2 * units.MiB, 4 * units.MiB, 8 * units.MiB, 16 * units.MiB, 32 * units.MiB}

// solve takes the drain with the least squares.
func (m *kernelModel) solve(cases []KernelCase) solution {
	best, least := solution{}, math.Inf(1)
	for _, x := range m.shapes() {
		s := solution{m.least(cases, x), x}
		sum := 0.0
		for i := range cases {
			e := m.predict(s, &cases[i])/float64(cases[i].Time) - 1
			sum += e * e
		}
		if sum < least {
			best, least = s, sum
		}
	}
	return best
}

// shapes are all combinations to try.
func (m *kernelModel) shapes() []shape {
	tried, filled := drains, fills
	if !m.tellsDrain {
		tried = []float64{m.drain}
	}
	if !m.chain {
		filled = fills[:1]
	} else if !m.hop {
		filled = []units.Bytes{m.fill}
	}
	var out []shape
	for _, d := range tried {
		for _, f := range filled {
			out = append(out, shape{d, f})
		}
	}
	return out
}

// least is weighted least squares with lower bounds; slowdowns are at least 1.
func (m *kernelModel) least(cases []KernelCase, s shape) []float64 {
	rows, times := make([][]float64, len(cases)), make([]float64, len(cases))
	for i := range cases {
		rows[i], times[i] = m.row(&cases[i], s), float64(cases[i].Time)
		for j, v := range rows[i] {
			rows[i][j] = v / times[i]
		}
		times[i] = 1 - m.unfitted(&cases[i])/times[i]
	}
	lower := make([]float64, m.size())
	for i := 3; i < len(lower); i++ {
		lower[i] = 1
	}
	return boundedLeastSquares(rows, times, lower)
}

func (m *kernelModel) predict(s solution, c *KernelCase) float64 {
	t := m.unfitted(c)
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

// heldOut leaves every fifth case out in turn.
func (m *kernelModel) heldOut(cases []KernelCase) float64 {
	sum, parts := 0.0, 0.0
	for f := range folds {
		var train, test []KernelCase
		for i, c := range cases {
			if i%folds == f {
				test = append(test, c)
			} else {
				train = append(train, c)
			}
		}
		if len(test) > 0 {
			sum += m.mape(m.solve(train), test) * float64(len(test))
			parts += float64(len(test))
		}
	}
	return sum / parts
}

// fit is the kernel fitted on all cases.
func (m *kernelModel) fit(cases []KernelCase) cost.Kernel {
	s := m.solve(cases)
	k := cost.Kernel{Base: picoseconds(s.x[0]), Hop: picoseconds(m.given.hop), NetHop: picoseconds(m.given.net), Drain: s.drain, Fill: s.fill,
		MinSize: cases[0].Size, MaxSize: cases[0].Size, Rows: len(cases), Error: round(m.mape(s, cases), 1e4)}
	if m.hop {
		k.Hop = picoseconds(s.x[1])
	}
	if m.net {
		k.NetHop = picoseconds(s.x[2])
	}
	for i, from := range m.pieces {
		k.Pieces = append(k.Pieces, cost.Piece{From: from, Slowdown: max(round(s.x[3+i], 1e5), 1)})
	}
	for _, c := range cases {
		k.MinSize, k.MaxSize = min(k.MinSize, c.Size), max(k.MaxSize, c.Size)
	}
	return k
}

// picoseconds rounds to nanoseconds: more digits would be noise.
func picoseconds(ps float64) units.Time { return units.Time(math.Round(ps/1e3)) * units.Nanosecond }

func round(v, scale float64) float64 { return math.Round(v*scale) / scale }
