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

// crossoverFlags say what is compared.
type crossoverFlags struct {
	plan  planFlags
	names []string
	chart string
}

func newCrossover() *cobra.Command {
	var f crossoverFlags
	cmd := &cobra.Command{
		Use:   "crossover TOPOLOGY[:NODES] [-t …] -c COLLECTIVE [-o CHART.svg]",
		Short: "Show which schedule is best at which size, on one topology or several",
		Long: `crossover plans a collective for each size on each topology, and shows the sizes at which
another algorithm or protocol becomes the best, and how much longer the runner-up takes:
as a table, and with -o as a chart. Other flags than -t hold for all topologies.`,
		Example: `  railyard crossover -t dgx1-v100 -t dgx-h100 -t superpod-h100:4 -c all_reduce -o crossover.svg
  railyard crossover -t dgx-h100 --nodes 4 -c all_gather --format csv
  railyard crossover -t dgx-h100:2 -c all_reduce --slow nic:node0/nic3=0.5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringArrayVarP(&f.names, "topology", "t", nil, "topology: a shipped name (see \"railyard topo list\") or a YAML file; NAME:4 has four nodes; repeat it to compare")
	cli.Must(cmd.MarkFlagRequired("topology"))
	cli.Must(cmd.RegisterFlagCompletionFunc("topology", completeTopology))
	f.plan.topo.addParts(cmd)
	f.plan.topo.addLoad(cmd)
	f.plan.coll.add(cmd)
	f.plan.sizes.Add(cmd, "1K", "4G")
	f.plan.profile.add(cmd)
	f.plan.format.Add(cmd)
	f.plan.addSearch(cmd)
	cli.OutputFlag(cmd, &f.chart, "draw a chart into this file (.svg or .png)")
	return cmd
}

func (f *crossoverFlags) run(cmd *cobra.Command) error {
	d := &report.CrossoverDocument{Schema: "railyard.crossover/v1", Topologies: []report.CrossoverTopology{}}
	for _, name := range f.names {
		g := f.plan
		head, nodes, err := cutNodes(name)
		if err != nil {
			return cli.Usagef("-t %s: %v", name, err)
		}
		if nodes > 0 {
			if cmd.Flags().Changed("nodes") {
				return cli.Usagef("-t %s and --nodes both say how many nodes: give one", name)
			}
			name, g.topo.nodes = head, nodes
		}
		g.topo.name, g.topo.lenient = name, len(f.names) > 1
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
	if f.chart != "" {
		c, err := d.Chart(planner.Tool)
		if err != nil {
			return cli.Usage(err)
		}
		if err := cli.WriteChart(f.chart, c); err != nil {
			return err
		}
	}
	return f.plan.format.Emit(cmd, d)
}

// cutNodes takes a number of nodes off a name; it is 0 where there is none.
func cutNodes(name string) (string, int, error) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 || strings.HasSuffix(name, ".yaml") {
		return name, 0, nil
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || n < 1 {
		return "", 0, fmt.Errorf("behind the colon stands a number of nodes, 1 or more, not %q", name[i+1:])
	}
	return name[:i], n, nil
}

// crossovers are the sizes at which each algorithm is the best.
func (p *planned) crossovers() (*report.CrossoverTopology, error) {
	topo, spec := p.Question.Topology(), p.Question.Spec()
	out := &report.CrossoverTopology{Topology: topo.Name(), Hash: topo.Hash(), Profile: p.Question.Costs().Name, Ranks: spec.Ranks}
	for _, r := range p.Rows {
		_, bus := study.Bandwidths(spec, r.Size, r.Prediction.Time)
		row := report.CrossoverSize{SizeBytes: int64(r.Size), Schedule: planner.Name(r.Schedule), TimeUS: r.Prediction.Time.Microseconds(), BusBW: bus}
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
		out.Bands = append(out.Bands, report.Band{SizeRange: report.SizeRange{From: int64(from), To: int64(c.Size - 1)}, Best: best})
		from, best = c.Size, planner.Family(c.To)
	}
	last := p.Rows[len(p.Rows)-1].Size
	out.Bands = append(out.Bands, report.Band{SizeRange: report.SizeRange{From: int64(from), To: int64(max(from, last))}, Best: best})
	out.Close()
	return out, nil
}
