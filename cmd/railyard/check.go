package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report/topoview"
	"railyard/topologies"
)

// checkFlags say what is checked.
type checkFlags struct {
	Topology string    `flag:"topology,t,complete={topologies},files"` // of plans
	Topo     topoFlags `without:"topology load"`
	All      bool      `flag:"all"`
	InPlace  bool      `flag:"in-place"`
	Against  string    `flag:"against"`
	Only     []string  `flag:"only,commas,one={aspects}"`
}

// Args are files and names.
func (f *checkFlags) Args(*cobra.Command, []string) error { return nil }

// Run checks topologies, or proves plans.
func (f *checkFlags) Run(cmd *cobra.Command, names []string) error {
	f.Topo.Name = f.Topology
	if f.All {
		names = append(names, topologies.Names()...)
	}
	plans := slices.ContainsFunc(names, isPlan)
	switch {
	case len(names) == 0:
		return cli.Usagef("which file? (or --all for the shipped topologies)")
	case plans && f.Topo.Name == "":
		return cli.Usagef("on which topology? give the plan's with -t")
	case !plans && (f.Topo.Name != "" || f.InPlace):
		return cli.Usagef("-t and --in-place are about plans, whose names end in .json")
	case f.Against != "" && (len(names) != 1 || plans):
		return cli.Usagef("--against compares one topology")
	case f.Against != "":
		return f.compare(cmd, names[0])
	case cmd.Flags().Changed("only"):
		return cli.Usagef("--only has no effect without --against")
	case plans:
		return f.prove(cmd, names)
	}
	site, err := f.Topo.site()
	if err != nil {
		return err
	}
	bad := 0
	for _, name := range names {
		site.Name = name
		t, err := site.Load()
		if err == nil {
			if _, err = cost.MachineFor(t); err != nil {
				err = fmt.Errorf("%s: profile: %w", name, err)
			}
		}
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
	topo, err := f.Topo.load()
	if err != nil {
		return err
	}
	for _, path := range files {
		s, err := readSchedule(path, topo)
		if err != nil {
			return err
		}
		how := ""
		if f.InPlace {
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
	for i, name := range []string{live, f.Against} {
		var err error
		if t[i], err = topology.Load(source, name, topology.Options{}); err != nil {
			return err
		}
		if n := t[i].NumNodes(); n != 1 {
			return cli.Usagef("%s has %d nodes: --against compares single nodes", name, n)
		}
	}
	lines := topoview.Diff(t[0], t[1], f.Only)
	for _, line := range lines {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	if len(lines) > 0 {
		return fmt.Errorf("%s differs from %s: %d differences", live, f.Against, len(lines))
	}
	return nil
}
