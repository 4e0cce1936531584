package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// positional marks the flag whose value may stand as the command's first argument, too; of a flag that takes several, all arguments are
// values.
const positional = "railyard_positional"

// positionalFlag is the flag that arguments may stand for; nil where there is none.
func positionalFlag(cmd *cobra.Command) (out *pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, marked := f.Annotations[positional]; marked && !f.Hidden {
			out = f
		}
	})
	return out
}

// takePositional gives the flag its value and returns how many arguments that takes.
func takePositional(cmd *cobra.Command, args []string) (int, error) {
	f := positionalFlag(cmd)
	if f == nil || f.Changed || len(args) == 0 {
		return 0, nil
	}
	n := 1
	if _, many := f.Value.(pflag.SliceValue); many {
		n = len(args)
	}
	for _, a := range args[:n] {
		if err := cmd.Flags().Set(f.Name, a); err != nil {
			return 0, fmt.Errorf("%s: %w", a, err)
		}
	}
	return n, nil
}

// missingPositional is the error of a command that needs such a value and has none.
func missingPositional(cmd *cobra.Command) error {
	f := positionalFlag(cmd)
	if f == nil || f.Changed || len(f.Annotations[cobra.BashCompOneRequiredFlag]) == 0 ||
		f.Annotations[cobra.BashCompOneRequiredFlag][0] != "true" {
		return nil
	}
	return fmt.Errorf("which %s? name one, such as %s dgx-h100, or a YAML file (\"%s list topologies\" shows those that are shipped)",
		f.Name, cmd.CommandPath(), cmd.Root().Name())
}
