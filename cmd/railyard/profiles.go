package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"railyard/model/cost"
)

func newProfiles() *cobra.Command {
	return &cobra.Command{
		Use:     "profiles [NAME]",
		Short:   "List the machines whose costs are known, or print one",
		Example: "  railyard profiles h200",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				m, err := cost.GetMachine(args[0])
				if err != nil {
					return err
				}
				return cost.Encode(cmd.OutOrStdout(), m.Complete())
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range cost.Names() {
				m, err := cost.GetMachine(name)
				if err != nil {
					return err
				}
				fmt.Fprintln(w, name)
				for _, part := range m.Parts() {
					fmt.Fprintf(w, "  %s\t%v\n", part.Part, &part.Origin)
					if part.Part != "nccl" || part.Borrowed() {
						continue
					}
					kernels := m.NCCL().Kernels
					for _, over := range crossed(kernels) {
						fmt.Fprintf(w, "    over %s\t%s\n", over, cost.KernelErrors(slices.DeleteFunc(slices.Clone(kernels), func(k cost.Kernel) bool { return k.Over != over })))
					}
				}
			}
			return w.Flush()
		},
	}
}

// crossed is what kernels cross, sorted.
func crossed(kernels []cost.Kernel) []string {
	over := map[string]bool{}
	for _, k := range kernels {
		over[k.Over] = true
	}
	return slices.Sorted(maps.Keys(over))
}
