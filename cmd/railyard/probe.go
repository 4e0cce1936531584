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
	topo               topoFlags
	out                string
	from               []string
	name, source, date string
	max                string
	group              processGroup
}

func newProbe() *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:  "probe",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	f.topo.addLive(cmd)
	cli.OutputFlag(cmd, &f.out, "profile to write")
	cli.Must(cmd.MarkFlagRequired("output"))
	fl.StringSliceVar(&f.from, "from", nil, "fit on the rows of these files instead of measuring")
	about := cli.AddOptions(cmd, "about", "what the profile says of itself, such as source=four H200 in a rack,date=2026-11-21:")
	about.StringVar(&f.name, "name", "", "name of the profile (default: the file's)")
	about.StringVar(&f.source, "source", "", "where the measurements come from (with --from)")
	about.StringVar(&f.date, "date", "", "when they were made, YYYY-MM-DD (with --from)")
	f.group.add(cmd)
	fl.StringVarP(&f.max, "maxbytes", "e", "256M", "largest copy that is measured")
	return cmd
}

func (f *probeFlags) run(cmd *cobra.Command) error {
	stem, ok := strings.CutSuffix(f.out, ".yaml")
	if !ok {
		return cli.Usagef("-o %s: a profile's name must end in .yaml", f.out)
	}
	if f.name == "" {
		f.name = stem[strings.LastIndexAny(stem, `/\`)+1:]
	}
	if given := f.source != "" || f.date != ""; given != (f.from != nil) || given && (f.source == "" || f.date == "") {
		return cli.Usagef("--from and --about source=…,date=… go together: rows of a file do not say where and when they were measured")
	}
	if f.from != nil && cmd.Flags().Changed("maxbytes") {
		return cli.Usagef("--maxbytes has no effect with --from: leave it out")
	}
	if f.from == nil {
		if err := f.group.detect(f.topo.name, liveTopology); err != nil {
			return err
		}
	}
	if !f.group.several() {
		if err := cli.NoEffect(cmd, "in one process", "sockets", "deadline"); err != nil {
			return err
		}
	}
	t, err := f.topo.load()
	if err != nil {
		return err
	}
	if f.from == nil && f.group.leads() {
		if err := cli.MayWrite(cmd, stem+".csv"); err != nil {
			return err
		}
	}
	if f.group.several() {
		return f.network(cmd, t, stem+".csv")
	}
	var rows []measurement.Link
	if f.from != nil {
		rows, err = f.read()
	} else {
		rows, err = f.measure(cmd, t, stem+".csv")
	}
	if err != nil {
		return err
	}
	r, err := fit.FromLinks(f.name, f.source, f.date, rows, t)
	if err != nil {
		return err
	}
	if err := fitWindow(r.Profile, rows, t); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", f.name, r.Profile.Error)
	m, err := cli.MachineAt(f.out, f.name)
	if err != nil {
		return err
	}
	return cli.WriteMachine(f.out, m.WithOwn(r.Profile))
}

func (f *probeFlags) read() (all []measurement.Link, err error) {
	for _, name := range f.from {
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
	largest, err := units.ParseBytes(f.max)
	if err != nil || largest < units.MiB {
		return nil, cli.Usagef("--maxbytes %s: must be a size of at least 1M", f.max)
	}
	f.date = time.Now().UTC().Format(time.DateOnly)
	f.source = "railyard probe: " + t.Description()
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
