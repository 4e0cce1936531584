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
	"strconv"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/interop/mscclxml"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/gpu"
	"railyard/model/load"
	"railyard/model/topology"
	"railyard/model/workload"
	"railyard/planner"
	"railyard/report/table"
	"railyard/report/topoview"
	"railyard/topologies"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program without the process: testable from scripts.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Run(newRoot(), args, stdout, stderr)
}

//go:embed manual.md
var manual string

// lists are the words that the manual and flags call by their names.
var lists = map[string][]string{"topologies": topologies.Names(), "machines": cost.Names(), "workloads": workload.Names(),
	"gpus": gpu.Names(), "collectives": collective.Names(), "algorithms": algorithms(), "fabrics": cost.Fabrics,
	"shorthands": {topology.Shorthands}, "formats": table.Formats(), "exports": exportFormats, "imports": importFormats,
	"executors": mscclxml.Names(), "mechanisms": {block.MechanismNames()}, "aspects": topoview.Aspects, "evidence": evidenceNames(),
	"threads": {strconv.Itoa(cuda.MaxThreads)}}

func algorithms() (names []string) {
	for _, a := range planner.Algorithms() {
		names = append(names, a.Name)
	}
	return names
}

func newRoot() *cobra.Command {
	show := cli.New("show", new(showFlags))
	show.Aliases = []string{calledMatrix}
	topo := cli.Group(&cobra.Command{Use: "topo"}, show, cli.New("draw", new(drawFlags)))
	capacity := cli.Group(&cobra.Command{Use: "capacity"}, cli.New("step", new(capacityStepFlags)), cli.New("what-if", new(whatIfFlags)),
		cli.New("size", new(sizeQuestion)), cli.New("sweep", new(sweepFlags)))
	from := func(begin, end string) cli.SizeFlags { return cli.SizeFlags{Begin: begin, End: end} }
	return cli.Root(&cobra.Command{Use: "railyard", Version: release()}, manual, lists, topo, capacity, newList(),
		cli.New("check", &checkFlags{Only: topoview.Aspects}),
		cli.New("plan", &planCommand{Plan: planFlags{Sizes: from("1K", "4G")}}),
		cli.New("simulate", new(simulateCommand)),
		cli.New("run", &runFlags{Plan: planFlags{Sizes: from("1K", "64M")}}),
		cli.New("compare", new(compareFlags)),
		cli.New("validate", new(validateFlags)),
		cli.New("fit", new(fitFlags)),
		cli.New("expect", &expectFlags{Sizes: from("1K", "4G")}),
		cli.New("export", &exportFlags{Sizes: from("1K", "4G")}),
		cli.New("import", new(importFlags)),
		cli.New("report", new(reportFlags)),
		cli.New("discover", new(discoverFlags)),
		cli.New("doctor", new(doctorFlags)),
		cli.New("watch", &watchFlags{Hot: load.HotFrom}),
		cli.New("probe", &probeFlags{Topo: live}),
		cli.New("tune", &tuneFlags{Topo: live, Sizes: from("1K", "1G")}),
		cli.New("baseline", &baselineFlags{Topo: live, Sizes: from("1K", "64M")}))
}
