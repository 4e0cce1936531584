package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/planner"
	"railyard/report"
	"railyard/study"
)

// crossover shows which schedule is best at which size on each of the topologies, as a table and in
// a chart if there is a file for one.
func (f *planFlags) crossover(cmd *cobra.Command, names []string, chart string) error {
	if err := cli.NoEffect(cmd, "with --crossover: leave it out", "why", "pareto", "in-place", "counts", "counts-of"); err != nil {
		return err
	}
	d := &report.CrossoverDocument{Schema: "railyard.crossover/v1", Topologies: []report.CrossoverTopology{}}
	for _, name := range names {
		g := *f
		head, nodes, err := cutNodes(name)
		if err != nil {
			return cli.Usagef("%s: %v", name, err)
		}
		if nodes > 0 {
			if cmd.Flags().Changed("nodes") {
				return cli.Usagef("%s and --nodes both say how many nodes: give one", name)
			}
			name, g.Topo.Nodes = head, nodes
		}
		g.Topo.Name, g.Topo.lenient = name, len(names) > 1
		p, err := g.plan(cmd, study.Detail{})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t, err := p.crossovers()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d.Collective, d.Topologies = p.Question.Spec().Kind.String(), append(d.Topologies, *t)
	}
	if chart != "" {
		c, err := d.Chart(planner.Tool)
		if err != nil {
			return cli.Usage(err)
		}
		if err := cli.WriteChart(chart, c); err != nil {
			return err
		}
	}
	return f.Format.Emit(cmd, d)
}

// cutNodes takes a number of nodes off a name; it is 0 where there is none.
func cutNodes(name string) (string, int, error) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 || strings.HasSuffix(name, ".yaml") {
		return name, 0, nil
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("the colon must be followed by a number of nodes, 1 or more, not %q", name[i+1:])
	}
	return name[:i], n, nil
}

// crossovers are the sizes at which each algorithm is the best.
func (p *planned) crossovers() (*report.CrossoverTopology, error) {
	topo, spec := p.Question.Topology(), p.Question.Spec()
	out := &report.CrossoverTopology{Topology: topo.Name(), Hash: topo.Hash(), Profile: p.Question.Costs().Name, Ranks: spec.Ranks}
	for _, r := range p.Rows {
		_, bus := study.Bandwidths(spec, r.Size, r.Prediction.Time)
		row := report.CrossoverSize{SizeBytes: int64(r.Size), Schedule: planner.Name(r.Schedule), TimeUS: r.Prediction.Time.Microseconds(),
			BusBW: bus}
		if r.RunnerUp != nil {
			row.RunnerUp, row.RunnerLoss = planner.Name(r.RunnerUp), r.RunnerLoss()
		}
		out.Rows = append(out.Rows, row)
	}
	crossings, err := p.Crossovers()
	if err != nil {
		return nil, err
	}
	from, best := p.Rows[0].Size, planner.Family(p.Rows[0].Schedule)
	for _, c := range crossings {
		out.Bands = append(out.Bands, report.Band{Best: best,
			SizeRange: report.SizeRange{From: int64(from), To: int64(c.Size - 1), About: c.About}})
		from, best = c.Size, planner.Family(c.To)
	}
	last := p.Rows[len(p.Rows)-1].Size
	out.Bands = append(out.Bands, report.Band{SizeRange: report.SizeRange{From: int64(from), To: int64(max(from, last))}, Best: best})
	out.Close()
	return out, nil
}
