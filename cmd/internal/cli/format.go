package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// FormatFlag chooses how results are written.
type FormatFlag struct{ Name string }

var formats = []string{"text", "json", "csv"}

// Add adds the flag.
func (f *FormatFlag) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Name, "format", "text", "output: "+strings.Join(formats, ", "))
	Must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
}

// Check is the error of a format that there is not.
func (f *FormatFlag) Check() error {
	if !slices.Contains(formats, f.Name) {
		return Usagef("--format %s: must be one of %s", f.Name, strings.Join(formats, ", "))
	}
	return nil
}
