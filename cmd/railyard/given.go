package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/planner"
	"railyard/study/score"
)

// saidBySchedule are the flags that a given schedule leaves without effect.
var saidBySchedule = []string{"collective", "root", "counts", "counts-of", "algo", "proto", "channels", "slices"}

// checkGiven refuses such flags where there is a schedule.
func checkGiven(cmd *cobra.Command, plan string) error {
	if plan == "" {
		return nil
	}
	for _, name := range saidBySchedule {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s has no effect with --plan: the schedule says it", name)
		}
	}
	return nil
}

// given takes a plan from a file for all sizes, in place of a search.
func (f *planFlags) given(cmd *cobra.Command, path string) (*planned, error) {
	if err := f.format.Check(); err != nil {
		return nil, err
	}
	sizes, err := f.sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	p := &planned{source: f.topo.name}
	if p.topo, err = f.topo.load(); err != nil {
		return nil, err
	}
	if p.profile, err = f.profile.load(p.topo); err != nil {
		return nil, err
	}
	if p.beside, err = newBeside(&f.topo, p.topo, p.profile); err != nil {
		return nil, err
	}
	if err := f.running(p); err != nil {
		return nil, err
	}
	s, err := readSchedule(path, p.topo)
	if err != nil {
		return nil, err
	}
	p.spec, p.score = s.Spec, score.New(p.topo, p.profile)
	for _, size := range sizes {
		r := planner.Row{Size: size, Schedule: s}
		if r.Prediction, err = p.score.Explain(s, size); err != nil {
			return nil, err
		}
		p.rows = append(p.rows, r)
	}
	return p, nil
}
