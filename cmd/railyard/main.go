// Command railyard plans GPU communication and proves its plans by running them.
//
// It only wires: flags and files in, the stages of the house (topology → planner →
// schedule → sim and exec → report) in order, exit codes out. Errors go to standard
// error; the exit code is 0, 1 for a failure, 2 for wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// version is what plans and results carry as their tool version.
const version = "0.1.0"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program without the process: testable from scripts.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "railyard: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(stderr, "try: %s --help\n", cmd.CommandPath())
		return 2
	}
	return 1
}

// commands are the subcommands, one file each.
func commands() []func() *cobra.Command {
	return []func() *cobra.Command{
		newTopo, newPlan, newSimulate, newRun, newCompare, newFit, newExpect, newCrossing, newCrossover, newValidate, newCheck,
		newExport, newImport, newProfiles, newCapacity, newReport, newDiscover, newProbe, newTune, newBaseline, newCudaSweep, newCudaStress, newCudaTables,
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "railyard",
		Short: "Plan GPU communication, predict it, run it, compare",
		Long: `railyard plans GPU communication and proves its plans by running them.

A topology (YAML) goes in; out come the schedule that moves the bytes fastest, its
predicted time, the link that limits it, and a run with real data beside the prediction.`,
		Example:       "  railyard run -t host -c all_reduce -b 1K -e 64M",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SuggestionsMinimumDistance = 2
	for _, c := range commands() {
		root.AddCommand(c())
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strictNames(root)
	wrapArgErrors(root)
	onlyOnce(root)
	return root
}
