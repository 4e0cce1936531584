// Command railyard plans GPU communication and proves its plans by running them.
//
// It only wires: flags and files in, the stages of the house (topology → planner →
// schedule → sim and exec → report) in order, exit codes out. Errors go to standard
// error; the exit code is 0, 1 for a failure, 2 for wrong usage.
package main

import (
	_ "embed"
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

//go:embed manual.md
var manual string

func newRoot() *cobra.Command {
	topo := cli.Group(&cobra.Command{Use: "topo"}, newTopoShow(), newTopoDraw())
	capacity := cli.Group(&cobra.Command{Use: "capacity"}, newCapacityStep(), newCapacityWhatIf(), newCapacitySize(), newCapacitySweep())
	return cli.Root(&cobra.Command{Use: "railyard", Version: version}, manual, topo, newList(), newCheck(), newPlan(), newSimulate(),
		newRun(), newCompare(), newValidate(), newFit(), newExpect(), newExport(), newImport(), capacity, newReport(), newDiscover(),
		newProbe(), newTune(), newBaseline(), newVersion())
}
