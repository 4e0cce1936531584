package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"railyard/report/table"
)

// TestHelp: the manual says what each command does, and what its flags mean;
// what is quoted in a usage text is no name for the flag's value. It fits a terminal.
func TestHelp(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("manual.md has no section with an example for %s", cmd.CommandPath())
		}
		var help strings.Builder
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(help.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > table.Columns {
				t.Errorf("%s --help has a line of %d characters: %s", cmd.CommandPath(), n, line)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("manual.md does not say what %s --%s means", cmd.CommandPath(), f.Name)
			}
			if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, " ") {
				t.Errorf("%s --%s takes a %q", cmd.CommandPath(), f.Name, name)
			}
		})
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(newRoot())
}

// TestCommandLineIsSmall: a newcomer can read all of it. Groups of commands do nothing themselves; what every program has, help,
// completion and --version, is not counted.
func TestCommandLineIsSmall(t *testing.T) {
	var commands, flags []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if name := sub.Name(); !cmd.HasParent() && (name == "help" || name == "completion") {
				continue
			}
			if !sub.HasSubCommands() {
				commands = append(commands, sub.CommandPath())
			}
			walk(sub)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !slices.Contains(flags, f.Name) { // options by their own names are no further ones
				flags = append(flags, f.Name)
			}
		})
	}
	walk(newRoot())
	if len(commands) > 24 {
		t.Errorf("%d commands: %s", len(commands), strings.Join(commands, ", "))
	}
	if len(flags) > 90 {
		t.Errorf("%d names of flags: %s", len(flags), strings.Join(flags, ", "))
	}
	t.Logf("%d commands, %d names of flags", len(commands), len(flags))
}
