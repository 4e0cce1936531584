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
		Short:   "List the cost profiles, or print one",
		Example: "  railyard profiles h200",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				p, err := cost.Get(args[0])
				if err != nil {
					return err
				}
				return cost.Encode(cmd.OutOrStdout(), p.Complete())
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range cost.Names() {
				p, err := cost.Get(name)
				if err != nil {
					return err
				}
				fit := p.Error
				if fit == "" {
					fit = p.Source
				}
				fmt.Fprintf(w, "%s\t%s\n", name, fit)
				for _, over := range crossed(p) {
					fmt.Fprintf(w, "  over %s\t%s\n", over, cost.KernelErrors(slices.DeleteFunc(slices.Clone(p.Kernels), func(k cost.Kernel) bool { return k.Over != over })))
				}
			}
			return w.Flush()
		},
	}
}

// crossed is what a profile's own kernels cross, sorted.
func crossed(p *cost.Profile) []string {
	over := map[string]bool{}
	for _, k := range p.Kernels {
		over[k.Over] = p.From == ""
	}
	maps.DeleteFunc(over, func(_ string, own bool) bool { return !own })
	return slices.Sorted(maps.Keys(over))
}
