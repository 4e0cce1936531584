package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cluster"
	"railyard/exec/probe"
	"railyard/internal/outfile"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
	"railyard/study/network"
)

// probeFlags say what is measured, or where measured rows are.
type probeFlags struct {
	Topo  topoFlags `without:"load"`
	Out   string    `flag:"output,o,need,writes"`
	From  []string  `flag:"from,commas"`
	About aboutFlags
	Group processGroup
	Max   string `flag:"maxbytes,e,default=256M"`
}

// Run measures, and fits a profile to what was measured.
func (f *probeFlags) Run(cmd *cobra.Command, _ []string) error {
	return f.Group.announce(cmd, f.run(cmd))
}

func (f *probeFlags) run(cmd *cobra.Command) error {
	stem, ok := strings.CutSuffix(f.Out, ".yaml")
	if !ok {
		return cli.Usagef("-o %s: a profile's name must end in .yaml", f.Out)
	}
	if f.About.Name == "" {
		f.About.Name = stem[strings.LastIndexAny(stem, `/\`)+1:]
	}
	if x := &f.About; (x.Source != "") != (f.From != nil) || (x.Date != "") != (f.From != nil) {
		return cli.Usagef("--from and --about source=…,date=… go together: rows of a file do not say where and when they were measured")
	}
	if f.From != nil && cmd.Flags().Changed("maxbytes") {
		return cli.Usagef("--maxbytes has no effect with --from: leave it out")
	}
	if f.From == nil {
		if err := f.Group.detect(f.Topo.Name, liveTopology); err != nil {
			return err
		}
	}
	if !f.Group.several() {
		if err := cli.NoEffect(cmd, "in one process", "sockets", "deadline"); err != nil {
			return err
		}
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	if f.From != nil {
		rows, err := f.read()
		if err != nil {
			return err
		}
		return f.fitted(cmd, rows, t)
	}
	largest, err := units.ParseBytes(f.Max)
	if err != nil || largest < units.MiB {
		return cli.Usagef("--maxbytes %s: must be a size of at least 1M", f.Max)
	}
	file := stem + ".csv"
	if f.Group.leads() {
		if err := cli.MayWrite(cmd, file); err != nil {
			return err
		}
	}
	f.About.Date = time.Now().UTC().Format(time.DateOnly)
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	if f.Group.several() {
		return f.between(ctx, cmd, t, largest, file)
	}
	f.About.Source = "railyard probe: " + t.Description()
	rows, err := probe.Run(ctx, probe.Options{GPUs: t.NumRanks(), MaxSize: largest, Progress: func(what string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "measuring %s\n", what)
	}})
	if err != nil {
		return err
	}
	return f.kept(cmd, rows, t, file)
}

// between measures the network between the processes that a launcher has started, and what ranks of one process cost one another.
// Rank 0 keeps and prints what all have measured.
func (f *probeFlags) between(ctx context.Context, cmd *cobra.Command, t *topology.Topology, largest units.Bytes, file string) error {
	build, err := exactBuild()
	if err != nil {
		return err
	}
	c := &f.Group
	ranks, err := c.own(t)
	if err != nil {
		return err
	}
	if err := c.join(ctx, cluster.Hello{Version: build, Terms: terms("command", "probe", "topology", identity(t)), GPUs: ranks,
		Sizes: f.Max}, ranks); err != nil {
		return err
	}
	f.About.Source = fmt.Sprintf("railyard probe over %d processes: %s", c.world.Size, t.Description())
	rows, err := c.data.Network(ctx, largest)
	if err == nil && t.NumNodes() > 1 {
		var more []measurement.Link
		more, err = c.engines(ctx, cmd, t, largest)
		rows = append(rows, more...)
	}
	if err == nil && c.leads() {
		err = f.kept(cmd, rows, t, file)
	}
	return c.leave(err)
}

// kept keeps rows and fits a profile to them.
func (f *probeFlags) kept(cmd *cobra.Command, rows []measurement.Link, t *topology.Topology, file string) error {
	if err := outfile.Write(file, func(w io.Writer) error { return measurement.WriteLinks(w, rows) }); err != nil {
		return err
	}
	return f.fitted(cmd, rows, t)
}

// fitted writes the profile of rows that were measured now or before, of a network or of GPUs.
func (f *probeFlags) fitted(cmd *cobra.Command, rows []measurement.Link, t *topology.Topology) error {
	var lines []string
	var p *cost.Profile
	origin := cost.Origin{Kind: cost.Measured, Source: f.About.Source, Date: f.About.Date}
	access := fit.Accesses(origin, rows)
	if network.Measured(rows) {
		x, err := network.Of(rows, t)
		if err != nil {
			return err
		}
		p, lines = x.Profile, x.Lines()
		p.Name, p.Source, p.Date = f.About.Name, f.About.Source, f.About.Date
	} else {
		r, err := fit.FromLinks(f.About.Name, f.About.Source, f.About.Date, rows, t)
		switch {
		case errors.Is(err, fit.ErrNoMessages) && access != nil: // one GPU has nobody to send to
		case err != nil:
			return err
		default:
			p = r.Profile
			if err := fitWindow(p, rows, t); err != nil {
				return err
			}
		}
		lines = accessLines(access, rows)
	}
	out := cmd.OutOrStdout()
	if p != nil {
		fmt.Fprintf(out, "%s: %s\n", f.About.Name, p.Error)
	} else {
		fmt.Fprintf(out, "%s: no messages were measured, which need two GPUs: accesses to memory alone\n", f.About.Name)
	}
	for _, line := range lines {
		fmt.Fprintln(out, line)
	}
	m, err := cli.MachineAt(f.Out, f.About.Name)
	if err != nil {
		return err
	}
	if p != nil {
		m = m.WithOwn(p)
	}
	if access != nil {
		m = m.WithAccess(access)
	}
	return cli.WriteMachine(f.Out, m)
}

func (f *probeFlags) read() (all []measurement.Link, err error) {
	for _, name := range f.From {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rows, err := measurement.ReadLinks(bytes.NewReader(data), name)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}
