package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/topoview"
	"railyard/topologies"
)

func newTopo() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:     "topo",
		Short:   "List, check, show and draw topologies",
		Example: "  railyard topo matrix -t dgx1-v100",
	}, newTopoList(), newTopoShow(), newTopoCheck(), newTopoMatrix(), newTopoPaths(), newTopoDraw(), newTopoDiff())
}

func newTopoList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the shipped topologies", Example: "  railyard topo list", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, name := range topologies.Names() {
				t, err := topology.Load(topologies.Source, name, topology.Options{})
				if err != nil {
					return err
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", name, units.Counted(t.NumRanks(), "rank"), t.Description())
			}
			return w.Flush()
		},
	}
}

// onTopology makes a command that does something with one topology.
func onTopology(use, short, example string, args cobra.PositionalArgs, do func(cmd *cobra.Command, t *topology.Topology, args []string) error) *cobra.Command {
	var f topoFlags
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := f.load()
			if err != nil {
				return err
			}
			return do(cmd, t, args)
		}}
	f.add(cmd)
	return cmd
}

func newTopoShow() *cobra.Command {
	return onTopology("show TOPOLOGY", "Count devices, links and tiers", "  railyard topo show -t superpod-h100 --nodes 64", cobra.NoArgs,
		func(cmd *cobra.Command, t *topology.Topology, _ []string) error {
			return topoview.Show(cmd.OutOrStdout(), t)
		})
}

func newTopoMatrix() *cobra.Command {
	return onTopology("matrix TOPOLOGY", "Connections and bandwidth between ranks, as nvidia-smi topo -m", "  railyard topo matrix -t dgx1-v100", cobra.NoArgs,
		func(cmd *cobra.Command, t *topology.Topology, _ []string) error {
			return topoview.Matrix(cmd.OutOrStdout(), t)
		})
}

func newTopoPaths() *cobra.Command {
	return onTopology("paths TOPOLOGY SRC DST", "Every kind of route between two GPUs, best first", "  railyard topo paths -t dgx1-v100 gpu0 gpu5", cobra.ExactArgs(2),
		func(cmd *cobra.Command, t *topology.Topology, args []string) error {
			var ends [2]topology.DeviceID
			for i, name := range args {
				d, ok := t.Lookup(name)
				if !ok || !t.Devices()[d].Kind.HoldsRank() {
					return cli.Usagef("%s has no GPU %q: they are called like %s", t.Name(), name, t.DeviceName(t.Ranks()[0]))
				}
				ends[i] = d
			}
			if ends[0] == ends[1] {
				return cli.Usagef("%s and %s are the same GPU", args[0], args[1])
			}
			return topoview.Paths(cmd.OutOrStdout(), t, ends[0], ends[1])
		})
}

func newTopoDraw() *cobra.Command {
	var out string
	cmd := onTopology("draw TOPOLOGY -o FILE.svg|png", "Draw a topology", "  railyard topo draw -t dgx-h100 -o dgx-h100.svg", cobra.NoArgs,
		func(_ *cobra.Command, t *topology.Topology, _ []string) error {
			write, err := topoview.Draw(t, out)
			if err != nil {
				return cli.Usage(err)
			}
			return cli.WriteFile(out, write)
		})
	cli.OutputFlag(cmd, &out, "file to write: .svg or .png")
	cli.Must(cmd.MarkFlagRequired("output"))
	return cmd
}

func newTopoCheck() *cobra.Command {
	var all bool
	var f topoFlags
	cmd := &cobra.Command{
		Use: "check FILE…", Short: "Check topology files: every mistake with its line", Example: "  railyard topo check my-cluster.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				args = append(args, topologies.Names()...)
			}
			if len(args) == 0 {
				return cli.Usagef("which file? (or --all for the shipped ones)")
			}
			bad := 0
			for _, name := range args {
				site, err := f.site()
				if err != nil {
					return err
				}
				site.Name = name
				t, err := site.Load()
				if err != nil {
					bad++
					fmt.Fprintln(cmd.ErrOrStderr(), err)
					continue
				}
				if len(t.Faults()) > 0 {
					name = t.Name()
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %s, %s, %s\n", name, units.Counted(t.NumRanks(), "rank"), units.Counted(len(t.Devices()), "device"), units.Counted(len(t.Links()), "link"))
			}
			if bad > 0 {
				return fmt.Errorf("%d of %d topologies are not valid", bad, len(args))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "check the shipped topologies too")
	f.addParts(cmd)
	return cmd
}
