package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/study/measured"
)

func newValidate() *cobra.Command {
	var format cli.FormatFlag
	var files []string
	var systems string
	cmd := &cobra.Command{
		Use:  "validate",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fleet, err := measured.ReadFleet(systems, files...)
			if err != nil {
				return err
			}
			return format.Emit(cmd, fleet.Compare().Judge())
		},
	}
	format.Add(cmd)
	cmd.Flags().StringArrayVar(&files, "measured", nil, "measurements: CSV with the columns of validation/published.csv")
	cmd.Flags().StringVar(&systems, "systems", "", "CSV that says for each series (longest prefix of id) where it was measured: series,"+
		"topology,set,profile,launch,nvls,cc,fabric,exclude,why; a topology is a shipped name or a file beside it")
	for _, name := range []string{"measured", "systems"} {
		cli.Must(cmd.MarkFlagRequired(name))
	}
	return cmd
}
