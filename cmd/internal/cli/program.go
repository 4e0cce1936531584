package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"railyard/report/table"
)

// held is what the commands of a program that scripts test are held to besides (width.go).
var held = func(*cobra.Command) {}

// Run is a whole program without the process: it returns the exit code, 0, 1 for a failure or
// 2 for wrong usage. Errors go to stderr.
func Run(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == "version" {
		args = []string{"--version"} // which every program answers to, but some only to the word
	}
	forEach(root, held)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "try: %s --help\n", cmd.CommandPath())
		return 2
	}
	return 1
}

// Root completes a program's first command: what is mistyped, missing, empty or given twice is
// wrong usage. What the commands say of themselves, and of their flags, stands in a manual; lists are the words that it and tags of
// flags call by a name in braces.
func Root(root *cobra.Command, manual string, lists map[string][]string, commands ...*cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	Group(root, commands...)
	document(root, manual, lists)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(flagError(cmd, err)) })
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.Hidden = c.Name() == "help" || c.Name() == "completion" // as every program has them
	}
	strictNames(root)
	forEach(root, explainOptions)
	forEach(root, shortenOptions)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprint(".FlagUsagesWrapped ", table.Columns)))
	forEach(root, func(cmd *cobra.Command) { completeWords(cmd, lists) })
	forEach(root, guardFiles)
	forEach(root, onlyOnce)
	forEach(root, watch)
	forEach(root, strictArgs)
	return root
}

func forEach(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		forEach(sub, do)
	}
}

// Group makes a command one that has only others below it.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = UnknownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(commands...)
	return cmd
}

// Must is for calls that fail only on a programmer's mistake.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
