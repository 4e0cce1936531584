package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/lazy"
	"railyard/internal/outfile"
	"railyard/interop/foreign"
	"railyard/interop/mscclpp"
	"railyard/interop/mscclxml"
	"railyard/interop/ncclgraph"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
)

// planFormat is a format of plans of other tools.
type planFormat struct {
	flags []string // that have an effect on it, of those below
	read  func(f *importFlags, r io.Reader, t *topology.Topology) (*schedule.Schedule, error)
}

var planFormats = map[string]planFormat{
	toMSCCL: {[]string{"slices", "how racy"}, func(f *importFlags, r io.Reader, _ *topology.Topology) (*schedule.Schedule, error) {
		return mscclxml.Import(r, f.Slices, f.takeRace())
	}},
	toMSCCLPP: {[]string{"how racy"}, func(f *importFlags, r io.Reader, _ *topology.Topology) (*schedule.Schedule, error) {
		return mscclpp.Import(r, f.takeRace())
	}},
	toGraph: {[]string{"slices", "how collective", "how graph"}, (*importFlags).graphs},
}

// formatFlags have an effect on some formats only.
var formatFlags = []string{"slices", "how racy", "how collective", "how graph", "how gpu"}

// maxImport is the largest file that is read, in MiB; formats have limits of their own below it.
const maxImport = 256

// importFormats are what is read: plans, then descriptions of machines and networks.
var importFormats = append([]string{toMSCCL, toMSCCLPP, toGraph}, topologyFormatNames()...)

// importFlags say what is read, and as what.
type importFlags struct {
	Topo   topoFlags `without:"load" optional:"topology"`
	From   string    `flag:"from,one={imports}"`
	Out    string    `flag:"output,o,need,writes"`
	Slices int       `flag:"slices,default=1,lo=1"`
	GPU    string    `flag:"how gpu"`
	Racy   bool      `flag:"how racy"`
	Kind   string    `flag:"how collective,default=all_reduce"`
	Graph  string    `flag:"how graph,default=ring,one=ring|tree"`

	race  error    // of the plan, where it is read all the same
	notes []string // what the file says besides the plan
}

// Args is the file, where no topology stands before it.
func (f *importFlags) Args(cmd *cobra.Command, args []string) error {
	if n := len(args); n > 1 || n == 0 && f.Topo.Name == "" {
		return fmt.Errorf("which file? name one file of another tool, for a plan also its topology (%d are named)", n)
	}
	return nil
}

// Run makes a plan or a topology of another tool's file.
func (f *importFlags) Run(cmd *cobra.Command, args []string) error {
	file := f.Topo.Name
	if len(args) == 1 {
		file = args[0]
	}
	data, err := readFile(file, maxImport)
	if err != nil {
		return err
	}
	if f.From == "" {
		if f.From, err = formatOf(data); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	format, plan := planFormats[f.From]
	for _, flag := range formatFlags {
		if slices.Contains(format.flags, flag) || !plan && flag == "how gpu" {
			continue
		}
		if err := cli.NoEffect(cmd, "with --from "+f.From, flag); err != nil {
			return err
		}
	}
	if !plan {
		return f.topology(cmd, file, data, len(args) == 1)
	}
	if len(args) == 0 {
		return cli.Usagef("--from %s: name the topology that the plan is for as well, such as -t dgx-h100", f.From)
	}
	return f.plan(cmd, file, data)
}

// plan makes a plan of another tool's.
func (f *importFlags) plan(cmd *cobra.Command, file string, data []byte) error {
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	s, err := planFormats[f.From].read(f, bytes.NewReader(data), t)
	if err != nil && own(data) {
		return fmt.Errorf("%s is a plan of railyard already: use it with --plan, prove it with `railyard check`", file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	s.TopologyName, s.TopologyHash, s.Tool = t.Name(), t.Hash(), planner.Tool
	if f.race != nil {
		s.Inputs["race"], _, _ = strings.Cut(f.race.Error(), "\n")
		fmt.Fprintf(cmd.ErrOrStderr(), "railyard: warning: %s has a race: where it is run, results may be wrong, if rarely. "+
			"What is written here waits for what it reads, and shall be run in its place.\n  %v\n", file, f.race)
	} else if f.Racy {
		return cli.Usagef("--how racy has no effect: no race was found in %s, leave it out", file)
	}
	if err := schedule.Check(s, t); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, note := range f.notes {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", file, note)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %s\n", file, s.Algorithm, s.Spec.Kind,
		units.Counted(s.Spec.Ranks, "rank"))
	return outfile.Write(f.Out, func(w io.Writer) error { return schedule.Encode(w, s) })
}

// takeRace is where a race goes that does not end the import; nil where it does.
func (f *importFlags) takeRace() *error {
	if f.Racy {
		return &f.race
	}
	return nil
}

// graphs reads NCCL's channels.
func (f *importFlags) graphs(r io.Reader, t *topology.Topology) (*schedule.Schedule, error) {
	kind, err := collective.Parse(f.Kind)
	if err != nil {
		return nil, cli.Usagef("--how collective: %v", err)
	}
	g, err := ncclgraph.Read(r)
	if err != nil {
		return nil, err
	}
	f.notes = g.Summary()
	nodes := make([]int, t.NumRanks())
	for r := range nodes {
		nodes[r] = t.NodeOf(r)
	}
	return g.Import(kind, f.Graph == "tree", f.Slices, nodes)
}

// topology makes a topology file. -t beside the file names the type of a network's nodes.
func (f *importFlags) topology(cmd *cobra.Command, file string, data []byte, typed bool) error {
	for _, name := range []string{"nodes", "gpus", "set", "no-in-network", "fail", "slow"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s has no effect with --from %s: change the topology that is made", name, f.From)
		}
	}
	format := topologyFormatNamed(f.From)
	switch {
	case typed && !format.network:
		return cli.Usagef("-t has no effect with --from %s, which describes one machine: leave it out", f.From)
	case !typed:
		f.Topo.Name = ""
	}
	if f.GPU != "" && !format.gpu {
		return cli.Usagef("--how gpu has no effect with --from %s: leave it out", f.From)
	}
	x, err := format.read(bytes.NewReader(data), f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var b bytes.Buffer
	if err := x.Write(&b, time.Now().UTC()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	summary, err := importedTopology(b.Bytes())
	if err != nil {
		return fmt.Errorf("%s: what it says makes no topology: %w", file, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s (%s): %s\n", file, f.From, summary)
	for line := range strings.SplitSeq(b.String(), "\n") {
		note, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "railyard: note: %s\n", note)
	}
	return outfile.Write(f.Out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err })
}

// own tells plans of railyard from those of others.
func own(data []byte) bool {
	var said struct{ Schema string }
	return json.Unmarshal(data, &said) == nil && strings.HasPrefix(said.Schema, "railyard.")
}

// foreignJSON reports whether a text is a whole object of JSON that has no part of a plan for MSCCL++.
func foreignJSON(data []byte) bool {
	var parts map[string]json.RawMessage
	return json.Unmarshal(data, &parts) == nil && parts["gpus"] == nil && parts["collective"] == nil && parts["protocol"] == nil
}

// xmlRoot is the first element of a plan or graph, behind comments and a declaration.
var xmlRoot = lazy.Regexp(`(?m)^\s*<(algo|graphs)\b`)

// formatOf finds the format of a file in it.
func formatOf(data []byte) (string, error) {
	if own(data) {
		return "", fmt.Errorf("is a plan of railyard already: use it with --plan, prove it with `railyard check`")
	}
	for _, f := range topologyFormats {
		if f.begins(data) {
			return f.name, nil
		}
	}
	switch root := xmlRoot().FindSubmatch(data); {
	case root != nil && string(root[1]) == "algo":
		return toMSCCL, nil
	case root != nil:
		return toGraph, nil
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && !foreignJSON(data):
		return toMSCCLPP, nil
	}
	return "", fmt.Errorf("nothing in it says which format it has: name it with --from (%s)", strings.Join(importFormats, ", "))
}

// importedAs is the format of a foreign plan or network; "" where that is not sure, or where the file is about a machine.
func importedAs(data []byte) string {
	format, err := formatOf(data)
	if err != nil || format == toMSCCLPP { // as any JSON may be
		return ""
	}
	if format == toGraph || slices.Contains(topologyFormatNames(), format) && !topologyFormatNamed(format).network {
		return ""
	}
	return format
}

// readFile reads a file of so many MiB at most.
func readFile(file string, most int64) ([]byte, error) {
	in, err := foreign.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := foreign.Read(in, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return data, nil
}
