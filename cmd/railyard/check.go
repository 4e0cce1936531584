package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCheck() *cobra.Command {
	var f topoFlags
	cmd := &cobra.Command{
		Use:     "check -t TOPOLOGY PLAN…",
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
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %d ranks\n", path, s.Algorithm, s.Spec.Kind, s.Spec.Ranks)
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}
