package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"railyard/report/table"
)

// FormatFlag chooses how results are written.
type FormatFlag struct {
	Name string
	Wide bool
}

// Add adds the flags.
func (f *FormatFlag) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Name, "format", table.Text, "output: "+strings.Join(table.Formats(), ", "))
	cmd.Flags().BoolVar(&f.Wide, "wide", false, "all columns and rows, however long lines get (the other formats have them all)")
	OneOf(cmd.Flags(), "format", table.Formats()...)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if f.Wide && f.Name != table.Text {
			return Usagef("--wide has no effect on --format %s, which has all columns: leave it out", f.Name)
		}
		return nil
	}
}

// Emit writes a document to a command's output.
func (f *FormatFlag) Emit(cmd *cobra.Command, doc any) error {
	format := f.Name
	if f.Wide {
		format = table.Wide
	}
	return table.Emit(cmd.OutOrStdout(), format, doc)
}
