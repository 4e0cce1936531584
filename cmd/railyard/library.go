package main

import (
	"fmt"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/fit"
	"railyard/sim/nccl"
)

// library is the runtime of the communication library on a row's number of GPUs.
func (c *cases) library(m measurement.Row) (*nccl.Runtime, error) {
	key := [2]int{m.Nodes, m.GPUs}
	if r, ok := c.runtimes[key]; ok {
		return r, nil
	}
	t, err := c.topology(m)
	if err != nil {
		return nil, err
	}
	r, err := nccl.NewRuntime(t, c.profile, c.general, c.options)
	if err == nil {
		c.runtimes[key] = r
	}
	return r, err
}

// predictLibrary predicts a row from the fitted kernels of the profile, with NCCL's own
// estimate beside it.
func (c *cases) predictLibrary(m measurement.Row) (report.Predicted, error) {
	return c.predictWith(c.profile, c.general, m)
}

// predictWith predicts a row with other profiles.
func (c *cases) predictWith(profile, general *cost.Profile, m measurement.Row) (report.Predicted, error) {
	r, err := c.library(m)
	if err != nil {
		return report.Predicted{}, err
	}
	p, err := r.With(profile, general).Predict(asked(m))
	if err != nil {
		return report.Predicted{}, err
	}
	low, high := p.Behind(c.floors[runOf(m)]).Band()
	out := report.Predicted{Time: p.Time, Low: low, High: high, Own: p.Own, Schedule: p.Algorithm + "/" + p.Protocol, Profile: profile.Name, Over: p.Over, Warnings: p.Warnings}
	if floor := c.floors[runOf(m)]; floor > out.Time {
		out.Time = floor
		out.Warnings = append(out.Warnings[:len(out.Warnings):len(out.Warnings)], report.HiddenByLaunch)
	}
	return out, nil
}

// asked is a row as a question.
func asked(m measurement.Row) nccl.Ask {
	return nccl.Ask{Kind: m.Collective, Algorithm: m.Algo, Protocol: m.Proto, Size: m.Size, Graph: m.Launch == "graph"}
}

// runKey is what rows of one run with one launch floor share.
type runKey struct {
	id, launch, dtype string
	kind              collective.Kind
	gpus              int
}

func runOf(m measurement.Row) runKey { return runKey{m.ID, m.Launch, m.DType, m.Collective, m.GPUs} }

// floorSize is the size up to which a run's times show nothing but its launch floor; of
// a run that begins with a larger one, its first size.
const floorSize = 8 * units.KiB

// launchFloors finds the floor of every run in which one process launches for all GPUs:
// a parameter of the run, not of the hardware. It is the median of the times of its
// smallest sizes.
func launchFloors(rows []measurement.Row, single func(measurement.Row) bool) map[runKey]units.Time {
	least := map[runKey]units.Bytes{}
	for _, m := range rows {
		if k := runOf(m); m.Size > 0 && (least[k] == 0 || m.Size < least[k]) {
			least[k] = m.Size
		}
	}
	small := map[runKey][]units.Time{}
	for _, m := range rows {
		if single(m) && m.Size > 0 && m.Size <= max(floorSize, least[runOf(m)]) && m.Time > 0 {
			small[runOf(m)] = append(small[runOf(m)], m.Time)
		}
	}
	floors := map[runKey]units.Time{}
	for k, times := range small {
		slices.Sort(times)
		floors[k] = times[len(times)/2]
	}
	return floors
}

// chooseFloors are the floors of a file's runs as --launch-floor says.
func (c *cases) chooseFloors(rows []measurement.Row, flag string) (map[runKey]units.Time, error) {
	switch flag {
	case "none":
		return nil, nil
	case "auto":
		return launchFloors(rows, func(m measurement.Row) bool { return streamed(m) || m.Launch == "" && c.floored(m) }), nil
	}
	t, err := units.ParseTime(flag)
	if err != nil {
		return nil, usagef("--launch-floor %s: must be auto, none or a time such as 25us", flag)
	}
	floors := map[runKey]units.Time{}
	for _, m := range rows {
		floors[runOf(m)] = t
	}
	return floors, nil
}

// floored reports whether a small measurement takes so much longer than its kernel that
// the launch must be what was measured.
func (c *cases) floored(m measurement.Row) bool {
	if len(c.profile.Kernels) == 0 || m.Size > floorSize {
		return false
	}
	alone := *c
	alone.floors = nil // of another file
	p, err := alone.predictLibrary(m)
	return err == nil && m.Time > 2*p.Time
}

// streamed are rows that one process launched for every GPU.
func streamed(m measurement.Row) bool { return m.Launch == "stream" }

// kernelCase is a measured row as the fit of kernels sees it. Where the launch floor hides
// the kernel, it is an error, and the case is returned with it.
func (c *cases) kernelCase(m measurement.Row) (fit.KernelCase, error) {
	r, err := c.library(m)
	if err != nil {
		return fit.KernelCase{}, err
	}
	x, err := r.Case(asked(m))
	if err != nil {
		return fit.KernelCase{}, err
	}
	if floor := c.floors[runOf(m)]; m.Time < 3*floor {
		err = fmt.Errorf("the launch floor of the run hides what the kernel takes")
	}
	return fit.KernelCase{KernelKey: x.Key, Hops: x.Work.Hops, NetHops: x.Work.NetHops, Steps: x.Work.Steps, Chunk: x.Work.Chunk, Chain: x.Work.Chain, Line: x.Work.Line,
		Prior: x.Prior, Machine: c.profile.Name, Ranks: m.GPUs, Series: m.ID, Size: m.Size, Time: m.Time}, err
}
