// Package network makes the costs of a network between hosts by measuring it: the profile by which runs
// of the host backend over several nodes are predicted before they start.
package network

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
	"railyard/report/table"
)

// Calibration is what was measured, and what it says.
type Calibration struct {
	Profile  *cost.Profile      // without a name, source and date
	Rows     []measurement.Link // as exec/host has them
	Suspects []fit.Suspect      // parts of the network that are slow beside their like
	Ratios   []Together         // of messages that all send at once
}

// Lines say what the profile does not, for people.
func (c *Calibration) Lines() (out []string) {
	for _, r := range c.Ratios {
		out = append(out, fmt.Sprintf("all at once, to the rank %d on: %s as the topology's links say, %s measured", r.Distance,
			table.Microseconds(r.Predicted.Microseconds()), table.Microseconds(r.Measured.Microseconds())))
	}
	for _, s := range c.Suspects {
		out = append(out, fmt.Sprintf("slow: %v", s))
	}
	for _, curve := range c.Profile.Curves {
		p, between := schedule.Protocol(curve.Protocol), curve.Medium == topology.Network.String()
		if between && (p == schedule.Proxied || p == schedule.Staged) {
			line := fmt.Sprintf("GPUs by %s: %v a message between nodes", p, curve.Segments[0].Alpha)
			if curve.Sustained > 0 {
				line += fmt.Sprintf(", %v each way in the long run, and faster in bursts", curve.Sustained)
			}
			out = append(out, line)
		}
	}
	for _, p := range []schedule.Protocol{schedule.Proxied, schedule.Staged} {
		kind := engineKind(p)
		if slices.ContainsFunc(c.Rows, func(r measurement.Link) bool { return r.Kind == kind }) {
			out = append(out, fmt.Sprintf("rows %s are of an earlier version, which timed one message after another only: "+
				"they are left out; probe again for what GPUs take by %s", kind, p))
		}
	}
	return out
}

// Measured reports whether rows are of a network between processes.
func Measured(rows []measurement.Link) bool {
	return slices.ContainsFunc(rows, func(r measurement.Link) bool { return r.Kind == measurement.NetPair })
}

// Of makes the profile of rows that were measured between processes, each with as many of t's ranks.
func Of(rows []measurement.Link, t *topology.Topology) (*Calibration, error) {
	ranks, err := FirstRanks(rows, t)
	if err != nil {
		return nil, err
	}
	n, err := fit.FromNetwork(rows, t, ranks)
	if err != nil {
		return nil, err
	}
	m, err := memoryOf(rows)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Rows: rows, Suspects: n.Suspects, Profile: &cost.Profile{Reduce: beyondCopy(m.fresh), Copy: m.input,
		MaxSize: m.largest,
		Curves:  []cost.Curve{n.Curve}, Origin: cost.Origin{Kind: cost.Measured, Error: n.Error}}}
	x := newCrowd(t, ranks, c.Profile, rows)
	if err := x.read(rows); err != nil {
		return nil, err
	}
	c.Ratios = x.ratios
	c.loaded(x.shares)
	if alpha := fit.Local(rows); alpha > 0 {
		c.Profile.Curves = append(c.Profile.Curves, cost.Curve{Medium: "any", Protocol: "any",
			Segments: []cost.Segment{{Alpha: alpha, Efficiency: 1, Rate: m.fresh.Copy}}})
	}
	engines, err := engineCurves(rows, t)
	c.Profile.Curves = append(c.Profile.Curves, engines...)
	return c, err
}

// FirstRanks are the first ranks of all processes that rows are of, each with as many of t's; rows of fewer than two, or of as many as do
// not divide them, are an error.
func FirstRanks(rows []measurement.Link, t *topology.Topology) ([]int, error) {
	n := 0
	for _, row := range rows {
		if process, err := strconv.Atoi(row.Src); err == nil && row.Kind == measurement.NetInput {
			n = max(n, process+1)
		}
	}
	if n < 2 || t.NumRanks()%n > 0 {
		return nil, fmt.Errorf("rows of the memory of %d processes, and %s has %d ranks: there must be at least two processes, each "+
			"with as many ranks", n, t.Name(), t.NumRanks())
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i * t.NumRanks() / n
	}
	return ranks, nil
}

// memory is what ranks reach in their memory, in the middle of all processes.
type memory struct {
	fresh   cost.Pass
	input   units.Rate
	largest units.Bytes // collective for which it was measured
}

func memoryOf(rows []measurement.Link) (m memory, err error) {
	for _, x := range []struct {
		kind string
		rate *units.Rate
	}{{measurement.NetInput, &m.input}, {measurement.NetCopy, &m.fresh.Copy}, {measurement.NetCombine, &m.fresh.Combine}} {
		fastest := map[string]float64{} // by process: what others make of a machine for a moment is not its own
		for _, row := range rows {
			if row.Kind == x.kind {
				fastest[row.Src], m.largest = max(fastest[row.Src], row.Value*1e9), max(m.largest, row.Bytes)
			}
		}
		if *x.rate = units.Rate(measurement.Median(slices.Collect(maps.Values(fastest)))); *x.rate <= 0 {
			return m, fmt.Errorf("no rows %s: what ranks reach in their memory was not measured", x.kind)
		}
	}
	return m, nil
}

// beyondCopy is what combining takes beyond copying: messages are measured with the copy out of where they came to, in
// whose place they are combined.
func beyondCopy(p cost.Pass) units.Rate {
	if p.Combine >= p.Copy {
		return 0
	}
	return units.Rate(1 / (1/float64(p.Combine) - 1/float64(p.Copy)))
}

// loaded leaves messages no more of the line rate than they reach, in the middle, when all send at once, as ranks of collectives do:
// processors and adapters that are fast enough for one way or one flow may not be for all.
func (c *Calibration) loaded(shares []float64) {
	if len(shares) == 0 {
		return
	}
	most, segments := measurement.Median(shares), c.Profile.Curves[0].Segments
	if alone := segments[len(segments)-1].Efficiency; most < alone {
		c.Profile.Error += fmt.Sprintf("; %.1f%% of the line rate alone, %.1f%% all at once", 100*alone, 100*most)
	}
	for i := range segments {
		segments[i].Efficiency = min(segments[i].Efficiency, most)
	}
}
