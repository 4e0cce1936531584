package main

import (
	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/study/measured"
)

// validateFlags name measurements, and where they were made.
type validateFlags struct {
	Format  cli.FormatFlag
	Files   []string `flag:"measured,need"`
	Systems string   `flag:"systems,need"`
}

// Run judges predictions by them.
func (f *validateFlags) Run(cmd *cobra.Command, _ []string) error {
	fleet, err := measured.ReadFleet(f.Systems, f.Files...)
	if err != nil {
		return err
	}
	return f.Format.Emit(cmd, fleet.Compare().Judge())
}
