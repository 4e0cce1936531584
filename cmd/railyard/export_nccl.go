package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/ncclgraph"
	"railyard/interop/nccltuner"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/study/proof"
)

// tunerRows chooses among what NCCL has on a topology.
type tunerRows struct {
	f       *exportFlags
	topo    *topology.Topology
	judge   proof.Judge
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
	if err != nil {
		return nil, err
	}
	x := &tunerRows{f: f, topo: t, profile: machine.Name,
		judge: proof.Judge{Model: m, Runtime: r, Graph: f.Launch == "graph"}}
	x.judge.Rows, err = f.measured(t.NumRanks())
	return x, err
}

// measured are the rows of --how measured; nil without it.
func (f *exportFlags) measured(gpus int) (proof.Rows, error) {
	if f.Measured == "" {
		return nil, nil
	}
	data, err := os.ReadFile(f.Measured)
	if err != nil {
		return nil, err
	}
	set, err := measurement.ReadCSV(bytes.NewReader(data), f.Measured)
	if err != nil {
		return nil, err
	}
	rows := proof.Read(set, f.Launch, gpus)
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no row of launch %s on %d GPUs: measure some with `railyard baseline --how launch=%s`", f.Measured,
			f.Launch, gpus, f.Launch)
	}
	return rows, nil
}

// title says what the file follows.
func (x *tunerRows) title(s *schedule.Schedule) string {
	what := "the fastest of what NCCL has by size for " + x.f.Coll
	if s != nil {
		what = fmt.Sprintf("what comes nearest in NCCL to the plan %s for %v", s.Algorithm, s.Spec.Kind)
	}
	by := "predicted by profile " + x.profile
	if x.f.Measured != "" {
		by = "measured in " + filepath.Base(x.f.Measured)
	}
	mode := map[string]string{"graph": "captured in CUDA graphs", "stream": "launched on streams"}[x.f.Launch]
	return fmt.Sprintf("railyard %s: %s on %s, %d ranks, %s, %s", version, what, x.topo.Name(), x.topo.NumRanks(), mode, by)
}

// checked are the sizes at which a row for all sizes is held against NCCL's own choice.
var checked = func() (out []units.Bytes) {
	for size := units.KiB; size <= units.GiB; size *= 4 {
		out = append(out, size)
	}
	return out
}()

// ofPlan is what comes nearest to a plan, with as many channels at least as NCCL gives it for large sizes: a channel of ours may fill all
// links, NCCL's is one thread block. Where rows are by size, those at which it would be slower are left to NCCL.
func (x *tunerRows) ofPlan(s *schedule.Schedule) ([]nccltuner.Row, error) {
	algo, note := nccltuner.Nearest(s.Algorithm, s.Spec.Kind, x.judge.Model.NVLS().Channels > 0)
	r := x.row(s.Spec.Kind, 0, proof.Setting{Algorithm: algo, Protocol: string(s.Protocol)}, min(len(s.Channels), 32))
	if r.Channels = max(r.Channels, x.channels(s.Spec.Kind, algo)); algo == "nvls" || algo == "nvls_tree" {
		r.Protocol, r.Channels = "simple", x.judge.Model.NVLS().Channels
	}
	r.Note = note
	sizes := x.judge.Rows.Sizes(s.Spec.Kind)
	if len(sizes) == 0 {
		sizes = checked
	}
	var at, kept []nccltuner.Row
	for _, size := range sizes {
		c, one := proof.Case{Kind: s.Spec.Kind, Size: size}, r
		v, known := x.judge.Of(c, proof.Setting{Algorithm: r.Algorithm, Protocol: r.Protocol})
		if one.Min = size; known {
			one.Proofs = []nccltuner.Proof{proved(size, v)}
		}
		if at = append(at, one); v.Slower {
			var err error
			if one, err = x.own(c); err != nil {
				return nil, err
			}
		}
		kept = append(kept, one)
	}
	bySize := slices.Contains([]string{toTuner, toPlugin}, x.f.To)
	if some := slices.ContainsFunc(kept, func(r nccltuner.Row) bool { return !r.Own }); bySize && some && !x.f.Slower {
		return nccltuner.Ranges(kept), nil
	}
	rows := nccltuner.Ranges(at)
	return rows, x.f.mayBeSlower(nccltuner.Slower(rows))
}

// mayBeSlower passes on that what is written would make NCCL slower; a warning where the user insists.
func (f *exportFlags) mayBeSlower(err error) error {
	if err != nil && f.Slower {
		fmt.Fprintf(f.stderr, "railyard: warning: %v\n", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w; write it nevertheless with --how slower", err)
	}
	return nil
}

func (f *exportFlags) note(said string) { fmt.Fprintf(f.stderr, "railyard: note: %s\n", said) }

func proved(size units.Bytes, v proof.Verdict) nccltuner.Proof {
	return nccltuner.Proof{Size: size, Time: v.Time, Own: v.Own, Measured: v.Measured, Slower: v.Slower}
}

func (x *tunerRows) row(k collective.Kind, size units.Bytes, w proof.Setting, channels int) nccltuner.Row {
	return nccltuner.Row{Kind: k, Min: size, Algorithm: w.Algorithm, Protocol: w.Protocol, Channels: max(channels, 1),
		Nodes: x.judge.Model.Nodes(), Ranks: x.topo.NumRanks()}
}

// ofSizes are the best choices over the sizes that the flags ask for, or those that were measured.
func (x *tunerRows) ofSizes(cmd *cobra.Command) ([]nccltuner.Row, error) {
	kinds := nccltuner.Kinds
	if x.f.Coll != "all" {
		var err error
		if kinds, err = cli.ParseAll(strings.Split(x.f.Coll, ","), collective.Parse); err != nil {
			return nil, err
		}
	}
	asked, err := x.f.Sizes.Sizes(cmd)
	if err != nil {
		return nil, err
	}
	var rows []nccltuner.Row
	for _, k := range kinds {
		sizes := asked
		if known := x.judge.Rows.Sizes(k); len(known) > 0 && !x.f.Sizes.Given(cmd) {
			sizes = known
		}
		var at []nccltuner.Row
		for _, size := range sizes {
			r, err := x.best(proof.Case{Kind: k, Size: size})
			if err != nil {
				return nil, err
			}
			if x.f.To == toPlugin {
				r.Channels = 0 // NCCL's own number, which falls with the size
			}
			at = append(at, r)
		}
		rows = append(rows, nccltuner.Ranges(at)...)
	}
	switch x.f.To {
	case toPlugin:
		return nccltuner.Within(rows), nil // all else is left to NCCL
	case toEnv:
		return rows, nil
	}
	return rows, x.f.mayBeSlower(nccltuner.Slower(rows))
}

// best is what beats NCCL's own choice beyond noise, else what takes as long, marked as such.
func (x *tunerRows) best(c proof.Case) (nccltuner.Row, error) {
	ways, channels, err := x.judge.Candidates(c)
	if err != nil {
		return nccltuner.Row{}, err
	}
	v, wins := x.judge.Best(c, ways)
	if !wins {
		return x.own(c)
	}
	r := x.row(c.Kind, c.Size, v.Setting, channels[v.Setting])
	r.Proofs = []nccltuner.Proof{proved(c.Size, v)}
	return r, nil
}

// own is what takes as long as NCCL's own choice, marked as such.
func (x *tunerRows) own(c proof.Case) (nccltuner.Row, error) {
	ways, channels, err := x.judge.Candidates(c)
	if err != nil {
		return nccltuner.Row{}, err
	}
	v, ok := x.judge.AsOwn(c, ways)
	if !ok {
		v, _ = x.judge.Of(c, ways[0])
	}
	r := x.row(c.Kind, c.Size, v.Setting, channels[v.Setting])
	if r.Own = true; v.Own > 0 {
		r.Proofs = []nccltuner.Proof{proved(c.Size, v)}
	}
	return r, nil
}

// otherChannels are the channels of what was not planned: as many as large rings take.
func (x *tunerRows) otherChannels() int { return x.channels(collective.AllReduce, "ring") }

// channels are how many NCCL gives an algorithm for large sizes; 0 where that is not known.
func (x *tunerRows) channels(k collective.Kind, algo string) int {
	_, channels, err := x.judge.Candidates(proof.Case{Kind: k, Size: units.GiB})
	if err != nil {
		return 0
	}
	return channels[proof.Setting{Algorithm: algo, Protocol: "simple"}]
}

// graph writes NCCL's graph file of a plan.
func (f *exportFlags) graph(w io.Writer, t *topology.Topology, s *schedule.Schedule) error {
	if f.Node >= t.NumNodes() {
		return cli.Usagef("--node %d: %s has nodes 0 to %d", f.Node, t.Name(), t.NumNodes()-1)
	}
	m := ncclMachine(t)
	m.One, m.This = f.Node >= 0, max(f.Node, 0)
	g, notes, err := ncclgraph.Export(s, m)
	if err != nil {
		return err
	}
	for i := range g.Graphs {
		said, slower := compareWithNCCLGraph(t, &m, &g.Graphs[i])
		if !slower {
			notes = append(notes, "not proven: "+said)
		} else if err := f.mayBeSlower(fmt.Errorf("NCCL would be slower: %s", said)); err != nil {
			return err
		}
	}
	for _, n := range notes {
		f.note(n)
	}
	return g.Write(w)
}

// compareWithNCCLGraph says what the channels of a graph carry between the GPUs of a node beside those that NCCL finds by itself;
// slower where it is less by more than repeats differ by.
func compareWithNCCLGraph(t *topology.Topology, m *ncclgraph.Machine, g *ncclgraph.Graph) (said string, slower bool) {
	model, err := nccl.New(t, nccl.Options{})
	if err != nil {
		return fmt.Sprintf("NCCL does not run there: %v", err), false
	}
	own, what := model.Ring(), "rings"
	if g.ID == ncclgraph.TreeID {
		own, what = model.Tree(), "trees"
	}
	ring := g.ID == ncclgraph.RingID
	carried := func(orders [][]int) (units.Rate, error) {
		return proof.Carried(t, orders, ring && t.NumNodes() == 1, !ring)
	}
	theirs, err := carried(own.Order)
	if err != nil {
		return fmt.Sprintf("what %s of NCCL's own carry is not known: %v", what, err), false
	}
	if theirs == 0 {
		return fmt.Sprintf("NCCL finds no %s by itself there", what), false
	}
	ours, err := carried(m.Orders(g))
	if err != nil {
		return err.Error(), true
	}
	said = fmt.Sprintf("by line rates the plan's %s carry %v between the GPUs of a node, those that NCCL finds by itself %v", what, ours,
		theirs)
	return said, float64(ours)*nccl.Repeats < float64(theirs)
}

// ncclMachine is where the ranks are, with the channels and speeds that NCCL's own search finds.
func ncclMachine(t *topology.Topology) ncclgraph.Machine {
	m := ncclgraph.Machine{TypeIntra: "SYS", TypeInter: "SYS", Channels: 1, SpeedIntra: 1, SpeedInter: 1}
	perNode := map[int]int64{}
	for r := range t.NumRanks() {
		n := t.NodeOf(r)
		m.Node, m.Dev = append(m.Node, n), append(m.Dev, perNode[n])
		perNode[n]++
	}
	if model, err := nccl.New(t, nccl.Options{}); err == nil && model.Ring().Channels > 0 {
		g := model.Ring()
		m.Channels, m.SpeedIntra, m.SpeedInter = g.Channels, g.BWIntra, g.BWInter
		m.TypeIntra, m.TypeInter = readable(g.TypeIntra), readable(g.TypeInter)
	}
	if nics := int64(adaptersOf(t, t.NodeOf(0))); nics > 0 && t.NumNodes() > 1 {
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
