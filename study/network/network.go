// Package network makes the costs of a network between hosts by measuring it: the profile by which runs
// of the host backend over several nodes are predicted before they start.
package network

import (
	"context"
	"fmt"
	"slices"
	"time"

	"railyard/exec/host"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
)

// Calibration is what was measured, and what it says.
type Calibration struct {
	Profile  *cost.Profile
	Rows     []measurement.Link // as exec/host has them
	Suspects []fit.Suspect      // parts of the network that are slow beside their like
	Ratios   []Together         // of messages that all send at once
}

// Together is messages that all processes send at once to the one so many places on.
type Together struct {
	Distance            int
	Bytes               units.Bytes
	Predicted, Measured units.Time // until the last of them is there, in the middle of the rounds
}

// Calibrate measures the network between the processes of a run, which run the ranks of t, and no collective: messages
// between pairs and of all at once, messages within a process, and what its ranks reach in their memory. All processes call it, and all
// get the same.
func Calibrate(ctx context.Context, p *host.Processes, t *topology.Topology, cfg host.Config, largest units.Bytes) (*Calibration, error) {
	if t.NumRanks() != p.Total() {
		return nil, fmt.Errorf("%d processes run %d ranks, %s has %d", p.Size, p.Total(), t.Name(), t.NumRanks())
	}
	levels, err := p.Levels(ctx, cfg, 2*units.Bytes(p.Ranks)*largest)
	if err != nil {
		return nil, err
	}
	rows, err := p.Network(ctx, largest)
	if err != nil {
		return nil, err
	}
	return Of(rows, levels[len(levels)-1], t, p.Firsts(), largest)
}

// Of makes the profile of rows that were measured before, between processes whose first ranks are these.
func Of(rows []measurement.Link, memory cost.Level, t *topology.Topology, ranks []int, largest units.Bytes) (*Calibration, error) {
	n, err := fit.FromNetwork(rows, t, ranks)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Rows: rows, Suspects: n.Suspects, Profile: &cost.Profile{Name: "hosts (measured now)",
		Reduce: beyondCopy(memory.Fresh), Copy: memory.Input.Copy, MaxSize: largest, Curves: []cost.Curve{n.Curve},
		Origin: cost.Origin{Kind: cost.Measured, Error: n.Error, Date: time.Now().UTC().Format(time.DateOnly),
			Source: "messages between nodes and memory measured at the start of the run, no collective"}}}
	x := &crowd{t: t, ranks: ranks, profile: c.Profile}
	if err := x.read(rows); err != nil {
		return nil, err
	}
	c.Ratios = x.ratios
	c.loaded(x.shares)
	if alpha := fit.Local(rows); alpha > 0 {
		c.Profile.Curves = append(c.Profile.Curves, cost.Curve{Medium: "any", Protocol: "any",
			Segments: []cost.Segment{{Alpha: alpha, Efficiency: 1, Rate: memory.Fresh.Copy}}})
	}
	return c, nil
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
	slices.Sort(shares)
	most, segments := shares[len(shares)/2], c.Profile.Curves[0].Segments
	if alone := segments[len(segments)-1].Efficiency; most < alone {
		c.Profile.Error += fmt.Sprintf("; %.1f%% of the line rate alone, %.1f%% all at once", 100*alone, 100*most)
	}
	for i := range segments {
		segments[i].Efficiency = min(segments[i].Efficiency, most)
	}
}
