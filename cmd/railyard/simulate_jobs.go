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
	if o.Ranks != "" {
		var err error
		if ranks, err = parseRanks(o.Ranks); err != nil {
			return nil, cli.Usagef("--ranks: %v", err)
		}
	}
	if o.Plan != "" {
		j, err := readJob(o.Plan, x.topo, size, ranks)
		if err == nil && ranks == nil {
			x.baseline, err = f.baseline(cmd, x, j)
		}
		return j, err
	}
	part, ranks, err := partOf(x.topo, ranks)
	if err != nil {
		return nil, err
	}
	a, err := f.asked(cmd, part, []units.Bytes{size})
	if err != nil {
		return nil, err
	}
	a.Machine = x.machine
	a.Detail.Baseline, a.Detail.Changes = ranks == nil, ranks == nil
	found, err := answer(cmd, a)
	if err != nil {
		return nil, f.Coll.ofFile(err)
	}
	row := &found.Rows[0]
	if x.baseline = row.NCCL; row.Before != nil {
		x.planned = row.Before.Schedule
	}
	if row.Idle != nil {
		x.plannedIdle = row.Idle.Schedule
	}
	return &job{Job: sim.Job{Schedule: row.Schedule, Ranks: ranks}, name: "-c " + found.Question.Spec().Kind.String(), size: size}, nil
}

// job is one of those beside it.
func (x *scenario) job(spec jobSpec, protocols []schedule.Protocol) (*job, error) {
	if spec.file != "" {
		return readJob(spec.file, x.topo, spec.size, spec.ranks)
	}
	return planJob(spec, x.topo, x.machine, protocols)
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
