package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"railyard/capacity/inventory"
	"railyard/capacity/journal"
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

type sizeQuestion struct {
	training                       trainingFlags
	nodeTypes                      []string
	nodes, gbps, rails, over, spin string
	days, tokens, rate, budget     float64
	prices                         priceFlags
	format                         cli.FormatFlag
	journal                        string
	shard                          shardFlag
}

func newCapacitySize() *cobra.Command {
	var f sizeQuestion
	cmd := &cobra.Command{
		Use:  "size",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("topology") {
				return f.cost(cmd)
			}
			return f.run(cmd)
		},
	}
	f.training.add(cmd)
	cli.Must(cmd.Flags().SetAnnotation("topology", cobra.BashCompOneRequiredFlag, []string{"false"}))
	cli.Must(cmd.Flags().SetAnnotation("workload", cobra.BashCompOneRequiredFlag, []string{"false"}))
	fl := cmd.Flags()
	fl.StringArrayVar(&f.nodeTypes, "node", nil, "node type: a topology with one, e.g. dgx-h100 (repeatable)")
	fl.StringVar(&f.nodes, "counts", "", "how many nodes: 8,16 or 4..8")
	network := cli.AddOptions(cmd, "network", "networks that are built, such as rails=8,oversubscription=1,2,4:")
	network.StringVar(&f.gbps, "nic-gbps", "0", "rates of adapters and switches, Gb/s (0: the node type's own)")
	network.StringVar(&f.rails, "rails", "8", "rails: leaves for each adapter of the nodes (0: leaves take whole nodes)")
	network.StringVar(&f.over, "oversubscription", "1", "of the leaves, down:up: 1,2,4")
	network.StringVar(&f.spin, "spine", "yes", "whether spines join the leaves: yes,no (no: rail-only)")
	target := cli.AddOptions(cmd, "target", "what the cluster is for: units=15e12,days=60 or rate=1e6 or budget=5e6:")
	target.Float64Var(&f.tokens, "units", 0, "how much to train: tokens, or images")
	target.Float64Var(&f.days, "days", 0, "in how many days (with units)")
	target.Float64Var(&f.rate, "rate", 0, "tokens, or images, a second to reach")
	target.Float64Var(&f.budget, "budget", 0, "most that the purchase may cost; the fastest cluster within it is best")
	fl.StringVar(&f.journal, "journal", "", "file that keeps every design's row, and from which a killed run goes on")
	f.shard.add(cmd)
	f.prices.add(cmd)
	f.format.Add(cmd)
	return cmd
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
	}{{"units", f.tokens}, {"rate", f.rate}, {"budget", f.budget}} {
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
	case (f.tokens > 0) != target.Changed("days") || f.tokens > 0 && !(f.days > 0) || math.IsInf(f.days, 0):
		return cli.Usagef("--target units and a positive number of days belong together")
	}
	return f.prices.check()
}

func (f *sizeQuestion) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	axes, err := size.Axes(strings.Join(f.nodeTypes, ","), f.nodes, f.gbps, f.rails, f.over, f.spin)
	if err != nil {
		return cli.Usage(err)
	}
	for _, name := range f.nodeTypes {
		if _, err := topology.Load(source, name, topology.Options{Nodes: 1}); err != nil {
			return err
		}
	}
	w, err := workload.Get(f.training.workload, f.training.set...)
	if err != nil {
		return err
	}
	space, err := f.training.layout.space(cmd)
	if err != nil {
		return err
	}
	space.Narrow = true
	book, err := price.Read(f.prices.file)
	if err != nil {
		return err
	}
	s := &sizer{f: f, w: w, space: space, book: book}
	rows, err := s.all(cmd, axes)
	if err != nil {
		return err
	}
	if f.shard != "" {
		return f.shard.said(cmd, f.journal)
	}
	return f.format.Emit(cmd, f.document(rows, w, book))
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
	path := s.f.journal
	cli.KeepIn(cmd, path)
	ctx, stop := cli.UntilInterrupt(cmd) // which also takes a journal away that nobody keeps
	defer stop()
	shard, err := s.f.shard.shard(path)
	if err != nil {
		return nil, err
	}
	if path == "" {
		tmp, err := os.CreateTemp("", "railyard-size-*")
		if err != nil {
			return nil, err
		}
		path = tmp.Name()
		defer os.Remove(path)
		if err := tmp.Close(); err != nil {
			return nil, err
		}
	}
	key := fmt.Sprintf("%+v %v %s %+v %s %s", s.f.training, s.f.prices, s.f.training.workload, s.space, s.f.training.runtime,
		inputsHash([]string{s.f.training.workload, s.f.prices.file, s.f.training.gpu, s.f.training.profile.name}))
	j, err := sweep.Open(path, sweep.Question{Words: []string{"capacity", "size", s.w.Name}, Inputs: inputsHash(s.f.nodeTypes, key),
		Axes: axes, Version: version})
	if err != nil {
		return nil, err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "designs")
	err = sweep.Run(ctx, j, axes, shard, s.answer, bar.Set)
	bar.Finish()
	if err := errors.Join(cli.Interrupted(ctx, s.f.journal, err), j.Close()); err != nil {
		return nil, err
	}
	m, err := journal.Merge([]string{path})
	if err != nil {
		return nil, err
	}
	_, rows, err := sweep.Rows(m)
	if err != nil {
		return nil, err
	}
	return sizeRows(rows)
}

// sizeRows are the answers; designs that differ in nothing (a single node has no network)
// are one.
func sizeRows(answers []sweep.Row) ([]report.SizeRow, error) {
	var rows []report.SizeRow
	seen := map[string]bool{}
	for _, r := range answers {
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
	p, err := s.f.training.predictor(t, build)
	if err != nil {
		return nil, err
	}
	r, err := search.Run(ctx, p, s.w, s.space, search.Options{Top: 1, Workers: 1})
	if err != nil {
		return nil, err
	}
	best := r.Best[0]
	row := &report.SizeRow{Design: d.String(), Node: d.Node, Nodes: d.Nodes, GPUs: t.NumRanks(), StepMS: ms(best.Time),
		UnitsPerSecond: best.UnitsPerSecond(), MFU: best.MFU(), Layout: best.Layout.String(), Bottleneck: best.Bottleneck()}
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
	bill, err := ownership.Of(inv, s.book, s.f.prices.plan)
	var missing *price.Missing
	if errors.As(err, &missing) {
		row.Unpriced = missing.Error()
		return nil
	}
	if err != nil {
		return err
	}
	row.Priced, row.Purchase, row.Total, row.Watts, row.Optics = true, bill.Purchase, bill.Owned[s.f.prices.plan.Months], bill.Watts,
		bill.Optics
	return nil
}

// document judges the rows.
func (f *sizeQuestion) document(rows []report.SizeRow, w *workload.Workload, book *price.Book) *report.SizeDocument {
	d := &report.SizeDocument{Schema: "railyard.size/v1", Workload: w.Name, Unit: w.Unit, Currency: book.Currency, Prices: book.Name,
		Date: book.Date, Months: f.prices.plan.Months, Best: -1, Rows: rows, Target: f.target(w.Unit)}
	scores := make([]size.Score, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Error != "" {
			continue
		}
		if f.tokens > 0 {
			r.Days = f.tokens / r.UnitsPerSecond / 86400
		}
		r.Meets = f.meets(r)
		scores[i] = size.Score{TimePerUnit: 1 / r.UnitsPerSecond, Cost: r.Total, Watts: r.Watts, Known: r.Priced}
		if r.Meets && r.Priced && (d.Best < 0 || f.better(r, &rows[d.Best])) {
			d.Best = i
		}
	}
	for i, on := range size.Front(scores) {
		rows[i].OnFront = on
	}
	return d
}

func (f *sizeQuestion) target(unit string) string {
	switch {
	case f.tokens > 0:
		return fmt.Sprintf("%.4g %s in %g days", f.tokens, unit, f.days)
	case f.rate > 0:
		return fmt.Sprintf("%.4g %s/s", f.rate, unit)
	}
	return fmt.Sprintf("a purchase of at most %.4g", f.budget)
}

func (f *sizeQuestion) meets(r *report.SizeRow) bool {
	switch {
	case f.tokens > 0:
		return r.Days <= f.days
	case f.rate > 0:
		return r.UnitsPerSecond >= f.rate
	}
	return r.Priced && r.Purchase <= f.budget
}

// better compares designs that meet the target.
func (f *sizeQuestion) better(a, b *report.SizeRow) bool {
	if f.budget > 0 && a.UnitsPerSecond != b.UnitsPerSecond {
		return a.UnitsPerSecond > b.UnitsPerSecond
	}
	return a.Total < b.Total
}
