package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/topoview"
	"railyard/topologies"
)

// checkFlags say what is checked.
type checkFlags struct {
	topo    topoFlags
	all     bool
	inPlace bool
	against string
	only    []string
}

func newCheck() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:  "check",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.topo.name, "topology", "t", "", "topology of the plans: a shipped name (see \"railyard list topologies\") or a YAML "+
		"file")
	cli.Must(cmd.RegisterFlagCompletionFunc("topology", completeTopology))
	f.topo.addParts(cmd)
	fl.BoolVar(&f.all, "all", false, "check the shipped topologies too")
	fl.BoolVar(&f.inPlace, "in-place", false, "prove plans with input and output in the same memory, too")
	fl.StringVar(&f.against, "against", "", "what the machine should be: a topology of one node")
	fl.StringSliceVar(&f.only, "only", topoview.Aspects, "with --against, what to compare: "+strings.Join(topoview.Aspects, ", "))
	cli.OneOf(fl, "only", topoview.Aspects...)
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, names []string) error {
	if f.all {
		names = append(names, topologies.Names()...)
	}
	plans := slices.ContainsFunc(names, isPlan)
	switch {
	case len(names) == 0:
		return cli.Usagef("which file? (or --all for the shipped topologies)")
	case plans && f.topo.name == "":
		return cli.Usagef("on which topology? give the plan's with -t")
	case !plans && (f.topo.name != "" || f.inPlace):
		return cli.Usagef("-t and --in-place are about plans, whose names end in .json")
	case f.against != "" && (len(names) != 1 || plans):
		return cli.Usagef("--against compares one topology")
	case f.against != "":
		return f.compare(cmd, names[0])
	case cmd.Flags().Changed("only"):
		return cli.Usagef("--only has no effect without --against")
	case plans:
		return f.prove(cmd, names)
	}
	site, err := f.topo.site()
	if err != nil {
		return err
	}
	bad := 0
	for _, name := range names {
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
		fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %s, %s, %s\n", name, units.Counted(t.NumRanks(), "rank"),
			units.Counted(len(t.Devices()), "device"), units.Counted(len(t.Links()), "link"))
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d topologies are not valid", bad, len(names))
	}
	return nil
}

func isPlan(name string) bool { return strings.HasSuffix(name, ".json") }

// prove proves plans.
func (f *checkFlags) prove(cmd *cobra.Command, files []string) error {
	topo, err := f.topo.load()
	if err != nil {
		return err
	}
	for _, path := range files {
		s, err := readSchedule(path, topo)
		if err != nil {
			return err
		}
		how := ""
		if f.inPlace {
			if _, err := schedule.InPlace(s); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			how = ", in place too"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s computes %v over %s%s\n", path, s.Algorithm, s.Spec.Kind,
			units.Counted(s.Spec.Ranks, "rank"), how)
	}
	return nil
}

// compare says in what a machine differs from what it should be.
func (f *checkFlags) compare(cmd *cobra.Command, live string) error {
	var t [2]*topology.Topology
	for i, name := range []string{live, f.against} {
		var err error
		if t[i], err = topology.Load(source, name, topology.Options{}); err != nil {
			return err
		}
		if n := t[i].NumNodes(); n != 1 {
			return cli.Usagef("%s has %d nodes: --against compares single nodes", name, n)
		}
	}
	lines := topoview.Diff(t[0], t[1], f.only)
	for _, line := range lines {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	if len(lines) > 0 {
		return fmt.Errorf("%s differs from %s: %d differences", live, f.against, len(lines))
	}
	return nil
}
