package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
)

// firstJob is the job that -c or --plan names.
func (x *scenario) firstJob(cmd *cobra.Command, f *planFlags, o *simulateFlags, size units.Bytes) (*job, error) {
	var ranks []int
	if o.ranks != "" {
		var err error
		if ranks, err = parseRanks(o.ranks); err != nil {
			return nil, cli.Usagef("--ranks: %v", err)
		}
	}
	if o.plan != "" {
		return readJob(o.plan, x.topo, size, ranks)
	}
	part, ranks, err := partOf(x.topo, ranks)
	if err != nil {
		return nil, err
	}
	p := &planned{source: f.topo.name, topo: part, profile: x.profile}
	if p.spec, err = f.coll.spec(cmd, part.NumRanks()); err != nil {
		return nil, err
	}
	if err := f.search(cmd, p, []units.Bytes{size}); err != nil {
		return nil, err
	}
	if ranks == nil {
		if err := f.planOthers(cmd, p); err != nil {
			return nil, err
		}
		if p.healthy != nil {
			x.planned = p.healthy[0].Schedule
		}
		if p.idle != nil {
			x.plannedIdle = p.idle[0].Schedule
		}
	}
	return &job{Job: sim.Job{Schedule: p.rows[0].Schedule, Ranks: ranks}, name: "-c " + p.spec.Kind.String(), size: size}, nil
}

// job is one of those beside it.
func (x *scenario) job(spec jobSpec, protocols []schedule.Protocol) (*job, error) {
	if spec.file != "" {
		return readJob(spec.file, x.topo, spec.size, spec.ranks)
	}
	return planJob(spec, x.topo, x.profile, protocols)
}

// readSchedule reads a plan and proves it right; for the topology, where one is given.
func readSchedule(path string, topo *topology.Topology) (*schedule.Schedule, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s, err := schedule.Decode(in)
	if err == nil {
		err = schedule.Check(s, topo)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}
