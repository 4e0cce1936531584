package cli

import (
	"github.com/spf13/cobra"

	"railyard/report/table"
)

// FormatFlag chooses how results are written.
type FormatFlag struct {
	Name string `flag:"format,default=text,one={formats}"`
	Wide bool   `flag:"wide"`
}

// check refuses --wide where it has no effect.
func (f *FormatFlag) check(*cobra.Command) error {
	if f.Wide && f.Name != table.Text {
		return Usagef("--wide has no effect on --format %s, which has all columns: leave it out", f.Name)
	}
	return nil
}

// Emit writes a document to a command's output.
func (f *FormatFlag) Emit(cmd *cobra.Command, doc any) error {
	format := f.Name
	if f.Wide {
		format = table.Wide
	}
	return table.Emit(cmd.OutOrStdout(), format, doc)
}
