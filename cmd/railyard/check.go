package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"railyard/model/schedule"
	"railyard/model/units"
)

func newCheck() *cobra.Command {
	var f topoFlags
	var inPlace bool
	cmd := &cobra.Command{
		Use:     "check TOPOLOGY PLAN…",
		Short:   "Prove that schedules compute their collective and cannot deadlock",
		Example: "  railyard check -t dgx2 plan.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			topo, err := f.load()
			if err != nil {
				return err
			}
			for _, path := range args {
				s, err := readSchedule(path, topo)
				if err != nil {
					return err
				}
				how := ""
				if inPlace {
					if _, err := schedule.InPlace(s); err != nil {
						return fmt.Errorf("%s: %w", path, err)
					}
					how = ", in place too"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %s%s\n", path, s.Algorithm, s.Spec.Kind, units.Counted(s.Spec.Ranks, "rank"), how)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&inPlace, "in-place", false, "prove it with input and output in the same memory, too")
	return cmd
}
