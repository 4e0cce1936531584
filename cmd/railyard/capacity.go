package main

import "github.com/spf13/cobra"

// newCapacity groups the questions about what to buy.
func newCapacity() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "capacity",
		Short:   "What to buy, what it will do, what a failure costs",
		Example: "  railyard capacity cost -t superpod-h100 --nodes 32",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(newCapacityCost(), newCapacitySweep(), newCapacityMerge())
	return cmd
}
