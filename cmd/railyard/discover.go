package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/discover"
	"railyard/model/topology"
	"railyard/report/topoview"
	"railyard/topologies"
)

// liveTopology is the name of the machine that railyard runs on.
const liveTopology = "live"

// source finds a topology as topologies.Source does, and the live machine.
func source(name string) (string, []byte, error) {
	if name != liveTopology {
		return topologies.Source(name)
	}
	var b bytes.Buffer
	err := describe(&b)
	return liveTopology, b.Bytes(), err
}

// describe writes the live machine's topology file.
func describe(w io.Writer) error {
	l, err := discover.Open()
	if err != nil {
		return err
	}
	defer l.Close()
	return discover.Write(w, l, "/", time.Now().UTC())
}

// addLive adds -t with the live machine as its default, and the flags for parts of it.
func (f *topoFlags) addLive(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.name, "topology", "t", liveTopology, "topology of the machine that is measured")
	cli.Must(cmd.RegisterFlagCompletionFunc("topology", completeTopology))
	cli.Positional(cmd, "topology")
	f.addParts(cmd)
}

func newDiscover() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "discover",
		Short: "Describe this machine as a topology file",
		Long: `discover asks the NVIDIA driver and the system how the GPUs of this machine are joined
(NVLinks and NVSwitches, PCIe, sockets, network adapters) and writes a topology file.
What cannot be seen and is assumed stands in comments at its top.

Everywhere else, "-t live" is this machine.`,
		Example: `  railyard discover -o mine.yaml
  railyard topo matrix -t live
  railyard topo diff live dgx-h100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var b bytes.Buffer
			if err := describe(&b); err != nil {
				return err
			}
			write := func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }
			if out == "" {
				return write(cmd.OutOrStdout())
			}
			return cli.WriteFile(out, write)
		},
	}
	cli.OutputFlag(cmd, &out, "file to write (default: standard output)")
	return cmd
}

func newTopoDiff() *cobra.Command {
	only := topoview.Aspects
	cmd := &cobra.Command{
		Use:   "diff LIVE INTENDED",
		Short: "Say in what a machine differs from what it should be",
		Long: `diff compares two topologies of one node: what is there ("live" for this machine) and
what should be. It says what differs, such as "GPU 3 has 17 of 18 links", and ends with
exit code 1 where anything does.`,
		Example: "  railyard topo diff live dgx-h100 --only nvlink",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, aspect := range only {
				if !slices.Contains(topoview.Aspects, aspect) {
					return cli.Usagef("--only %s: must be of %s", aspect, strings.Join(topoview.Aspects, ", "))
				}
			}
			var t [2]*topology.Topology
			for i, name := range args {
				var err error
				if t[i], err = topology.Load(source, name, topology.Options{}); err != nil {
					return err
				}
				if n := t[i].NumNodes(); n != 1 {
					return cli.Usagef("%s has %d nodes: diff compares single nodes", name, n)
				}
			}
			lines := topoview.Diff(t[0], t[1], only)
			for _, line := range lines {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			if len(lines) > 0 {
				return fmt.Errorf("%s differs from %s: %d differences", args[0], args[1], len(lines))
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&only, "only", topoview.Aspects, "what to compare: "+strings.Join(topoview.Aspects, ", "))
	return cmd
}
