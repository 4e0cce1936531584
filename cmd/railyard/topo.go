package main

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/table"
	"railyard/report/topoview"
)

// calledMatrix is what topo show --matrix is called as well.
const calledMatrix = "matrix"

// showFlags say what of a topology is shown.
type showFlags struct {
	Topo     topoFlags `without:"load"`
	Matrix   bool      `flag:"matrix"`
	Crossing crossingFlags
}

// Args are two GPUs, or none.
func (f *showFlags) Args(_ *cobra.Command, args []string) error {
	if len(args) != 0 && len(args) != 2 {
		return cli.Usagef("name two GPUs, or none: there are %d names after the topology", len(args))
	}
	return nil
}

// Run shows it.
func (f *showFlags) Run(cmd *cobra.Command, gpus []string) error {
	transfer := f.Crossing.Size != ""
	f.Matrix = f.Matrix || cmd.CalledAs() == calledMatrix
	switch {
	case f.Matrix && len(gpus) > 0:
		return cli.Usagef("--matrix shows all ranks: leave the two GPUs out")
	case transfer && len(gpus) == 0:
		return cli.Usagef("-s is of a transfer between two GPUs: name them")
	case !transfer && cmd.Flags().Changed("how"):
		return cli.Usagef("--how has no effect without -s, the size of a transfer")
	case !transfer && (f.Matrix || len(gpus) > 0) && cmd.Flags().Changed("format"):
		return cli.Usagef("--format has no effect on --matrix, nor on two GPUs without -s, the size of a transfer")
	case !transfer && len(gpus) > 0 && cmd.Flags().Changed("wide"):
		return cli.Usagef("--wide has no effect on two GPUs without -s, the size of a transfer")
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	if f.Matrix {
		width := table.Columns
		if f.Crossing.Format.Wide {
			width = math.MaxInt
		}
		return topoview.Matrix(cmd.OutOrStdout(), t, width)
	}
	if len(gpus) == 0 {
		return f.Crossing.Format.Emit(cmd, report.NewTopology(t))
	}
	var ends [2]topology.DeviceID
	for i, name := range gpus {
		if ends[i], err = gpuNamed(t, name); err != nil {
			return err
		}
	}
	switch {
	case ends[0] == ends[1]:
		return cli.Usagef("%s and %s are the same GPU", gpus[0], gpus[1])
	case transfer:
		return f.Crossing.run(cmd, t, t.RankOf(ends[0]), t.RankOf(ends[1]))
	}
	return topoview.Paths(cmd.OutOrStdout(), t, ends[0], ends[1])
}

// gpuNamed is a GPU by its name or its rank.
func gpuNamed(t *topology.Topology, name string) (topology.DeviceID, error) {
	if d, ok := t.Lookup(name); ok && t.Devices()[d].Kind.HoldsRank() {
		return d, nil
	}
	if r, err := strconv.Atoi(name); err == nil && r >= 0 && r < t.NumRanks() {
		return t.Ranks()[r], nil
	}
	return 0, cli.Usagef("%s has no GPU %q: they are called like %s, or by their ranks, 0 to %d", t.Name(), name,
		t.DeviceName(t.Ranks()[0]), t.NumRanks()-1)
}

// drawFlags say what is drawn where.
type drawFlags struct {
	Topo topoFlags `without:"load"`
	Out  string    `flag:"output,o,need,writes"`
}

// Run draws a topology.
func (f *drawFlags) Run(*cobra.Command, []string) error {
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	write, err := topoview.Draw(t, f.Out)
	if err != nil {
		return cli.Usage(err)
	}
	return outfile.Write(f.Out, write)
}
