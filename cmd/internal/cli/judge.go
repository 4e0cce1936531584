package cli

import (
	"github.com/spf13/cobra"

	"railyard/study/measured"
)

// JudgeFlags name measurements of several systems.
type JudgeFlags struct {
	files   []string
	systems string
}

// Add adds --measured and --systems.
func (f *JudgeFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "measured", nil, "measurements: CSV with the columns of validation/published.csv")
	cmd.Flags().StringVar(&f.systems, "systems", "", "CSV that says for each series (longest prefix of id) where it was measured: series,"+
		"topology,set,profile,launch,nvls,cc,fabric,exclude,why; a topology is a shipped name or a file beside it")
	cmd.MarkFlagsRequiredTogether("measured", "systems")
}

// Given reports whether there are any.
func (f *JudgeFlags) Given() bool { return len(f.files) > 0 }

// Run predicts them.
func (f *JudgeFlags) Run(cmd *cobra.Command, format FormatFlag) error {
	fleet, err := measured.ReadFleet(f.systems, f.files...)
	if err != nil {
		return err
	}
	return format.Emit(cmd, fleet.Compare().Judge())
}
