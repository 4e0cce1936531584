// Package gate says which bandwidth a healthy machine reaches and a sick one does not: a floor for health checks, with how likely it
// finds each fault.
package gate

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
	"railyard/sim/nccl"
	"railyard/study"
)

// sure is the share of runs on sick machines from which on a fault counts as detected.
const sure = 0.95

// Bulk is the size from which on published rows of machines left out pass as often as asked; of smaller ones, whose time is latency,
// 97.9 % do across networks where 99 % should.
const Bulk = nccl.Bulk

// Asked is what gates are made of.
type Asked struct {
	study.Asked
	FalseAlarms float64            // share of a healthy machine's runs that may fail
	Healthy     []measurement.Row  // runs on this machine while it is known to be healthy
	Whole       *topology.Topology // that the machine's nodes are of; nil: they are all
	Beside      bool               // also say which runs beside one another find what the floors do not
	Kinds       []string           // of faults that are looked for; nil: all
}

// gate makes the document.
type gate struct {
	Asked
	spec    collective.Spec
	sizes   []units.Bytes             // those asked for, and those at which faults may show that these do not
	healthy []study.Baseline          // by size
	runs    map[units.Bytes][]float64 // logarithms of own times over predicted ones
	beliefs []posterior               // by size
	doc     *report.GateDocument
}

// Of makes a gate for each size asked for.
func Of(a Asked) (*report.GateDocument, error) {
	if !(a.FalseAlarms > 0 && a.FalseAlarms < 0.5) {
		return nil, fmt.Errorf("a share of false alarms of %g: must be above 0 and below 0.5", a.FalseAlarms)
	}
	q, err := study.New(a.Asked)
	if err != nil {
		return nil, err
	}
	t := q.Topology()
	g := &gate{Asked: a, spec: q.Spec(), sizes: withLadder(a.Sizes), runs: map[units.Bytes][]float64{},
		doc: &report.GateDocument{Schema: "railyard.gate/v1", Topology: t.Name(), Profile: a.Machine.Name, Nodes: t.NumNodes(),
			Collective: q.Spec().Kind.String(), Ranks: t.NumRanks(), FalseAlarms: a.FalseAlarms, Faults: []report.GateFault{},
			Beside: []report.GateBeside{}}}
	if g.healthy, err = g.expected(t); err != nil {
		return nil, err
	}
	if err := g.read(); err != nil {
		return nil, err
	}
	g.estimate()
	for _, size := range a.Sizes {
		g.doc.Rows = append(g.doc.Rows, g.row(size))
	}
	return g.doc, g.detect()
}

// withLadder adds the sizes at which faults are looked for that others do not show.
func withLadder(sizes []units.Bytes) []units.Bytes {
	out := slices.Clone(sizes)
	for s := units.MiB; s <= 16*units.GiB; s *= 2 {
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// at is the place of a size.
func (g *gate) at(size units.Bytes) int { return slices.Index(g.sizes, size) }

// read takes one's own runs of this collective on as many GPUs and nodes.
func (g *gate) read() error {
	most := 0
	for _, m := range g.Healthy {
		fits := m.Collective == g.spec.Kind && (m.GPUs == 0 || m.GPUs == g.doc.Ranks) && (m.Nodes == 0 || m.Nodes == g.doc.Nodes)
		if i := g.at(m.Size); i >= 0 && fits && m.Unusable == "" && m.Time > 0 {
			g.runs[m.Size] = append(g.runs[m.Size], math.Log(float64(m.Time)/float64(g.healthy[i].Time)))
			most = max(most, len(g.runs[m.Size]))
		}
	}
	if len(g.Healthy) > 0 && most < MinRuns {
		return fmt.Errorf("of %d healthy runs, %d are of one size of the gate, %s on %d GPUs of %d nodes: give at least %d, or none",
			len(g.Healthy), most, g.spec.Kind, g.doc.Ranks, g.doc.Nodes, MinRuns)
	}
	return nil
}

// estimate says what predictions and own runs make believe of each size. Where faults are looked for at sizes that were not run, as many
// runs are supposed there, as far apart as those of the largest size that was.
func (g *gate) estimate() {
	var like []float64
	for _, size := range g.sizes {
		if runs := g.runs[size]; len(runs) >= MinRuns {
			like = nil
			for _, x := range runs {
				like = append(like, x-measurement.Median(runs))
			}
		}
	}
	for i, size := range g.sizes {
		runs := g.runs[size]
		switch {
		case len(runs) >= MinRuns:
		case slices.Contains(g.Sizes, size):
			runs = nil
		default:
			runs = like
		}
		g.beliefs = append(g.beliefs, newPosterior(g.factor(i), apartOf(g.doc.Nodes, size), runs))
	}
}

// factor is by how much a prediction may be off.
func (g *gate) factor(i int) float64 { return float64(g.healthy[i].High) / float64(g.healthy[i].Time) }

// busBW is the bus bandwidth in GB/s where a size takes so much longer than predicted, as a logarithm.
func (g *gate) busBW(i int, longer float64) float64 {
	_, bus := study.Bandwidths(g.spec, g.sizes[i], g.healthy[i].Time)
	return bus / math.Exp(longer)
}

// row is the gate of a size.
func (g *gate) row(size units.Bytes) report.GateRow {
	i := g.at(size)
	b, x := g.beliefs[i], g.healthy[i]
	floor := g.busBW(i, b.floor(g.FalseAlarms))
	row := report.GateRow{SizeBytes: int64(size), Algorithm: x.Algorithm, Protocol: x.Protocol, BusBW: g.busBW(i, 0),
		Typical: g.busBW(i, b.centre), Floor: floor, Tolerance: 1 - floor/g.busBW(i, b.centre), Band: g.factor(i), Spread: b.spread,
		Warnings: append([]string{}, x.Warnings...)}
	if size < Bulk && g.doc.Nodes > 1 {
		row.Warnings = append(row.Warnings, fmt.Sprintf("below %v more healthy runs than asked for may fail: latency decides", Bulk))
	}
	if runs := g.runs[size]; len(runs) >= MinRuns {
		row.Runs = len(runs)
		off := measurement.Median(runs)
		if prior := newPosterior(g.factor(i), apartOf(g.doc.Nodes, size), nil); off > prior.floor(g.FalseAlarms) {
			row.Warnings = append(row.Warnings, fmt.Sprintf("the runs given as healthy take %.2f times as long as predicted, "+
				"longer than on %s of healthy machines: make sure that they are", math.Exp(off), table.Percent(1-g.FalseAlarms)))
		}
	} else if len(g.runs) > 0 {
		row.Warnings = append(row.Warnings, fmt.Sprintf("no %d own runs of %v: its floor is the prediction's alone", MinRuns, size))
	}
	return row
}
