package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/inventory"
	"railyard/capacity/ownership"
	"railyard/capacity/search"
	"railyard/capacity/size"
	"railyard/capacity/sweep"
	"railyard/cmd/internal/cli"
	"railyard/model/price"
	"railyard/model/topology"
	"railyard/model/workload"
	"railyard/report"
)

// sizeQuestion says which designs are looked at, and for what.
type sizeQuestion struct {
	Training  trainingFlags `optional:"topology workload"`
	NodeTypes []string      `flag:"node"`
	Nodes     string        `flag:"counts"`
	Gbps      string        `flag:"network nic-gbps,default=0"`
	Rails     string        `flag:"network rails,default=8"`
	Over      string        `flag:"network oversubscription,default=1"`
	Spin      string        `flag:"network spine,default=yes"`
	Tokens    float64       `flag:"target units"`
	Days      float64       `flag:"target days"`
	Rate      float64       `flag:"target rate"`
	Budget    float64       `flag:"target budget"`
	Journal   string        `flag:"journal"`
	Shard     shardFlag     `flag:"shard"`
	Prices    priceFlags
	Format    cli.FormatFlag
}

// Run prices a topology, or finds the cluster for a target.
func (f *sizeQuestion) Run(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Changed("topology") {
		return f.cost(cmd)
	}
	return f.run(cmd)
}

func (f *sizeQuestion) check(cmd *cobra.Command) error {
	for _, name := range []string{"node", "counts", "workload"} {
		if !cmd.Flags().Changed(name) {
			return cli.Usagef("which cluster? name a topology, for what it costs, or --node, --counts, -w and a --target, for the "+
				"cheapest (--%s is missing)", name)
		}
	}
	if err := cli.NoEffect(cmd, "here: designs come from --node, --counts and the network's flags, their layouts are searched",
		"gpus", "set", "fail", "slow", "load", "nodes", "layout"); err != nil {
		return err
	}
	target, targets := cli.OptionsOf(cmd, "target"), 0
	for _, x := range []struct {
		name string
		v    float64
	}{{"units", f.Tokens}, {"rate", f.Rate}, {"budget", f.Budget}} {
		if !target.Changed(x.name) {
			continue
		}
		if targets++; !(x.v > 0) || math.IsInf(x.v, 0) {
			return cli.Usagef("--target %s=%v: must be a positive number", x.name, x.v)
		}
	}
	switch {
	case targets != 1:
		return cli.Usagef("give one --target: units with days, rate or budget")
	case (f.Tokens > 0) != target.Changed("days") || f.Tokens > 0 && !(f.Days > 0) || math.IsInf(f.Days, 0):
		return cli.Usagef("--target units and a positive number of days belong together")
	}
	return f.Prices.check()
}

func (f *sizeQuestion) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	axes, err := size.Axes(strings.Join(f.NodeTypes, ","), f.Nodes, f.Gbps, f.Rails, f.Over, f.Spin)
	if err != nil {
		return cli.Usage(err)
	}
	for _, name := range f.NodeTypes {
		if _, err := topology.Load(source, name, topology.Options{Nodes: 1}); err != nil {
			return err
		}
	}
	w, err := workload.Get(f.Training.Workload, f.Training.Set...)
	if err != nil {
		return err
	}
	space, err := f.Training.Layout.space(cmd)
	if err != nil {
		return err
	}
	space.Narrow = true
	book, err := price.Read(f.Prices.File)
	if err != nil {
		return err
	}
	s := &sizer{f: f, w: w, space: space, book: book}
	rows, err := s.all(cmd, axes)
	if err != nil {
		return err
	}
	if f.Shard != "" {
		return f.Shard.said(cmd, f.Journal)
	}
	return f.Format.Emit(cmd, f.document(rows, w, book))
}

// sizer answers for single designs.
type sizer struct {
	f     *sizeQuestion
	w     *workload.Workload
	space search.Space
	book  *price.Book
}

// all answers for all designs, by way of a journal.
func (s *sizer) all(cmd *cobra.Command, axes []sweep.Axis) ([]report.SizeRow, error) {
	path := s.f.Journal
	cli.KeepIn(cmd, path)
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	shard, err := s.f.Shard.shard(path)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%+v %v %s %s %s %s", s.f.Training, s.f.Prices, s.f.Training.Workload, s.space, s.f.Training.Runtime,
		inputsHash([]string{s.f.Training.Workload, s.f.Prices.File, s.f.Training.Gpu, s.f.Training.Profile.Name}))
	rows := map[int]sweep.Row{}
	j, err := sweep.Open(path, sweep.Question{Words: []string{"capacity", "size", s.w.Name}, Inputs: inputsHash(s.f.NodeTypes, key),
		Axes: axes, Version: version}, func(r sweep.Row) { rows[r.Point] = r })
	if err != nil {
		return nil, err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "designs")
	err = sweep.Run(ctx, j, axes, shard, s.answer, bar.Set)
	bar.Finish()
	if err := errors.Join(cli.Interrupted(ctx, s.f.Journal, err), j.Close()); err != nil {
		return nil, err
	}
	return sizeRows(rows)
}

// sizeRows are the answers; designs that differ in nothing (a single node has no network)
// are one.
func sizeRows(answers map[int]sweep.Row) ([]report.SizeRow, error) {
	var rows []report.SizeRow
	seen := map[string]bool{}
	for _, point := range slices.Sorted(maps.Keys(answers)) {
		r := answers[point]
		row := report.SizeRow{Design: strings.Join(r.Set, " "), Error: r.Error}
		if r.Error == "" {
			if err := json.Unmarshal(r.Answer, &row); err != nil {
				return nil, err
			}
		}
		if !seen[row.Design] {
			seen[row.Design] = true
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// answer is a design's row.
func (s *sizer) answer(ctx context.Context, set []string) (any, error) {
	d, err := size.ParseDesign(set)
	if err != nil {
		return nil, err
	}
	one, err := topology.Load(source, d.Node, topology.Options{Nodes: 1})
	if err != nil {
		return nil, err
	}
	build := func(nodes, gpus int) (*topology.Topology, error) { return d.Build(source, one, nodes, gpus) }
	t, err := build(0, 0)
	if err != nil {
		return nil, err
	}
	p, err := s.f.Training.predictor(t, build)
	if err != nil {
		return nil, err
	}
	r, err := search.Run(ctx, p, s.w, s.space, search.Options{Top: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	best := r.Best[0]
	row := &report.SizeRow{Design: d.String(), Node: d.Node, Nodes: d.Nodes, GPUs: t.NumRanks(), StepMS: ms(best.Time),
		UnitsPerSecond: best.UnitsPerSecond(), MFU: best.MFU(), Layout: best.Layout.String(), Bottleneck: best.Bottleneck(),
		Note: strings.Join(s.space.Changed(s.w, &best.Layout), "; ")}
	return row, s.price(row, t)
}

func (s *sizer) price(row *report.SizeRow, t *topology.Topology) error {
	inv := inventory.Of(t)
	row.BisectionGBps = inv.Bisection.GBps()
	for _, x := range inv.Switches {
		row.Switches += x.Count
	}
	for _, x := range inv.Cables {
		row.Cables += x.Count
	}
	bill, err := ownership.Of(inv, s.book, s.f.Prices.plan())
	var missing *price.Missing
	if errors.As(err, &missing) {
		row.Unpriced = missing.Error()
		return nil
	}
	if err != nil {
		return err
	}
	row.Priced, row.Purchase, row.Total, row.Watts, row.Optics = true, bill.Purchase, bill.Owned[s.f.Prices.Months], bill.Watts,
		bill.Optics
	return nil
}

// document judges the rows.
func (f *sizeQuestion) document(rows []report.SizeRow, w *workload.Workload, book *price.Book) *report.SizeDocument {
	d := &report.SizeDocument{Schema: "railyard.size/v1", Workload: w.Name, Unit: w.Unit, Currency: book.Currency, Prices: book.Name,
		Date: book.Date, Months: f.Prices.Months, Best: -1, Rows: rows, Target: f.target(w.Unit)}
	scores := make([]size.Score, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Error != "" {
			continue
		}
		if f.Tokens > 0 {
			r.Days = f.Tokens / r.UnitsPerSecond / 86400
		}
		r.Meets = f.meets(r)
		scores[i] = size.Score{TimePerUnit: 1 / r.UnitsPerSecond, Cost: r.Total, Watts: r.Watts, Known: r.Priced}
		if r.Meets && r.Priced && (d.Best < 0 || f.better(r, &rows[d.Best])) {
			d.Best = i
		}
	}
	for i, on := range size.ParetoFront(scores) {
		rows[i].Pareto = on
	}
	return d
}

func (f *sizeQuestion) target(unit string) string {
	switch {
	case f.Tokens > 0:
		return fmt.Sprintf("%.4g %s in %g days", f.Tokens, unit, f.Days)
	case f.Rate > 0:
		return fmt.Sprintf("%.4g %s/s", f.Rate, unit)
	}
	return fmt.Sprintf("a purchase of at most %.4g", f.Budget)
}

func (f *sizeQuestion) meets(r *report.SizeRow) bool {
	switch {
	case f.Tokens > 0:
		return r.Days <= f.Days
	case f.Rate > 0:
		return r.UnitsPerSecond >= f.Rate
	}
	return r.Priced && r.Purchase <= f.Budget
}

// better compares designs that meet the target.
func (f *sizeQuestion) better(a, b *report.SizeRow) bool {
	if f.Budget > 0 && a.UnitsPerSecond != b.UnitsPerSecond {
		return a.UnitsPerSecond > b.UnitsPerSecond
	}
	return a.Total < b.Total
}
