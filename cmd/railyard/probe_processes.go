package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/host"
	"railyard/internal/outfile"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/table"
	"railyard/study/network"
)

// network measures the network between the processes that a launcher has started, and what ranks of one process cost one another.
// Rank 0 keeps and prints what all have measured.
func (f *probeFlags) network(cmd *cobra.Command, t *topology.Topology, rowsFile string) error {
	largest, err := units.ParseBytes(f.Max)
	if err != nil || largest < units.MiB {
		return cli.Usagef("--maxbytes %s: must be a size of at least 1M", f.Max)
	}
	build, err := exactBuild()
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	c := &f.Group
	ranks, err := c.own(t)
	if err != nil {
		return err
	}
	if err := c.join(ctx, cluster.Hello{Version: build, Plan: "probe of " + t.Hash(), GPUs: ranks, Sizes: f.Max}, ranks); err != nil {
		return err
	}
	return c.leave(f.calibrated(ctx, cmd, c, t, largest, rowsFile))
}

func (f *probeFlags) calibrated(ctx context.Context, cmd *cobra.Command, c *processGroup, t *topology.Topology, largest units.Bytes,
	rowsFile string) error {
	x, err := network.Calibrate(ctx, c.data, t, host.Config{}, largest)
	if err != nil || !c.leads() {
		return err
	}
	if err := outfile.Write(rowsFile, func(w io.Writer) error { return measurement.WriteLinks(w, x.Rows) }); err != nil {
		return err
	}
	x.Profile.Name, x.Profile.Source = f.About.Name, "railyard probe over "+fmt.Sprint(c.world.Size)+" processes: "+t.Description()
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %s\n", f.About.Name, x.Profile.Error)
	for _, r := range x.Ratios {
		fmt.Fprintf(out, "all at once, to the rank %d on: %s as the topology's links say, %s measured\n", r.Distance,
			table.Microseconds(r.Predicted.Microseconds()), table.Microseconds(r.Measured.Microseconds()))
	}
	for _, s := range x.Suspects {
		fmt.Fprintf(out, "slow: %v\n", s)
	}
	m, err := cli.MachineAt(f.Out, f.About.Name)
	if err != nil {
		return err
	}
	return cli.WriteMachine(f.Out, m.WithOwn(x.Profile))
}
