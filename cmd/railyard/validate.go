package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
)

func newValidate() *cobra.Command {
	var format cli.FormatFlag
	var rows cli.JudgeFlags
	cmd := &cobra.Command{
		Use:   "validate --measured ROWS.csv --systems SYSTEMS.csv",
		Short: "Predict anybody's measurements of many systems, and say how far off that is",
		Long: `validate predicts each measured row on the system that it was measured on, beside NCCL's own
model: rows of nccl-tests in one file (columns as in validation/published.csv), and in another
for each series its topology, a shipped name or a file beside that table. compare is for the
rows of one machine.`,
		Example: "  railyard validate --measured rows.csv --systems systems.csv --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			return rows.Run(cmd, format)
		},
	}
	format.Add(cmd)
	rows.Add(cmd)
	cli.Must(cmd.MarkFlagRequired("measured"))
	return cmd
}
