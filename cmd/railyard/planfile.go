package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/units"
	"railyard/study"
)

// decidedBySchedule are the flags that a given schedule leaves without effect.
var decidedBySchedule = []string{"collective", "root", "counts", "counts-of", "algo", "proto", "channels", "slices"}

// checkPlanFile refuses such flags where there is a schedule.
func checkPlanFile(cmd *cobra.Command, plan string) error {
	if plan == "" {
		return nil
	}
	return cli.NoEffect(cmd, "with --plan: the schedule says it", decidedBySchedule...)
}

// baseline is what the library takes for the collective of a job of all ranks.
func (f *planFlags) baseline(cmd *cobra.Command, x *scenario, j *job) (study.Baseline, error) {
	a, err := f.asked(cmd, x.topo, []units.Bytes{j.size})
	if err != nil {
		return study.Baseline{}, err
	}
	c := j.Schedule.Spec
	a.Collective, a.Machine, a.Detail = study.Collective{Kind: c.Kind, Root: c.Root, Counts: c.Counts}, x.machine,
		study.Detail{Baseline: true}
	q, err := study.New(a)
	if err != nil {
		return study.Baseline{}, err
	}
	return q.Baseline(j.size)
}

// fromFile takes a plan from a file for all sizes, in place of a search.
func (f *planFlags) fromFile(cmd *cobra.Command, path string) (*planned, error) {
	t, err := f.Topo.load()
	if err != nil {
		return nil, err
	}
	s, err := readSchedule(path, t)
	if err != nil {
		return nil, err
	}
	sizes, err := f.Sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	a, err := f.asked(cmd, t, sizes)
	if err != nil {
		return nil, err
	}
	a.Collective, a.Detail.Baseline = study.Collective{Kind: s.Spec.Kind, Root: s.Spec.Root, Counts: s.Spec.Counts}, true
	p := &planned{source: f.Topo.Name}
	q, err := study.New(a)
	if err != nil {
		return nil, err
	}
	p.Answer, err = q.AnswerWith(s)
	return p, err
}
