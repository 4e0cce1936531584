package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/study"
	"railyard/topologies"
)

// topoFlags choose a topology and the part of it that is used.
type topoFlags struct {
	name        string
	nodes, gpus int
	set         []string
	noInNetwork bool
	lenient     bool // noInNetwork and faster need not have an effect
	fail, slow  []string
	loads       []string

	faster  []string              // classes whose links have other rates, e.g. ndr400=2; set by what-if only
	traffic []topology.Background // beside loads; set by what-if only
}

func (f *topoFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.name, "topology", "t", "",
		"topology: a shipped name (see \"railyard list topologies\"), a YAML file, or live for this machine")
	cli.Must(cmd.MarkFlagRequired("topology"))
	f.addRest(cmd)
}

// addLive adds -t with the live machine as its default, and the flags for parts of it.
func (f *topoFlags) addLive(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.name, "topology", "t", liveTopology, "topology of the machine that is measured")
	f.addRest(cmd)
}

func (f *topoFlags) addRest(cmd *cobra.Command) {
	cli.Must(cmd.RegisterFlagCompletionFunc("topology", completeTopology))
	cli.Positional(cmd, "topology")
	f.addParts(cmd)
}

// addParts adds the flags that say which part of a topology is used.
func (f *topoFlags) addParts(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.nodes, "nodes", 0, "number of nodes (default: as the file says)")
	cmd.Flags().IntVar(&f.gpus, "gpus", 0, "GPUs used in each node (default: all)")
	cli.AtLeast(cmd.Flags(), 1, "nodes", "gpus")
	cmd.Flags().StringArrayVar(&f.set, "set", nil,
		"change a value of the topology file: a path such as fabrics.0.levels.0.group=16, or a short name ("+topology.Shorthands+")")
	cmd.Flags().BoolVar(&f.noInNetwork, "no-in-network", false,
		"switches only forward: no multicast and no reduction in them, as where NVLink SHARP is turned off")
	cmd.Flags().StringArrayVar(&f.fail, "fail", nil, "leave out a failed part: link:A--B (both directions), link:A->B, link:A--B#2 (two "+
		"of the parallel links), nic:, gpu:, node: or switch:NAME")
	cmd.Flags().StringArrayVar(&f.slow, "slow", nil,
		"a part whose links have only a share of their rate left, e.g. link:A--B=0.5 or nic:NAME=0.25")
}

// faults reads --fail and --slow.
func (f *topoFlags) faults() ([]topology.Fault, error) {
	var out []topology.Fault
	for _, flag := range []struct {
		name string
		list []string
		slow bool
	}{{"--fail", f.fail, false}, {"--slow", f.slow, true}} {
		for _, s := range flag.list {
			x, err := topology.ParseFault(s)
			switch {
			case err != nil:
				return nil, cli.Usagef("%s: %v", flag.name, err)
			case x.Slow() && !flag.slow:
				return nil, cli.Usagef("--fail %s: what fails has no rate left; for a slow part write --slow %s", s, s)
			case !x.Slow() && flag.slow:
				return nil, cli.Usagef("--slow %s: say what is left of the rate, such as --slow %s=0.5", s, s)
			}
			if i := slices.IndexFunc(out, x.Repeats); i >= 0 {
				return nil, cli.Usagef("%s %s: --fail or --slow has named that part before (%v): name it once; several parallel links "+
					"are link:A--B#2", flag.name, s, out[i])
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// hostTopology is this machine: it has a rank for each CPU unless --gpus says otherwise.
const (
	hostTopology = "host"
	maxThreads   = 64 // as many as the file has
)

// load reads the topology that the flags name.
func (f *topoFlags) load() (*topology.Topology, error) {
	site, err := f.site()
	if err != nil {
		return nil, err
	}
	t, err := site.Load()
	var idle study.NoEffect
	if errors.As(err, &idle) { // in the flag's words
		return nil, cli.Usagef("--no-in-network has no effect on %s: leave it out", idle.Topology)
	}
	return t, err
}

// site is the topology with what the flags change of it.
func (f *topoFlags) site() (study.Site, error) {
	s := study.Site{Name: f.name, Nodes: f.nodes, GPUs: f.gpus, Set: f.set, NoInNetwork: f.noInNetwork, AnyMachine: f.lenient,
		Source: source}
	if s.Name == hostTopology && s.GPUs == 0 {
		s.GPUs = min(max(runtime.NumCPU(), 2), maxThreads)
	}
	var err error
	if s.Faults, err = f.faults(); err != nil {
		return s, err
	}
	if s.Faster, err = cli.ParseAll(f.faster, parseFaster); err != nil {
		return s, err
	}
	traffic, err := f.background()
	s.Traffic = slices.Concat(traffic, f.traffic)
	return s, err
}

// parseFaster reads a value of --faster.
func parseFaster(text string) (study.Faster, error) {
	class, factor, _ := strings.Cut(text, "=")
	x, err := strconv.ParseFloat(factor, 64)
	if err != nil {
		return study.Faster{}, cli.Usagef("--faster %s: write CLASS=FACTOR, such as ndr400=2", text)
	}
	return study.Faster{Class: class, Factor: x}, nil
}

// measured is the topology that rows were measured on, with as many nodes and GPUs in all as they say.
func (f topoFlags) measured(nodes, gpus int) (*topology.Topology, error) {
	if f.nodes > 0 && nodes > 0 && f.nodes != nodes {
		return nil, fmt.Errorf("--nodes %d, but this was measured on %d: leave --nodes out", f.nodes, nodes)
	}
	if f.gpus > 0 && gpus > 0 && f.gpus*max(nodes, f.nodes, 1) != gpus {
		return nil, fmt.Errorf("--gpus %d of a node, but this was measured on %d GPUs: leave --gpus out", f.gpus, gpus)
	}
	if nodes > 0 {
		f.nodes = nodes
	}
	if gpus > 0 {
		f.gpus = gpus / max(nodes, 1)
	}
	return f.load()
}

var completeTopology = cobra.FixedCompletions(topologies.Names(), cobra.ShellCompDirectiveDefault)

// collFlags choose a collective.
type collFlags struct {
	name string
	root int

	counts, countsOf string
	matrix           *countMatrix // of counts, once read
}

func (f *collFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.name, "collective", "c", "all_reduce", "collective operation")
	cmd.Flags().IntVar(&f.root, "root", 0, "root rank of broadcast, reduce, gather and scatter")
	cli.Must(cmd.RegisterFlagCompletionFunc("collective", cobra.FixedCompletions(collective.Names(), cobra.ShellCompDirectiveNoFileComp)))
}

// collective is what the flags say of it.
func (f *collFlags) collective(cmd *cobra.Command) (study.Collective, error) {
	kind, err := collective.Parse(f.name)
	if err != nil {
		return study.Collective{}, cli.Usage(err)
	}
	if cmd.Flags().Changed("root") && !kind.Rooted() {
		return study.Collective{}, cli.Usagef("--root has no effect on %v: leave it out", kind)
	}
	c := study.Collective{Kind: kind, Root: f.root}
	if err := f.readCounts(kind); err != nil {
		return c, err
	}
	if f.matrix != nil {
		c.Counts = f.matrix.counts
	}
	return c, nil
}

// ofFile names the file of counts in what is wrong with a collective.
func (f *collFlags) ofFile(err error) error {
	if err == nil || f.matrix == nil {
		return err
	}
	return fmt.Errorf("%s: %w", f.counts, err)
}

// asked is a collective on a topology that is loaded, by the costs of a machine.
func asked(cmd *cobra.Command, c *collFlags, p *profileFlag, t *topology.Topology, sizes []units.Bytes) (a study.Asked, err error) {
	a = study.Asked{Topology: t, Sizes: sizes}
	if a.Collective, err = c.collective(cmd); err != nil {
		return a, err
	}
	a.Machine, err = p.machine(t)
	return a, err
}

// profileFlag chooses the machine whose costs apply.
type profileFlag struct {
	name   string
	fitted *cost.Profile // made on the spot; used where no name is given
}

func (f *profileFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "profile", "", "machine whose costs apply: a name (see \"railyard list machines\") or a YAML file "+
		"(default: the topology's own)")
	cli.Must(cmd.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(cost.Names(), cobra.ShellCompDirectiveDefault)))
}

// machine is the machine on a topology.
func (f *profileFlag) machine(t *topology.Topology) (*cost.Machine, error) {
	if f.name == "" && f.fitted != nil {
		return cost.NewMachine(hostTopology).WithOwn(f.fitted), nil
	}
	return cost.MachineOn(t, f.name)
}
