package main

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"railyard/capacity/goodput"
	"railyard/capacity/inventory"
	"railyard/cmd/internal/cli"
	"railyard/model/failure"
	"railyard/model/topology"
	"railyard/report"
)

// guardFlags say what fails, and how a job guards itself.
type guardFlags struct {
	rates                                 string
	checkpoint, restart, repair, interval time.Duration
	runOn                                 []string
	seed                                  uint64
	days                                  int
}

func (f *guardFlags) add(cmd *cobra.Command) {
	fl := cli.AddOptions(cmd, "goodput", "the share of the time that is training which lasts, where parts fail, such as "+
		"checkpoint=60s,restart=10m:")
	fl.StringVar(&f.rates, "failures", "llama-3", "failure rates: llama-3 (its 419 stops in 54 days on 16,384 GPUs) or a YAML file "+
		"(railyard.failures/v1)")
	fl.DurationVar(&f.checkpoint, "checkpoint", 0, "how long the job stands still for a checkpoint, e.g. 60s")
	fl.DurationVar(&f.restart, "restart", 10*time.Minute, "from a failure to training again: detect, replace, load the checkpoint")
	fl.DurationVar(&f.repair, "repair", 4*time.Hour, "until a part that only slows the job down is whole again, where the rates do not "+
		"say it")
	fl.DurationVar(&f.interval, "interval", 0, "training between checkpoints (default: the best)")
	fl.StringSliceVar(&f.runOn, "run-on", nil, "parts without which the job runs on slower, with its plan kept, instead of stopping: "+
		"nic, switch, cable")
	fl.Uint64Var(&f.seed, "seed", 1, "of the Monte-Carlo run")
	fl.IntVar(&f.days, "days", 1000, "days that the Monte-Carlo run plays")
	cli.Between(fl.FlagSet, 1, 1_000_000, "days")
}

func (f *guardFlags) check(cmd *cobra.Command) error {
	changed := cli.OptionsOf(cmd, "goodput").Changed
	if !changed("checkpoint") {
		return cli.NoEffect(cmd, "without checkpoint: say how long one takes", "goodput failures", "goodput restart", "goodput repair",
			"goodput interval", "goodput run-on", "goodput seed", "goodput days")
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"checkpoint", f.checkpoint}, {"restart", f.restart}, {"repair", f.repair}, {"interval", f.interval}} {
		if d.v < 0 {
			return cli.Usagef("--goodput %s=%v: must not be negative", d.name, d.v)
		}
	}
	switch {
	case f.checkpoint == 0:
		return cli.Usagef("--goodput checkpoint=0: say how long the job stands still, e.g. 60s")
	case changed("repair") && len(f.runOn) == 0:
		return cli.Usagef("--goodput repair has no effect without run-on: a failure that stops the job costs restart")
	}
	return nil
}

// goodput is that of the machine before and after.
func (f *guardFlags) goodput(s *subject, d *report.WhatIfDocument, a, b *topology.Topology) (*report.WhatIfGoodput, error) {
	if f.checkpoint == 0 {
		return nil, nil
	}
	book, err := failure.Get(f.rates)
	if err != nil {
		return nil, err
	}
	g := &report.WhatIfGoodput{Rates: book.Name, Source: fmt.Sprintf("%s; %s", book.Source, book.Date), CheckpointS: f.checkpoint.Seconds(),
		RestartS: f.restart.Seconds(), RepairS: f.repair.Seconds(),
		Seed: f.seed, SimulatedDays: float64(f.days), RunOn: []report.RunOn{}}
	slow, err := f.slowdowns(s, g, book, d)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		t    *topology.Topology
		to   *report.GoodputResult
		rate float64
	}{{a, &g.Before, d.Rows[0].BeforeRate}, {b, &g.After, d.Rows[0].PlannedRate}} {
		causes := goodput.Causes(book, goodput.Cluster{Parts: inventory.Parts(x.t), Slowdown: slow, Repair: f.repair.Hours()})
		if *x.to, err = f.result(causes); err != nil {
			return nil, err
		}
		x.to.Rate = x.rate * x.to.Goodput
	}
	return g, nil
}

// slowdowns are those of the parts that the job runs on without.
func (f *guardFlags) slowdowns(s *subject, g *report.WhatIfGoodput, book *failure.Book, d *report.WhatIfDocument) (map[failure.Part]float64,
	error) {
	parts, err := failure.ParseParts(f.runOn)
	if err != nil {
		return nil, cli.Usagef("--goodput run-on: %v", err)
	}
	sum, out := book.Sum(), map[failure.Part]float64{}
	for _, p := range parts {
		if p == failure.GPU || p == failure.Node {
			return nil, cli.Usagef("--goodput run-on %s: without it ranks are lost and the job stops", p)
		}
		if sum[p] == 0 {
			return nil, cli.Usagef("--goodput run-on %s has no effect: %s has no rate for it", p, book.Name)
		}
		lost := inventory.First(s.a, p)
		if lost == "" {
			return nil, fmt.Errorf("--goodput run-on %s: %s has none", p, s.a.Name())
		}
		t := s.before
		t.fail = []string{lost}
		slow, err := s.slowdown(t)
		if err != nil {
			return nil, err
		}
		if slow == 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("without %s the plan does not run: a lost %s stops the job", lost, p))
			continue
		}
		out[p] = slow
		g.RunOn = append(g.RunOn, report.RunOn{Part: string(p), Lost: lost, Slowdown: slow})
	}
	return out, nil
}

func (f *guardFlags) result(causes []goodput.Cause) (report.GoodputResult, error) {
	plan := goodput.Plan{Checkpoint: f.checkpoint.Hours(), Restart: f.restart.Hours(), Interval: f.interval.Hours()}
	r, err := goodput.Analytic(causes, plan)
	if err != nil {
		return report.GoodputResult{}, err
	}
	played, err := goodput.Simulate(causes, plan, 24*float64(f.days), f.seed)
	if err != nil {
		return report.GoodputResult{}, err
	}
	out := report.GoodputResult{StopsADay: r.StopsADay, IntervalHours: finiteOr0(r.Interval), Goodput: r.Goodput,
		Checkpoints: r.Checkpoints, Lost: r.Lost, Slowed: r.Slowed,
		MTBFHours: finiteOr0(r.MTBF), Played: played.Goodput, PlayedStops: played.StopsADay}
	return out, nil
}

// finiteOr0 keeps infinities, which JSON does not know, out of documents.
func finiteOr0(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return v
}
