package main

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/mscclpp"
	"railyard/interop/mscclxml"
	"railyard/interop/nccltuner"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// Formats that a plan is exported to; the tuner's also follow NCCL's own best choices. Those of topologies are in export_topology.go.
const (
	toMSCCL   = "msccl-xml"
	toMSCCLPP = "mscclpp"
	toGraph   = "nccl-graph"
	toTuner   = "nccl-tuner"
	toPlugin  = "nccl-tuner-plugin"
	toEnv     = "nccl-env"
)

var exportFormats = []string{toMSCCL, toMSCCLPP, toGraph, toPlugin, toTuner, toEnv, toGres, toTree, toYAML, toSlurmJob, toKueue, toKubeJob}

// exportFlags say what is exported, and how.
type exportFlags struct {
	Topo    topoFlags `without:"load"`
	Sizes   cli.SizeFlags
	Profile profileFlag
	Coll    string `flag:"collective,c,default=all_reduce"`
	Plan    string `flag:"plan"`
	To      string `flag:"to,need,one={exports}"`
	Out     string `flag:"output,o,writes"`
	Dialect string `flag:"how dialect,default=rccl"`
	InPlace bool   `flag:"in-place"`
	Copies  int    `flag:"how instances,default=1,lo=1"`
	Node    int    `flag:"node,default=-1"`
	Config  string `flag:"how tuner-config"`
	Image   string `flag:"how image"`
	Command string `flag:"how command"`

	Launch   string `flag:"how launch,default=stream,one=graph|stream"`
	Measured string `flag:"how measured"`
	Slower   bool   `flag:"how slower"`
	stderr   io.Writer
}

// Formats that hold choices among what NCCL has, and those that take plans.
var (
	tuned   = []string{toTuner, toPlugin, toEnv}
	ofPlans = append([]string{toMSCCL, toMSCCLPP, toGraph, toSlurmJob, toKubeJob}, tuned...)
	proven  = append([]string{toMSCCLPP}, tuned...)
)

// appliesTo are the formats that a flag has an effect on.
var appliesTo = map[string][]string{
	"collective": tuned, "size": tuned, "minbytes": tuned, "maxbytes": tuned, "stepbytes": tuned, "stepfactor": tuned, "profile": tuned,
	"dialect": {toMSCCL}, "in-place": {toMSCCL, toMSCCLPP}, "instances": {toMSCCL, toMSCCLPP}, "node": {toGraph}, "tuner-config": {toEnv},
	"image": {toKubeJob}, "command": {toKubeJob}, "plan": ofPlans, "launch": proven, "measured": proven,
}

// withPlan are flags that have an effect beside a plan too.
var withPlan = []string{"plan", "tuner-config", "profile", "launch", "measured"}

func (f *exportFlags) check(cmd *cobra.Command) error {
	for _, name := range slices.Sorted(maps.Keys(appliesTo)) {
		formats := appliesTo[name]
		changed, flag := cmd.Flags().Changed(name), "--"+name
		if cli.OptionsOf(cmd, "how").Changed(name) {
			changed, flag = true, "--how "+name
		}
		if changed && !slices.Contains(formats, f.To) {
			return cli.Usagef("%s has no effect with --to %s: leave it out", flag, f.To)
		}
		if changed && f.Plan != "" && f.tunes() && !slices.Contains(withPlan, name) {
			return cli.Usagef("%s has no effect with --plan: leave it out", flag)
		}
	}
	if f.To == toMSCCLPP && f.Measured == "" {
		if err := cli.NoEffect(cmd, "with --to mscclpp without measured=ROWS.csv: leave it out", "how launch"); err != nil {
			return err
		}
	}
	if f.Plan == "" && !f.tunes() && ofTopology[f.To] == nil {
		return cli.Usagef("--to %s needs a plan: make one with `railyard plan -o plan.json` and give it with --plan", f.To)
	}
	return nil
}

// tunes reports whether the format holds choices among what NCCL has.
func (f *exportFlags) tunes() bool { return slices.Contains(tuned, f.To) }

// Run writes a plan in another format.
func (f *exportFlags) Run(cmd *cobra.Command, _ []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	f.stderr = cmd.ErrOrStderr()
	var s *schedule.Schedule
	if f.Plan != "" {
		if s, err = readSchedule(f.Plan, t); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	switch write := ofTopology[f.To]; {
	case write != nil:
		err = write(f, &b, t, s)
	case f.tunes():
		err = f.tuning(cmd, &b, t, s)
	default:
		err = f.export(&b, t, s)
	}
	if err != nil {
		return err
	}
	return cli.WriteBytes(cmd, f.Out, b.Bytes())
}

// export writes a plan step by step.
func (f *exportFlags) export(w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	switch f.To {
	case toMSCCL:
		x, err := mscclxml.Export(s.Instances(f.Copies), mscclxml.Options{Dialect: f.Dialect, InPlace: f.InPlace})
		if err != nil {
			return err
		}
		f.note("not proven: no times of MSCCL's executors are known")
		return x.Write(w)
	case toMSCCLPP:
		var nodes []int
		for r := range t.NumRanks() {
			nodes = append(nodes, t.NodeOf(r))
		}
		x, err := mscclpp.Export(s.Instances(f.Copies), mscclpp.Options{InPlace: f.InPlace, Nodes: nodes})
		if err != nil {
			return err
		}
		if err := f.prove(x, s); err != nil {
			return err
		}
		return x.Write(w)
	}
	return f.graph(w, t, s)
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
	switch f.To {
	case toEnv:
		return nccltuner.WriteEnv(w, nccltuner.Env{Plan: x.title(s), Rows: rows, Config: f.Config, Own: x.otherChannels()})
	case toPlugin:
		return nccltuner.WritePlugin(w, filepath.Base(cmp.Or(f.Out, "FILE.c")), []string{x.title(s)}, rows)
	}
	comments := []string{x.title(s), nccltuner.OneThread, nccltuner.Unproven,
		"collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"}
	return nccltuner.WriteCSV(w, comments, rows, max(x.otherChannels(), 1))
}
