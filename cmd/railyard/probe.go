package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/probe"
	"railyard/internal/outfile"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/fit"
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
	if f.From == nil && f.Group.leads() {
		if err := cli.MayWrite(cmd, stem+".csv"); err != nil {
			return err
		}
	}
	if f.Group.several() {
		return f.network(cmd, t, stem+".csv")
	}
	var rows []measurement.Link
	if f.From != nil {
		rows, err = f.read()
	} else {
		rows, err = f.measure(cmd, t, stem+".csv")
	}
	if err != nil {
		return err
	}
	r, err := fit.FromLinks(f.About.Name, f.About.Source, f.About.Date, rows, t)
	if err != nil {
		return err
	}
	if err := fitWindow(r.Profile, rows, t); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", f.About.Name, r.Profile.Error)
	m, err := cli.MachineAt(f.Out, f.About.Name)
	if err != nil {
		return err
	}
	return cli.WriteMachine(f.Out, m.WithOwn(r.Profile))
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

// measure runs the probe and keeps its rows.
func (f *probeFlags) measure(cmd *cobra.Command, t *topology.Topology, file string) ([]measurement.Link, error) {
	largest, err := units.ParseBytes(f.Max)
	if err != nil || largest < units.MiB {
		return nil, cli.Usagef("--maxbytes %s: must be a size of at least 1M", f.Max)
	}
	f.About.Date = time.Now().UTC().Format(time.DateOnly)
	f.About.Source = "railyard probe: " + t.Description()
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	rows, err := probe.Run(ctx, probe.Options{GPUs: t.NumRanks(), MaxSize: largest, Progress: func(what string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "measuring %s\n", what)
	}})
	if err != nil {
		return nil, err
	}
	return rows, outfile.Write(file, func(w io.Writer) error { return measurement.WriteLinks(w, rows) })
}
