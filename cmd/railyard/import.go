package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/interop/mscclpp"
	"railyard/interop/mscclxml"
	"railyard/model/schedule"
	"railyard/model/units"
	"railyard/planner"
)

// importers read the formats of other tools.
var importers = map[string]func(r io.Reader, slices int) (*schedule.Schedule, error){
	toMSCCL: mscclxml.Import, toMSCCLPP: func(r io.Reader, _ int) (*schedule.Schedule, error) { return mscclpp.Import(r) },
}

// importFlags say what is read, and as what.
type importFlags struct {
	Topo   topoFlags `without:"load"`
	From   string    `flag:"from,need,one=msccl-xml|mscclpp"`
	Out    string    `flag:"output,o,need,writes"`
	Slices int       `flag:"slices,default=1,lo=1"`
}

// Args is the file.
func (f *importFlags) Args(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("which file? name one plan of another tool beside the topology (%d are named)", len(args))
	}
	return nil
}

// Run makes a plan of another tool's.
func (f *importFlags) Run(cmd *cobra.Command, args []string) error {
	if f.From != toMSCCL && cmd.Flags().Changed("slices") {
		return cli.Usagef("--slices has no effect with --from %s, which moves chunks as a whole: leave it out", f.From)
	}
	t, err := f.Topo.load()
	if err != nil {
		return err
	}
	s, err := readForeign(args[0], f.Slices, importers[f.From])
	if err != nil {
		return err
	}
	s.TopologyName, s.TopologyHash, s.Tool = t.Name(), t.Hash(), planner.Tool
	if err := schedule.Check(s, t); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %s\n", args[0], s.Algorithm, s.Spec.Kind,
		units.Counted(s.Spec.Ranks, "rank"))
	return outfile.Write(f.Out, func(w io.Writer) error { return schedule.Encode(w, s) })
}

func readForeign(path string, slices int, read func(io.Reader, int) (*schedule.Schedule, error)) (*schedule.Schedule, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s, err := read(in, slices)
	if err == nil {
		return s, nil
	}
	if own(path) {
		return nil, fmt.Errorf("%s is a plan of railyard already: use it with --plan, prove it with `railyard check`", path)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// own tells plans of railyard from those of others.
func own(path string) bool {
	data, err := os.ReadFile(path)
	var said struct{ Schema string }
	return err == nil && json.Unmarshal(data, &said) == nil && strings.HasPrefix(said.Schema, "railyard.")
}
