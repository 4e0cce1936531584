// Command lab is for those who develop railyard: it measures ways to run collectives on GPUs, makes the tables of
// docs/ from what was measured, judges predictions by what others published, and fits the shipped profiles again.
package main

import (
	_ "embed"
	"os"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdout, os.Stderr)) }

//go:embed manual.md
var manual string

func newRoot() *cobra.Command {
	return cli.Root(&cobra.Command{Use: "lab"}, manual, newValidate(), newSteps(), newScenarios(), newCudaSweep(), newCudaStress(),
		newCudaTables())
}
