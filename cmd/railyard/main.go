// Command railyard plans GPU communication and proves its plans by running them.
//
// It only wires: flags and files in, the stages of the house (topology → planner →
// schedule → sim and exec → report) in order, exit codes out. Errors go to standard
// error; the exit code is 0, 1 for a failure, 2 for wrong usage.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program without the process: testable from scripts.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(), args, stdout, stderr)
}

func newRoot() *cobra.Command {
	return cli.Root(&cobra.Command{
		Use:   "railyard",
		Short: "Plan GPU communication, predict it, run it, compare",
		Long: `railyard plans GPU communication and proves its plans by running them.

A topology (YAML) goes in; out come the schedule that moves the bytes fastest, its
predicted time, the link that limits it, and a run with real data beside the prediction.`,
		Example: "  railyard run -t host -c all_reduce -b 1K -e 64M",
		Version: version,
	}, newTopo(), newList(), newCheck(), newPlan(), newSimulate(), newRun(), newCompare(), newValidate(), newFit(), newExpect(),
		newExport(), newImport(), newCapacity(), newReport(),
		newDiscover(), newProbe(), newTune(), newBaseline(), newVersion())
}
