package gate

import (
	"cmp"
	"math"
	"slices"

	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/study"
)

// minSlowdown is by how much a fault has to slow a run to be one at all: less is rounding of predictions.
const minSlowdown = 1.001

// expected is what the library takes on a state of the machine, by size.
func (g *gate) expected(t *topology.Topology) ([]study.Baseline, error) {
	a := g.Asked.Asked
	a.Topology, a.Sizes = t, g.sizes
	q, err := study.New(a)
	if err != nil {
		return nil, err
	}
	return q.Expect()
}

// slower is how many times as long runs take on a sick machine, by size. Where the network is fuller, what bytes take on its links at
// line rate grows.
func (g *gate) slower(s Fault) ([]float64, error) {
	out := make([]float64, len(g.sizes))
	if s.topology == nil {
		for i, x := range g.healthy {
			out[i] = 1 + (s.crowded-1)*float64(x.Wire)/float64(x.Line)
		}
		return out, nil
	}
	times, err := g.expected(s.topology)
	for i := range times {
		out[i] = float64(times[i].Time) / float64(g.healthy[i].Time)
	}
	return out, err
}

// detect says of each fault and size how likely the gate finds it.
func (g *gate) detect() error {
	list, err := singleFaults(g.Topology)
	if err != nil {
		return err
	}
	wrong, ok, err := misplaced(cmp.Or(g.Whole, g.Topology), g.doc.Nodes)
	if err != nil {
		return err
	}
	if ok {
		list = append(list, wrong)
	}
	if g.Kinds != nil {
		list = slices.DeleteFunc(list, func(s Fault) bool { return !slices.Contains(g.Kinds, s.Kind) })
	}
	if g.Beside {
		if err := g.compare(list); err != nil {
			return err
		}
	}
	for _, s := range list {
		slower, err := g.slower(s)
		if err != nil {
			return err
		}
		for _, size := range g.Sizes {
			g.doc.Faults = append(g.doc.Faults, g.fault(s, size, slower))
		}
	}
	return nil
}

// detects is how likely a run fails that takes so many times as long as it should.
func (g *gate) detects(i int, slower float64) float64 {
	if slower < minSlowdown {
		return g.FalseAlarms
	}
	return g.beliefs[i].detects(slower, g.FalseAlarms)
}

// fault says what the gate of a size finds of one fault, and where it does not, which size would, or how near to one another runs have
// to be.
func (g *gate) fault(s Fault, size units.Bytes, slower []float64) report.GateFault {
	i := g.at(size)
	out := report.GateFault{SizeBytes: int64(size), Kind: s.Kind, Fault: s.What, Slower: slower[i], BusBW: g.busBW(i, math.Log(slower[i])),
		Detection: g.detects(i, slower[i])}
	out.Detected = out.Detection >= sure
	if out.Detected {
		return out
	}
	for k, at := range g.sizes {
		if g.detects(k, slower[k]) >= sure {
			from := int64(at)
			out.FromBytes = &from
			break
		}
	}
	if slower[i] >= minSlowdown {
		spread := bearable(slower[i], g.FalseAlarms)
		out.Bearable = &spread
	}
	return out
}
