package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/ncclgraph"
	"railyard/interop/nccltuner"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study"
)

// tunerRows chooses among what NCCL has on a topology.
type tunerRows struct {
	f       *exportFlags
	topo    *topology.Topology
	model   *nccl.Model
	runtime *nccl.Runtime
	profile string
}

func newTunerRows(f *exportFlags, t *topology.Topology) (*tunerRows, error) {
	m, err := nccl.New(t, nccl.Options{})
	if err != nil {
		return nil, fmt.Errorf("NCCL does not run there: %w", err)
	}
	machine, err := f.Profile.machine(t)
	if err != nil {
		return nil, err
	}
	r, err := study.NCCL(t, machine, nccl.Options{})
	return &tunerRows{f: f, topo: t, model: m, runtime: r, profile: machine.Name}, err
}

// title says what the file follows.
func (x *tunerRows) title(s *schedule.Schedule) string {
	if s != nil {
		return fmt.Sprintf("railyard %s: what comes nearest in NCCL to the plan %s for %v on %s, %d ranks", version, s.Algorithm,
			s.Spec.Kind, x.topo.Name(), x.topo.NumRanks())
	}
	return fmt.Sprintf("railyard %s: the fastest of what NCCL has by size for %s on %s, %d ranks, by profile %s", version, x.f.Coll,
		x.topo.Name(), x.topo.NumRanks(), x.profile)
}

// ofPlan is the one row that comes nearest to a plan. What stands in for it has as many
// channels as NCCL gives it for large sizes: a channel of ours may fill all links, NCCL's
// is one thread block.
func (x *tunerRows) ofPlan(s *schedule.Schedule) ([]nccltuner.Row, error) {
	algo, note := nccltuner.Nearest(s.Algorithm, s.Spec.Kind, x.model.NVLS().Channels > 0)
	r := x.row(s.Spec.Kind, 0, algo, string(s.Protocol), min(len(s.Channels), 32))
	switch {
	case algo == "nvls" || algo == "nvls_tree":
		r.Protocol, r.Channels = "simple", x.model.NVLS().Channels
	case note != "":
		r.Channels = max(r.Channels, x.channels(s.Spec.Kind, algo))
	}
	r.Note = note
	return nccltuner.Ranges([]nccltuner.Row{r}), nil
}

func (x *tunerRows) row(k collective.Kind, size units.Bytes, algo, proto string, channels int) nccltuner.Row {
	return nccltuner.Row{Kind: k, Min: size, Algorithm: algo, Protocol: proto, Channels: max(channels, 1), Nodes: x.model.Nodes(),
		Ranks: x.topo.NumRanks()}
}

// ofSizes are the best choices over the sizes that the flags ask for.
func (x *tunerRows) ofSizes(cmd *cobra.Command) ([]nccltuner.Row, error) {
	sizes, err := x.f.Sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	kinds := nccltuner.Kinds
	if x.f.Coll != "all" {
		k, err := collective.Parse(x.f.Coll)
		if err != nil {
			return nil, cli.Usage(err)
		}
		kinds = []collective.Kind{k}
	}
	var rows []nccltuner.Row
	for _, k := range kinds {
		var at []nccltuner.Row
		for _, size := range sizes {
			r, err := x.best(k, size)
			if err != nil {
				return nil, err
			}
			at = append(at, r)
		}
		rows = append(rows, nccltuner.Ranges(at)...)
	}
	return rows, nil
}

// best is the fastest way by kernels that were fitted at such sizes, or at others; where
// there are none, NCCL's own choice.
func (x *tunerRows) best(k collective.Kind, size units.Bytes) (nccltuner.Row, error) {
	list, err := x.model.Candidates(k, size)
	if err != nil {
		return nccltuner.Row{}, err
	}
	best, time, sure := list[0], units.Time(0), false
	for _, e := range list {
		p, err := x.runtime.Predict(nccl.Ask{Kind: k, Algorithm: e.Algo.String(), Protocol: e.Proto.String(), Size: size})
		if err != nil || !p.Fitted {
			continue
		}
		within := !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "extrapolated") })
		if time == 0 || within && !sure || within == sure && p.Time < time {
			best, time, sure = e, p.Time, within
		}
	}
	return x.row(k, size, tunerName(best.Algo.String()), strings.ToLower(best.Proto.String()), best.Channels), nil
}

// tunerName is an algorithm as the plugin writes it.
func tunerName(algo string) string {
	if algo == "NVLSTree" {
		return "nvls_tree"
	}
	return strings.ToLower(algo)
}

// otherChannels are the channels of what was not planned: as many as large rings take.
func (x *tunerRows) otherChannels() int { return x.channels(collective.AllReduce, "ring") }

// channels are how many NCCL gives an algorithm for large sizes; 1 where it does not say.
func (x *tunerRows) channels(k collective.Kind, algo string) int {
	list, err := x.model.Candidates(k, units.GiB)
	if err != nil {
		return 1
	}
	for _, e := range list {
		if tunerName(e.Algo.String()) == algo && e.Proto == nccl.Simple {
			return max(e.Channels, 1)
		}
	}
	return 1
}

// graph writes NCCL's graph file of a plan.
func (f *exportFlags) graph(cmd *cobra.Command, w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	if f.Node >= t.NumNodes() {
		return cli.Usagef("--node %d: %s has nodes 0 to %d", f.Node, t.Name(), t.NumNodes()-1)
	}
	m := ncclMachine(t, len(s.Channels))
	m.One, m.This = f.Node >= 0, max(f.Node, 0)
	g, notes, err := ncclgraph.Export(s, m)
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "railyard: note: %s\n", n)
	}
	return g.Write(w)
}

// ncclMachine is where the ranks are, with the speeds that NCCL's own search finds for a
// channel; more channels than it finds share what these have.
func ncclMachine(t *topology.Topology, channels int) ncclgraph.Machine {
	m := ncclgraph.Machine{TypeIntra: "SYS", TypeInter: "SYS", SpeedIntra: 1, SpeedInter: 1}
	perNode := map[int]int64{}
	for r := range t.NumRanks() {
		n := t.NodeOf(r)
		m.Node, m.Dev = append(m.Node, n), append(m.Dev, perNode[n])
		perNode[n]++
	}
	if model, err := nccl.New(t, nccl.Options{}); err == nil && model.Ring().Channels > 0 {
		g := model.Ring()
		share := min(float64(g.Channels)/float64(channels), 1)
		m.SpeedIntra, m.SpeedInter = g.BWIntra*share, g.BWInter*share
		m.TypeIntra, m.TypeInter = readable(g.TypeIntra), readable(g.TypeInter)
	}
	var nics int64
	for _, d := range t.Devices() {
		if d.Kind == topology.NIC && int(d.Node) == t.NodeOf(0) {
			nics++
		}
	}
	if nics > 0 && t.NumNodes() > 1 {
		gpus := perNode[t.NodeOf(0)]
		m.NIC = func(dev int64) int64 { return dev * nics / gpus }
	}
	return m
}

// readable is a path as graph files may name it: NCCL's table lacks some.
func readable(path string) string {
	switch path {
	case "C2C":
		return "PHB"
	case "NET", "DIS":
		return "SYS"
	}
	return path
}
