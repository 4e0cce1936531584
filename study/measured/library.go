package measured

import (
	"cmp"
	"fmt"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/fit"
	"railyard/sim/nccl"
)

// Library is the runtime of the communication library on a row's number of GPUs.
func (c *Cases) Library(m measurement.Row) (*nccl.Runtime, error) {
	key := [2]int{m.Nodes, m.GPUs}
	if r, ok := c.runtimes[key]; ok {
		return r, nil
	}
	t, err := c.topology(m)
	if err != nil {
		return nil, err
	}
	r, err := nccl.NewRuntime(t, c.profile, c.General, c.Options)
	if err == nil {
		c.runtimes[key] = r
	}
	return r, err
}

// predictLibrary predicts a row from the fitted kernels of the profile, with NCCL's own
// estimate beside it.
func (c *Cases) predictLibrary(m measurement.Row) (report.Predicted, error) {
	return c.PredictWith(c.profile, c.General, m)
}

// PredictWith predicts a row with other profiles.
func (c *Cases) PredictWith(profile, general *cost.Profile, m measurement.Row) (report.Predicted, error) {
	r, err := c.Library(m)
	if err != nil {
		return report.Predicted{}, err
	}
	x, err := c.with(r, profile, general).PredictLaunched(asked(m), c.launch(m))
	if err != nil {
		return report.Predicted{}, err
	}
	low, high := x.Band()
	out := report.Predicted{Time: x.Time, Low: low, High: high, Own: x.Own, Schedule: x.Algorithm + "/" + x.Protocol, Profile: profile.Name,
		Over: x.Over, Basis: x.Basis, Warnings: x.Warnings}
	if x.Floored {
		out.Warnings = append(out.Warnings[:len(out.Warnings):len(out.Warnings)], report.HiddenByLaunch)
	}
	return out, nil
}

// with is a runtime with other profiles, kept for as long as these are the ones.
func (c *Cases) with(r *nccl.Runtime, profile, general *cost.Profile) *nccl.Runtime {
	key := other{r, profile, general}
	if x, ok := c.others[key]; ok {
		return x
	}
	for old := range c.others {
		if old.general != general {
			c.others = nil
		}
		break
	}
	if c.others == nil {
		c.others = map[other]*nccl.Runtime{}
	}
	c.others[key] = r.With(profile, general)
	return c.others[key]
}

// asked is a row as a question.
func asked(m measurement.Row) nccl.Ask {
	return nccl.Ask{Kind: m.Collective, Algorithm: m.Algo, Protocol: m.Proto, Size: m.Size, Graph: m.Launch == "graph"}
}

// misaligned reports whether a rank's part of a row begins off 16 bytes, as where nccl-tests did not round parts (before 2022-09-20): 12
// V100 all-gather at half the rate of an all-reduce, whose chunks NCCL aligns. Sizes that ranks do not divide are those asked for, not
// those moved.
func misaligned(m measurement.Row) bool {
	n := units.Bytes(m.GPUs)
	inParts := m.Collective == collective.AllGather || m.Collective == collective.ReduceScatter
	return inParts && m.Size%n == 0 && m.Size/n%16 > 0
}

// KernelCase is a measured row as the fit of kernels sees it. Where launches hide the kernel, or parts are misaligned, it is an error, and
// the case is returned with it.
func (c *Cases) KernelCase(m measurement.Row) (fit.KernelCase, error) {
	r, err := c.Library(m)
	if err != nil {
		return fit.KernelCase{}, err
	}
	x, err := r.Case(asked(m))
	if err != nil {
		return fit.KernelCase{}, err
	}
	launch := c.launch(m)
	hidden, err := r.LaunchOf(asked(m), launch)
	if err == nil && m.Time < clearOfLaunches*hidden {
		err = fmt.Errorf("the launch floor of the run hides what the kernel takes")
	}
	if err == nil && misaligned(m) {
		err = fmt.Errorf("parts off 16 bytes are moved element by element, which no kernel of whole ones tells")
	}
	return fit.KernelCase{KernelKey: x.Key, Hops: x.Work.Hops + x.Work.Waits, NetHops: x.Work.NetHops + x.Work.Posts, Steps: x.Work.Steps,
		Drains: x.Work.Drains, Chunk: x.Work.Chunk, Passes: x.Work.Passes(), Line: x.Work.Line,
		Prior: x.Prior, Latency: x.Latency, Bytes: x.Bytes, System: cmp.Or(m.System, m.ID), Machine: c.profile.Name, Ranks: m.GPUs,
		Series: m.ID, Size: m.Size, Time: max(m.Time-x.Farther-launch.Ahead, m.Time/10)}, err
}
