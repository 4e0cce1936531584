package main

import (
	"fmt"
	"io"
	"slices"

	"railyard/interop/foreign"
	"railyard/interop/kubernetes"
	"railyard/interop/nccltuner"
	"railyard/interop/slurm"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Formats that a topology is exported to; a plan may say more of a job.
const (
	toGres     = "slurm-gres"
	toTree     = "slurm-tree"
	toYAML     = "slurm-topology"
	toSlurmJob = "slurm-job"
	toKueue    = "kueue"
	toKubeJob  = "kubernetes-job"
)

// topologyExport writes a topology, or a job on it by a plan, if there is one.
type topologyExport func(f *exportFlags, w io.Writer, t *topology.Topology, s *schedule.Schedule) error

var ofTopology = map[string]topologyExport{
	toGres: topologyAlone(slurm.WriteGres), toTree: topologyAlone(slurm.WriteTree), toYAML: topologyAlone(slurm.WriteYAML),
	toKueue: topologyAlone(kubernetes.WriteTopology), toSlurmJob: (*exportFlags).slurmJob, toKubeJob: (*exportFlags).kubernetesJob,
}

// topologyAlone writes what only the topology says.
func topologyAlone(write func(io.Writer, *topology.Topology) error) topologyExport {
	return func(_ *exportFlags, w io.Writer, t *topology.Topology, _ *schedule.Schedule) error {
		return write(w, t)
	}
}

func (f *exportFlags) slurmJob(w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	settings, notes, err := f.settings(t, s)
	if err != nil {
		return err
	}
	return slurm.Job{Title: jobTitle(t, s), Topology: t, Settings: settings, Notes: notes}.Write(w)
}

func (f *exportFlags) kubernetesJob(w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	settings, _, err := f.settings(t, s)
	if err != nil {
		return err
	}
	return kubernetes.Job{Title: jobTitle(t, s), Topology: t, Image: f.Image, Command: f.Command, Settings: settings}.Write(w)
}

func jobTitle(t *topology.Topology, s *schedule.Schedule) string {
	title := fmt.Sprintf("railyard %s: a job on %s, %d nodes, %d GPUs", version, t.Name(), t.NumNodes(), t.NumRanks())
	if s != nil {
		title += fmt.Sprintf(", by the plan %s for %v", s.Algorithm, s.Spec.Kind)
	}
	return title
}

// settings are NCCL's variables that the topology, and the plan if there is one, give a reason for.
func (f *exportFlags) settings(t *topology.Topology, s *schedule.Schedule) (out []foreign.Setting, notes []string, err error) {
	out = nccltuner.Settings(t)
	if s == nil {
		return out, nil, nil
	}
	x, err := newTunerRows(f, t)
	if err != nil {
		return nil, nil, err
	}
	rows, err := x.ofPlan(s)
	if err != nil {
		return nil, nil, err
	}
	e := nccltuner.Env{Plan: x.title(s), Rows: rows, Own: x.otherChannels()}
	settings, notes, err := e.Settings()
	return slices.Concat(out, settings), notes, err
}
