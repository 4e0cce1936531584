package step

import (
	"math"
	"slices"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/gpu"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/model/workload"
	"railyard/planner"
	"railyard/sim"
	"railyard/topologies"
)

func machine(t *testing.T, name string, nodes int, set ...string) *Machine {
	t.Helper()
	load := func(n, g int) (*topology.Topology, error) {
		return topology.Load(topologies.Source, name, topology.Options{Nodes: n, GPUs: g, Set: set})
	}
	top, err := load(nodes, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gpu.Get("h100")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMachine(top, g, load)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSharingAgainstTheSimulator plays ring all-gathers of all groups at once, in the
// simulator at line rate, and compares their bandwidth with what share says.
func TestSharingAgainstTheSimulator(t *testing.T) {
	for _, c := range []struct {
		name   string
		nodes  int
		set    []string
		l      Layout
		axis   workload.Axis
		net    bool
		within float64
	}{
		{"dgx-h100", 4, nil, Layout{Data: 4, Tensor: 8}, workload.Data, true, 0.05},
		{"dgx-h100", 4, nil, Layout{Data: 4, Tensor: 8}, workload.Tensor, false, 0.05},
		{"leaf-spine-roce", 16, []string{"fabrics.0.levels.0.oversubscription=4"}, Layout{Data: 2, Tensor: 64}, workload.Data, true, 0.05},
		{"pcie3-server", 1, nil, Layout{Data: 2, Tensor: 4}, workload.Data, false, 0.05},
		{"pcie3-server", 1, nil, Layout{Data: 4, Tensor: 2}, workload.Data, false, 0.05},
	} {
		c.l.Pipeline, c.l.Context, c.l.Expert, c.l.Order = 1, 1, 1, DefaultOrder
		m := machine(t, c.name, c.nodes, c.set...)
		families := c.l.families()
		f := &families.data
		if c.axis == workload.Tensor {
			f = &families.tensor
		}
		part, err := m.part(m.splitOf(f, ring, c.net))
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.share(f, ring, part)
		if err != nil {
			t.Fatal(err)
		}
		alone, together := played(t, m, f, 1), played(t, m, f, math.MaxInt)
		got := together.Seconds() / alone.Seconds()
		want := 1 / s.ScaleUp
		if c.net {
			want = 1 / s.Network
		}
		if math.Abs(got/want-1) > c.within {
			t.Errorf("%s, %s groups of %d: all at once take %.2f times as long as one in the simulator, share says %.2f", c.name, c.axis,
				f.Size, got, want)
		}
	}
}

// played is the time of all-gathers in the first groups at once.
func played(t *testing.T, m *Machine, f *Family, most int) units.Time {
	t.Helper()
	profile := cost.Ideal
	var jobs []sim.Job
	var sizes []units.Bytes
	f.Groups(func(ranks []int) {
		if len(jobs) == most {
			return
		}
		cut := m.splitOf(f, ring, m.spans(f))
		part, err := m.part(cut)
		if err != nil {
			t.Fatal(err)
		}
		x, err := planner.Build(part, collective.Spec{Kind: collective.AllGather, Ranks: len(ranks)}, "ring", planner.Options{Channels: 1})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, sim.Job{Schedule: x, Ranks: slices.Clone(ranks)})
		sizes = append(sizes, 64*units.MiB)
	})
	p, err := sim.CompileJobs(m.Topology, jobs, profile, sim.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.RunJobs(sizes, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Time
}

// TestSampleSeesWhatAllRanksDo compares the loads of one unit with those of all ranks.
func TestSampleSeesWhatAllRanksDo(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		set   []string
		l     Layout
	}{
		{"superpod-h100", 64, nil, Layout{Data: 64, Tensor: 8}},
		{"superpod-h100", 128, nil, Layout{Data: 16, Tensor: 8, Pipeline: 8}},
		{"superpod-h100", 160, nil, Layout{Data: 20, Tensor: 8, Pipeline: 8}}, // the second pod is shorter
		{"leaf-spine-roce", 32, []string{"fabrics.0.levels.0.oversubscription=2"}, Layout{Data: 4, Tensor: 64}},
		{"leaf-spine-roce", 64, []string{"fabrics.0.levels.0.oversubscription=4"}, Layout{Data: 8, Tensor: 8, Context: 8}},
	} {
		c.l.Pipeline, c.l.Context, c.l.Expert, c.l.Order = max(c.l.Pipeline, 1), max(c.l.Context, 1), 1, DefaultOrder
		m := machine(t, c.name, c.nodes, c.set...)
		if m.sample.ranks == 0 && c.name == "superpod-h100" {
			t.Errorf("%s: no sample", c.name)
		}
		families := c.l.families()
		for _, f := range []*Family{&families.data, &families.tensor, &families.context, &families.pipeline} {
			for _, p := range []pattern{ring, exchange} {
				if f.Size == 1 {
					continue
				}
				quick, err := m.share(f, p, m.Topology)
				if err != nil {
					t.Fatal(err)
				}
				all := *m
				all.sample = sample{}
				slow, err := all.share(f, p, m.Topology)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(quick.Network-slow.Network) > 0.01*slow.Network || math.Abs(quick.ScaleUp-slow.ScaleUp) > 0.01 {
					t.Errorf("%s %s, pattern %d: one unit sees %.3f and %.2f, all ranks %.3f and %.2f",
						c.name, f.Axis, p, quick.Network, quick.ScaleUp, slow.Network, slow.ScaleUp)
				}
			}
		}
	}
}

// TestTransfersAndPassesShareLinks: an engine lane with a task that is half communication
// on the links of a transfer takes as long as the bytes of both one after the other.
func TestTransfersAndPassesShareLinks(t *testing.T) {
	const ms = units.Millisecond
	for _, c := range []struct {
		busy units.Time
		net  int
		want units.Time
	}{
		{0, 1, 10 * ms},      // hidden
		{5 * ms, 0, 10 * ms}, // other links
		{5 * ms, 1, 15 * ms}, // 5 ms of 10 collide
		{10 * ms, 1, 20 * ms},
	} {
		w := &work{time: 10 * ms, busy: [2]units.Time{0, c.busy}}
		l := lane{tasks: []task{{work: w, from: -1, begins: []transfer{{time: 10 * ms, net: c.net}}}}}
		end, err := (&engine{lanes: []lane{l}}).run()
		if err != nil || end < c.want-2 || end > c.want+2 {
			t.Errorf("busy %v on links %d: %v (%v), want %v", c.busy, c.net, end, err, c.want)
		}
	}
}

// TestFamiliesPartition: the groups of every family are a partition of the ranks.
func TestFamiliesPartition(t *testing.T) {
	for _, l := range []Layout{
		{Data: 4, Tensor: 2, Pipeline: 2, Context: 2, Expert: 4, Order: DefaultOrder},
		{Data: 6, Tensor: 4, Pipeline: 3, Context: 1, Expert: 8,
			Order: []workload.Axis{workload.Pipeline, workload.Data, workload.Tensor, workload.Context}},
	} {
		x := l.families()
		for _, f := range []*Family{&x.tensor, &x.context, &x.pipeline, &x.data, &x.expert, &x.expertData} {
			seen := map[int]bool{}
			f.Groups(func(ranks []int) {
				if len(ranks) != f.Size {
					t.Errorf("%s: a group of %d, want %d", f.Axis, len(ranks), f.Size)
				}
				for _, r := range ranks {
					if seen[r] || r < 0 || r >= l.Ranks() {
						t.Errorf("%s: rank %d", f.Axis, r)
					}
					seen[r] = true
				}
			})
			if len(seen) != l.Ranks() {
				t.Errorf("%s: %d of %d ranks", f.Axis, len(seen), l.Ranks())
			}
		}
		if x.expert.Size*x.expertData.Size != l.Data*l.Tensor*l.Context {
			t.Errorf("experts: %d × %d", x.expert.Size, x.expertData.Size)
		}
	}
}
