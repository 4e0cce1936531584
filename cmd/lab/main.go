// Command lab is for those who develop railyard: it measures ways to run collectives on GPUs, makes the tables of
// docs/ from what was measured, judges predictions by what others published, and fits the shipped profiles again.
package main

import (
	_ "embed"
	"os"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/report/table"
)

func main() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdout, os.Stderr)) }

//go:embed manual.md
var manual string

func newRoot() *cobra.Command {
	return cli.Root(&cobra.Command{Use: "lab"}, manual, map[string][]string{"formats": table.Formats()},
		cli.New("validate", new(validateFlags)),
		cli.New("steps", new(stepsFlags)),
		cli.New("scenarios", new(scenariosFlags)),
		cli.New("cuda-sweep", &sweepFlags{Range: cli.SizeFlags{Begin: "1K", End: "1G"}}),
		cli.New("cuda-stress", new(stressFlags)),
		cli.New("cuda-tables", new(tablesFlags)))
}
