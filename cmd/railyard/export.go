package main

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/mscclpp"
	"railyard/interop/mscclxml"
	"railyard/interop/nccltuner"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Formats that a plan is exported to; the tuner's also follow NCCL's own best choices.
const (
	toMSCCL   = "msccl-xml"
	toMSCCLPP = "mscclpp"
	toGraph   = "nccl-graph"
	toTuner   = "nccl-tuner"
	toEnv     = "nccl-env"
)

var exportFormats = []string{toMSCCL, toMSCCLPP, toGraph, toTuner, toEnv}

// exportFlags say what is exported, and how.
type exportFlags struct {
	topo    topoFlags
	sizes   cli.SizeFlags
	profile profileFlag
	coll    string
	plan    string
	to      string
	out     string
	dialect string
	inPlace bool
	copies  int
	node    int
	config  string
}

func newExport() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:  "export",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.topo.add(cmd)
	f.sizes.Add(cmd, "1K", "4G")
	f.profile.add(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.coll, "collective", "c", "all_reduce", "collective to tune, or all (nccl-tuner and nccl-env)")
	fl.StringVar(&f.plan, "plan", "", "the plan, as \"railyard plan -o\" writes it; nccl-tuner and nccl-env take what comes nearest in "+
		"NCCL, or without it the best of NCCL's own for each size")
	fl.StringVar(&f.to, "to", "", "format: "+strings.Join(exportFormats, ", "))
	cli.OutputFlag(cmd, &f.out, "write to this file (default: standard output)")
	how := cli.AddOptions(cmd, "how", "what the format leaves open, such as instances=4:")
	how.StringVar(&f.dialect, "dialect", "rccl", "msccl-xml: the executor, which has limits: "+strings.Join(mscclxml.Names(), ", "))
	fl.BoolVar(&f.inPlace, "in-place", false, "msccl-xml, mscclpp: for calls with input and output in one buffer")
	how.IntVar(&f.copies, "instances", 1, "msccl-xml, mscclpp: thread blocks that share the data of each channel; large sizes want 16 to "+
		"32 in all")
	fl.IntVar(&f.node, "node", -1, "nccl-graph: make the file of this node only (default: one file for all)")
	how.StringVar(&f.config, "tuner-config", "", "nccl-env: where the table of nccl-tuner will be")
	cli.Must(cmd.MarkFlagRequired("to"))
	cli.OneOf(fl, "to", exportFormats...)
	cli.AtLeast(how.FlagSet, 1, "instances")
	return cmd
}

// appliesTo are the formats that a flag has an effect on.
var appliesTo = map[string][]string{
	"collective": {toTuner, toEnv}, "size": {toTuner, toEnv}, "minbytes": {toTuner, toEnv}, "maxbytes": {toTuner, toEnv},
	"stepbytes": {toTuner, toEnv}, "stepfactor": {toTuner, toEnv}, "profile": {toTuner, toEnv},
	"dialect": {toMSCCL}, "in-place": {toMSCCL, toMSCCLPP}, "instances": {toMSCCL, toMSCCLPP}, "node": {toGraph}, "tuner-config": {toEnv},
}

func (f *exportFlags) check(cmd *cobra.Command) error {
	for name, formats := range appliesTo {
		changed, flag := cmd.Flags().Changed(name), "--"+name
		if cli.OptionsOf(cmd, "how").Changed(name) {
			changed, flag = true, "--how "+name
		}
		if changed && !slices.Contains(formats, f.to) {
			return cli.Usagef("%s has no effect with --to %s: leave it out", flag, f.to)
		}
		if changed && f.plan != "" && f.tunes() && name != "tuner-config" {
			return cli.Usagef("%s has no effect with --plan: leave it out", flag)
		}
	}
	if f.plan == "" && !f.tunes() {
		return cli.Usagef("--to %s needs a plan: make one with `railyard plan -o plan.json` and give it with --plan", f.to)
	}
	return nil
}

// tunes reports whether the format holds choices among what NCCL has.
func (f *exportFlags) tunes() bool { return f.to == toTuner || f.to == toEnv }

func (f *exportFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	t, err := f.topo.load()
	if err != nil {
		return err
	}
	var s *schedule.Schedule
	if f.plan != "" {
		if s, err = readSchedule(f.plan, t); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if f.tunes() {
		err = f.tuning(cmd, &b, t, s)
	} else {
		err = f.export(cmd, &b, t, s)
	}
	if err != nil {
		return err
	}
	return cli.WriteBytes(cmd, f.out, b.Bytes())
}

// export writes a plan step by step.
func (f *exportFlags) export(cmd *cobra.Command, w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	switch f.to {
	case toMSCCL:
		x, err := mscclxml.Export(s.Instances(f.copies), mscclxml.Options{Dialect: f.dialect, InPlace: f.inPlace})
		if err != nil {
			return err
		}
		return x.Write(w)
	case toMSCCLPP:
		var nodes []int
		for r := range t.NumRanks() {
			nodes = append(nodes, t.NodeOf(r))
		}
		x, err := mscclpp.Export(s.Instances(f.copies), mscclpp.Options{InPlace: f.inPlace, Nodes: nodes})
		if err != nil {
			return err
		}
		return x.Write(w)
	}
	return f.graph(cmd, w, t, s)
}

// tuning writes what makes NCCL choose.
func (f *exportFlags) tuning(cmd *cobra.Command, w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	x, err := newTunerRows(f, t)
	if err != nil {
		return err
	}
	var rows []nccltuner.Row
	if s != nil {
		rows, err = x.ofPlan(s)
	} else {
		rows, err = x.ofSizes(cmd)
	}
	if err != nil {
		return err
	}
	if f.to == toEnv {
		return nccltuner.WriteEnv(w, nccltuner.Env{Plan: x.title(s), Rows: rows, Config: f.config})
	}
	comments := []string{x.title(s), "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"}
	return nccltuner.WriteCSV(w, comments, rows, x.otherChannels())
}
