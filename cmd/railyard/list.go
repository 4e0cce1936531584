package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/report/table"
	"railyard/topologies"
)

// shipped are the kinds of files that railyard comes with: how a kind is listed, and a file of it.
var shipped = []struct {
	kind string
	list func(w io.Writer) error
	file func(w io.Writer, name string) error
}{
	{"topologies", listTopologies, func(w io.Writer, name string) error { return raw(w)(topologies.Source(name)) }},
	{"machines", listMachines, func(w io.Writer, name string) error {
		m, err := cost.GetMachine(name)
		if err != nil {
			return err
		}
		return cost.Encode(w, m.Complete())
	}},
	{"workloads", func(w io.Writer) error { return listNames(w, workload.Names()) }, nil},
	{"gpus", func(w io.Writer) error { return listNames(w, gpu.Names()) }, nil},
}

func newList() *cobra.Command {
	var kinds []string
	for _, x := range shipped {
		kinds = append(kinds, x.kind)
	}
	return &cobra.Command{
		Use:               "list",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			for _, x := range shipped {
				switch {
				case len(args) == 0:
					fmt.Fprintf(w, "%s:\n", x.kind)
				case args[0] != x.kind:
					continue
				case len(args) == 2 && x.file == nil:
					return cli.Usagef("%s %s: of %s there are names only, as `railyard list %s` has them: leave %s out", x.kind, args[1],
						x.kind, x.kind, args[1])
				case len(args) == 2:
					return x.file(w, args[1])
				}
				if err := x.list(w); err != nil || len(args) > 0 {
					return err
				}
				fmt.Fprintln(w)
			}
			if len(args) > 0 {
				return cli.Usagef("%s: must be one of %s", args[0], strings.Join(kinds, ", "))
			}
			return nil
		},
	}
}

// raw writes a file as it is.
func raw(w io.Writer) func(name string, data []byte, err error) error {
	return func(_ string, data []byte, err error) error {
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
}

func listNames(w io.Writer, names []string) error {
	_, err := fmt.Fprintln(w, strings.Join(names, "\n"))
	return err
}

func listTopologies(out io.Writer) error {
	var rows [][]string
	for _, name := range topologies.Names() {
		t, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, units.Counted(t.NumRanks(), "rank"), t.Description()})
	}
	_, err := io.WriteString(out, table.Listed(rows))
	return err
}

// listMachines lists the machines whose costs are known, with where each part of them comes from.
func listMachines(out io.Writer) error {
	var rows [][]string
	for _, name := range cost.Names() {
		m, err := cost.GetMachine(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, ""})
		for _, part := range m.Parts() {
			rows = append(rows, []string{"  " + part.Part, fmt.Sprint(&part.Origin)})
			if part.Part != "nccl" || part.Borrowed() {
				continue
			}
			kernels := m.NCCL().Kernels
			for _, over := range crossed(kernels) {
				rows = append(rows, []string{"    over " + over, cost.KernelErrors(slices.DeleteFunc(slices.Clone(kernels),
					func(k cost.Kernel) bool { return k.Over != over }))})
			}
		}
	}
	_, err := io.WriteString(out, table.Listed(rows))
	return err
}

// crossed is what kernels cross, sorted.
func crossed(kernels []cost.Kernel) []string {
	over := map[string]bool{}
	for _, k := range kernels {
		over[k.Over] = true
	}
	return slices.Sorted(maps.Keys(over))
}
