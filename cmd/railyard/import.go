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

func newImport() *cobra.Command {
	var topo topoFlags
	var from, out string
	var slices int
	cmd := &cobra.Command{
		Use:  "import",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != toMSCCL && cmd.Flags().Changed("slices") {
				return cli.Usagef("--slices has no effect with --from %s, which moves chunks as a whole: leave it out", from)
			}
			t, err := topo.load()
			if err != nil {
				return err
			}
			s, err := readForeign(args[0], slices, importers[from])
			if err != nil {
				return err
			}
			s.TopologyName, s.TopologyHash, s.Tool = t.Name(), t.Hash(), planner.Tool
			if err := schedule.Check(s, t); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %s\n", args[0], s.Algorithm, s.Spec.Kind,
				units.Counted(s.Spec.Ranks, "rank"))
			return outfile.Write(out, func(w io.Writer) error { return schedule.Encode(w, s) })
		},
	}
	topo.add(cmd)
	cmd.Flags().StringVar(&from, "from", "", "format: "+toMSCCL+", "+toMSCCLPP)
	cli.OutputFlag(cmd, &out, "write the plan to this file")
	cmd.Flags().IntVar(&slices, "slices", 1, toMSCCL+": in how many pieces the buffer is gone through, one behind the other, as MSCCL "+
		"does with chunks of more than 2 MiB")
	cli.Must(cmd.MarkFlagRequired("from"))
	cli.Must(cmd.MarkFlagRequired("output"))
	cli.OneOf(cmd.Flags(), "from", toMSCCL, toMSCCLPP)
	cli.AtLeast(cmd.Flags(), 1, "slices")
	return cmd
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
