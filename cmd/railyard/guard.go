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
	Rates      string        `flag:"goodput failures,default=llama-3"`
	Checkpoint time.Duration `flag:"goodput checkpoint"`
	Restart    time.Duration `flag:"goodput restart,default=10m"`
	Repair     time.Duration `flag:"goodput repair,default=4h"`
	Interval   time.Duration `flag:"goodput interval"`
	RunOn      []string      `flag:"goodput run-on,commas"`
	Seed       uint64        `flag:"goodput seed,default=1"`
	Days       int           `flag:"goodput days,default=1000,lo=1,hi=1000000"`
}

func (f *guardFlags) check(cmd *cobra.Command) error {
	changed := cli.OptionsOf(cmd, "goodput").Changed
	if !changed("checkpoint") {
		return cli.NoEffect(cmd, "without checkpoint: say how long one takes", cli.FlagNames(f)...)
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"checkpoint", f.Checkpoint}, {"restart", f.Restart}, {"repair", f.Repair}, {"interval", f.Interval}} {
		if d.v < 0 {
			return cli.Usagef("--goodput %s=%v: must not be negative", d.name, d.v)
		}
	}
	switch {
	case f.Checkpoint == 0:
		return cli.Usagef("--goodput checkpoint=0: say how long the job stands still, e.g. 60s")
	case changed("repair") && len(f.RunOn) == 0:
		return cli.Usagef("--goodput repair has no effect without run-on: a failure that stops the job costs restart")
	}
	return nil
}

// goodput is that of the machine before and after.
func (f *guardFlags) goodput(s *subject, d *report.WhatIfDocument, a, b *topology.Topology) (*report.WhatIfGoodput, error) {
	if f.Checkpoint == 0 {
		return nil, nil
	}
	book, err := failure.Get(f.Rates)
	if err != nil {
		return nil, err
	}
	g := &report.WhatIfGoodput{Rates: book.Name, Source: fmt.Sprintf("%s; %s", book.Source, book.Date), CheckpointS: f.Checkpoint.Seconds(),
		RestartS: f.Restart.Seconds(), RepairS: f.Repair.Seconds(),
		Seed: f.Seed, SimulatedDays: float64(f.Days), RunOn: []report.RunOn{}}
	slow, err := f.slowdowns(s, g, book, d)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		t    *topology.Topology
		to   *report.GoodputResult
		rate float64
	}{{a, &g.Before, d.Rows[0].BeforeRate}, {b, &g.After, d.Rows[0].PlannedRate}} {
		causes := goodput.Causes(book, goodput.Cluster{Parts: inventory.Parts(x.t), Slowdown: slow, Repair: f.Repair.Hours()})
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
	parts, err := failure.ParseParts(f.RunOn)
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
		t.Fail = []string{lost}
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
	plan := goodput.Plan{Checkpoint: f.Checkpoint.Hours(), Restart: f.Restart.Hours(), Interval: f.Interval.Hours()}
	r, played, err := goodput.Simulate(causes, plan, 24*float64(f.Days), f.Seed)
	return report.GoodputResult{StopsADay: r.StopsADay, IntervalHours: finiteOr0(r.Interval), Goodput: r.Goodput,
		Checkpoints: r.Checkpoints, Lost: r.Lost, Slowed: r.Slowed,
		MTBFHours: finiteOr0(r.MTBF), Played: played.Goodput, PlayedStops: played.StopsADay}, err
}

// finiteOr0 keeps infinities, which JSON does not know, out of documents.
func finiteOr0(v float64) float64 {
	if math.IsInf(v, 0) {
		return 0
	}
	return v
}
