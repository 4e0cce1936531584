//go:build scripts

package cli

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"railyard/report/table"
)

func init() { held = holdWidth }

// holdWidth makes a command fail whose default text is too wide.
func holdWidth(cmd *cobra.Command) {
	run := cmd.RunE
	if run == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var out strings.Builder
		cmd.SetOut(io.MultiWriter(cmd.OutOrStdout(), &out))
		err := run(cmd, args)
		if err != nil || foreign.MatchString(out.String()) || !isDefaultText(cmd, args) {
			return err
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > table.Columns {
				return fmt.Errorf("a line of %d characters, at most %d fit: %s", n, table.Columns, line)
			}
		}
		return nil
	}
}

// foreign is how scripts and manifests for other programs begin.
var foreign = regexp.MustCompile(`^(#|apiVersion:)`)

// isDefaultText is false where flags ask for all columns or another format, of the command or of one behind it.
func isDefaultText(cmd *cobra.Command, args []string) bool {
	format, wide := cmd.Flags().Lookup("format"), cmd.Flags().Lookup("wide")
	return format != nil && format.Value.String() == table.Text && !slices.Contains(args, "--format") &&
		(wide == nil || wide.Value.String() == "false")
}
