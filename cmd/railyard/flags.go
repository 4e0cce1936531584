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
)

// topoFlags choose a topology and the part of it that is used.
type topoFlags struct {
	Name        string   `flag:"topology,t,need,positional,complete={topologies},files"`
	Nodes       int      `flag:"nodes,lo=1"`
	Gpus        int      `flag:"gpus,lo=1"`
	Set         []string `flag:"set"`
	NoInNetwork bool     `flag:"no-in-network"`
	Fail        []string `flag:"fail"`
	Slow        []string `flag:"slow"`
	Loads       []string `flag:"load"` // of commands that take one

	lenient bool                  // NoInNetwork and faster need not have an effect
	faster  []string              // classes whose links have other rates, e.g. ndr400=2; set by what-if only
	traffic []topology.Background // beside loads; set by what-if only
	now     []topology.Background // that this machine carries, for --load live; nil: not measured yet
}

// live are those of the machine that is measured.
var live = topoFlags{Name: liveTopology}

// faults reads --fail and --slow.
func (f *topoFlags) faults() ([]topology.Fault, error) {
	var out []topology.Fault
	for _, flag := range []struct {
		name string
		list []string
		slow bool
	}{{"--fail", f.Fail, false}, {"--slow", f.Slow, true}} {
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
	s := study.Site{Name: f.Name, Nodes: f.Nodes, GPUs: f.Gpus, Set: f.Set, NoInNetwork: f.NoInNetwork, AnyMachine: f.lenient,
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
	traffic, err := f.background(s)
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

// measured is the topology that rows were measured on, with as many nodes and GPUs in all as they say; where nobody says on how
// many nodes, all of it if so many fill it, or if it has several.
func (f topoFlags) measured(nodes, gpus int) (*topology.Topology, error) {
	if f.Nodes > 0 && nodes > 0 && f.Nodes != nodes {
		return nil, fmt.Errorf("--nodes %d, but this was measured on %d: leave --nodes out", f.Nodes, nodes)
	}
	if nodes == 0 && f.Nodes == 0 {
		if t, err := f.load(); err != nil || gpus == 0 || gpus >= t.NumRanks() || t.NumNodes() > 1 {
			return t, err // which rows are held against
		}
	}
	if f.Gpus > 0 && gpus > 0 && f.Gpus*max(nodes, f.Nodes, 1) != gpus {
		return nil, fmt.Errorf("--gpus %d of a node, but this was measured on %d GPUs: leave --gpus out", f.Gpus, gpus)
	}
	if nodes > 0 {
		f.Nodes = nodes
	}
	if gpus > 0 {
		f.Gpus = gpus / max(f.Nodes, 1)
	}
	return f.load()
}

// collFlags choose a collective.
type collFlags struct {
	Name     string `flag:"collective,c,default=all_reduce,complete={collectives}"`
	Root     int    `flag:"root"`
	Counts   string `flag:"counts"` // of commands that take them
	CountsOf string `flag:"counts-of,default=bytes"`

	matrix *countMatrix // of counts, once read
}

// collective is what the flags say of it.
func (f *collFlags) collective(cmd *cobra.Command) (study.Collective, error) {
	kind, err := collective.Parse(f.Name)
	if err != nil {
		return study.Collective{}, cli.Usage(err)
	}
	if cmd.Flags().Changed("root") && !kind.Rooted() {
		return study.Collective{}, cli.Usagef("--root has no effect on %v: leave it out", kind)
	}
	c := study.Collective{Kind: kind, Root: f.Root}
	if err := f.readCounts(kind); err != nil {
		return c, err
	}
	if f.matrix != nil {
		c.Counts, c.Unit = f.matrix.counts, f.matrix.element
	}
	return c, nil
}

// ofFile names the file of counts in what is wrong with a collective.
func (f *collFlags) ofFile(err error) error {
	if err == nil || f.matrix == nil {
		return err
	}
	return fmt.Errorf("%s: %w", f.Counts, err)
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
	Name string `flag:"profile,complete={machines},files"`

	fitted *cost.Profile // made on the spot; used where no name is given
}

// machine is the machine on a topology.
func (f *profileFlag) machine(t *topology.Topology) (*cost.Machine, error) {
	if f.Name == "" && f.fitted != nil {
		return cost.NewMachine(hostTopology).WithOwn(f.fitted), nil
	}
	return cost.MachineOn(t, f.Name)
}
