// Package network makes the costs of a network between hosts by measuring it: the profile by which runs
// of the host backend over several nodes are predicted before they start.
package network

import (
	"context"
	"fmt"
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
	Predicted, Measured units.Time // until the last of them is there, in the middle of the rounds
}

// Calibrate measures the network between the processes of a run, each of which runs one rank of t, and no collective: messages
// between pairs, and what a process reaches in its memory. All processes call it, and all get the same.
func Calibrate(ctx context.Context, p *host.Processes, t *topology.Topology, cfg host.Config, largest units.Bytes) (*Calibration, error) {
	if p.Total() != p.Size || t.NumRanks() != p.Size {
		return nil, fmt.Errorf("%d processes run %d ranks of %d of the topology: a network is measured with one rank a process",
			p.Size, p.Total(), t.NumRanks())
	}
	levels, err := p.Levels(ctx, cfg, 2*largest)
	if err != nil {
		return nil, err
	}
	rows, err := p.Network(ctx, largest)
	if err != nil {
		return nil, err
	}
	return Of(rows, levels[len(levels)-1], t, largest)
}

// Of makes the profile of rows that were measured before.
func Of(rows []measurement.Link, memory cost.Level, t *topology.Topology, largest units.Bytes) (*Calibration, error) {
	ranks := make([]int, t.NumRanks())
	for i := range ranks {
		ranks[i] = i
	}
	n, err := fit.FromNetwork(rows, t, ranks)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Rows: rows, Suspects: n.Suspects, Profile: &cost.Profile{Name: "hosts (measured now)", Reduce: memory.Fresh.Combine,
		Copy: memory.Input.Copy, MaxSize: largest, Curves: []cost.Curve{n.Curve},
		Origin: cost.Origin{Kind: cost.Measured, Error: n.Error, Date: time.Now().UTC().Format(time.DateOnly),
			Source: "messages between nodes and memory measured at the start of the run, no collective"}}}
	c.Ratios, err = together(rows, t, c.Profile)
	return c, err
}
