package groups

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/grouptest"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/study"
	"railyard/topologies"
)

func asked(t *testing.T, name string, nodes int) Asked {
	t.Helper()
	top, err := topology.Load(topologies.Source, name, topology.Options{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.MachineOn(top, "")
	if err != nil {
		t.Fatal(err)
	}
	return Asked{Asked: study.Asked{Topology: top, Collective: study.Collective{Kind: collective.AllReduce}, Machine: m}, Repeats: 0.05}
}

func found(t *testing.T, a Asked) *report.GroupsDocument {
	t.Helper()
	d, err := Find(a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// row is a test as a log has it.
func row(x *report.GroupTest, took units.Time) measurement.Row {
	m := measurement.Row{ID: x.Name, Collective: collective.AllReduce, Size: size, Time: took, Hosts: x.Hosts}
	if x.Adapters != "" {
		m.Adapters, _ = units.ParseRanges(x.Adapters, 1<<10)
	}
	return m
}

// takes is what is predicted of a test on some machine.
func takes(t *testing.T, a Asked, x *report.GroupTest) units.Time {
	t.Helper()
	a.Rows = []measurement.Row{row(x, units.Second)}
	d := &diagnosis{Asked: a, times: map[string]units.Time{}, doc: &report.GroupsDocument{}}
	d.Sizes = []units.Bytes{size}
	test := grouptest.Test{Adapters: a.Rows[0].Adapters}
	for n := range a.Topology.NumNodes() {
		if slices.Contains(x.Hosts, a.Topology.NodeName(n)) {
			test.Nodes = append(test.Nodes, n)
		}
	}
	took, err := d.expected(test)
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// TestFindsAnAdapter: of predictions that are off by 10 %, with 3 % of noise, an adapter of half its rate of one of 4 or 8 nodes is found,
// and no other part; where nothing is faulty, nothing is.
func TestFindsAnAdapter(t *testing.T) {
	long.Only(t) // several seconds each
	for seed := range uint64(8) {
		nodes := 4 + 4*int(seed%2)
		r := rand.New(rand.NewPCG(seed, 7))
		a := asked(t, "superpod-h100", nodes)
		machine, want := a, ""
		if host, adapter := r.IntN(nodes), r.IntN(8); seed < 6 {
			want = fmt.Sprintf("node%d adapter %d", host, adapter)
			var err error
			machine.Topology, err = a.Topology.Degrade([]topology.Fault{{Part: topology.NICPart, Rate: 0.5,
				Name: fmt.Sprintf("node%d/nic%d", host, adapter)}})
			if err != nil {
				t.Fatal(err)
			}
		}
		d := found(t, a)
		for len(d.Next) > 0 && len(a.Rows) < 60 {
			took := takes(t, machine, &d.Next[0]).Microseconds() * 1.1 * math.Exp(0.03*r.NormFloat64())
			a.Rows = append(a.Rows, row(&d.Next[0], units.FromMicroseconds(took)))
			d = found(t, a)
		}
		var named []string
		for _, s := range d.Suspects {
			if s.Named {
				named = append(named, s.Host+" "+s.Part)
			}
		}
		t.Logf("%d nodes, %s: %d tests", nodes, want, len(a.Rows))
		if got := strings.Join(named, ", "); got != want {
			t.Errorf("seed %d: named %q, want %q, after %d tests: %+v", seed, got, want, len(a.Rows), d.Rows)
		}
	}
}

// TestMessages: of messages that probe measures between 16 hosts, with 5 % of noise, the host or leaf that is slow is found, and nothing
// where nothing is; messages within a host are no test of the network, and collectives may be given besides.
func TestMessages(t *testing.T) {
	a := asked(t, "leaf-spine-roce", 16)
	a.Rows = []measurement.Row{row(&report.GroupTest{Name: "one", Hosts: []string{"node0", "node1"}}, units.Second)}
	a.Rows[0].Time = units.Time(1.2 * found(t, a).Rows[0].ExpectedUS * float64(units.Microsecond))
	leaf := a.Topology.Tiers()[1]
	in := func(process int) bool { return leaf.Of[a.Topology.NumRanks()/16*process] == 1 }
	for want, slow := range map[string]func(x, y int) bool{
		"": func(int, int) bool { return false }, "node5 node": func(x, y int) bool { return x == 5 || y == 5 },
		" leaf 1": func(x, y int) bool { return in(x) != in(y) },
	} {
		r := rand.New(rand.NewPCG(5, 5))
		a.Messages = nil
		for x := range 16 {
			a.Messages = append(a.Messages, measurement.Link{Kind: measurement.NetInput, Src: fmt.Sprint(x), Dst: fmt.Sprint(x), Value: 7})
			for y := range x {
				for size, us := range map[units.Bytes]float64{8: 20, 16 * units.MiB: 1600} {
					if slow(x, y) {
						us *= 1.3
					}
					a.Messages = append(a.Messages, measurement.Link{Kind: measurement.NetPair, Src: fmt.Sprint(y), Dst: fmt.Sprint(x),
						Bytes: size, Value: us * math.Exp(0.05*r.NormFloat64())})
				}
			}
		}
		d, named := found(t, a), ""
		for _, s := range d.Suspects {
			if s.Named {
				named += s.Host + " " + s.Part
			}
		}
		if named != want || d.Messages != 120 || d.Tests() != 1 || want == "" && d.Healthy < 0.5 {
			t.Errorf("named %q, want %q; %d messages, %d tests, healthy %v", named, want, d.Messages, d.Tests(), d.Healthy)
		}
	}
	a.Messages = []measurement.Link{{Kind: measurement.NetInput, Src: "31"},
		{Kind: measurement.NetPair, Src: "0", Dst: "1", Bytes: 8, Value: 1}} // two processes of one node
	if d := found(t, a); d.Messages != 0 || !strings.Contains(fmt.Sprint(d.Notes), "none of probe's messages") {
		t.Errorf("%d messages between nodes, notes %q", d.Messages, d.Notes)
	}
	a.Messages = []measurement.Link{{Kind: measurement.NetInput, Src: "0", Dst: "0", Value: 7}}
	if _, err := Find(a); err == nil || !strings.Contains(err.Error(), "at least two processes") {
		t.Errorf("messages of one process: %v", err)
	}
}

// TestGroupsAreHeldAgainstTheirLike: two nodes of one leaf are expected to take as long as two others, not as long as all.
func TestGroupsAreHeldAgainstTheirLike(t *testing.T) {
	a := asked(t, "superpod-h100", 16)
	for name, hosts := range map[string][]string{"pair": {"node0", "node1"}, "other": {"node14", "node15"},
		"four": {"node0", "node1", "node2", "node3"}} {
		a.Rows = append(a.Rows, row(&report.GroupTest{Name: name, Hosts: hosts}, units.Second))
	}
	expected := map[string]float64{}
	for _, r := range found(t, a).Rows {
		expected[r.File] = r.ExpectedUS
	}
	if expected["pair"] != expected["other"] || expected["pair"] == expected["four"] {
		t.Error(expected)
	}
}

// TestSlowByAFault: where most tests are slow by one node, it is named, and the cluster is not said to be slow as a whole.
func TestSlowByAFault(t *testing.T) {
	a := asked(t, "superpod-h100", 16)
	for i, nodes := range [][]int{{5, 0, 1, 2}, {5, 3, 4, 6}, {5, 7, 8, 9}, {5, 10, 11, 12}, {5, 13, 14, 15}, {5, 0, 4, 8},
		{0, 1, 2, 3}, {4, 6, 7, 8}, {9, 10, 11, 12}} {
		x := &report.GroupTest{Name: fmt.Sprint("group-", i)}
		for _, n := range nodes {
			x.Hosts = append(x.Hosts, a.Topology.NodeName(n))
		}
		took := takes(t, a, x)
		if nodes[0] == 5 {
			took *= 2
		}
		a.Rows = append(a.Rows, row(x, took))
	}
	d := found(t, a)
	if d.AllSlow() || math.Abs(d.Longer-1) > 0.01 || d.Faulty() != 1 || d.Suspects[0].Host != "node5" {
		t.Errorf("%.3g times as long (band %.3g), %+v", d.Longer, d.Band, d.Suspects)
	}
}

// TestHosts are taken for nodes by name, else in order with numbers as numbers; more hosts than nodes are a mistake.
func TestHosts(t *testing.T) {
	a := asked(t, "superpod-h100", 3)
	a.Rows = []measurement.Row{row(&report.GroupTest{Name: "one", Hosts: []string{"rack1-gpu10", "rack1-gpu9", "rack1-gpu2"}},
		units.Second)}
	d := found(t, a)
	if got := strings.Join(d.Rows[0].Hosts, " "); got != "rack1-gpu2 rack1-gpu9 rack1-gpu10" || len(d.Notes) == 0 {
		t.Errorf("%s, %v", got, d.Notes)
	}
	a.Rows[0].Hosts = append(a.Rows[0].Hosts, "rack2-gpu1")
	if _, err := Find(a); err == nil || !strings.Contains(err.Error(), "on 4 hosts") {
		t.Errorf("more hosts than nodes: %v", err)
	}
}

// TestPlans: the job of each engine names the hosts, the GPUs and the adapters.
func TestPlans(t *testing.T) {
	d := &report.GroupsDocument{GPUs: 8, Collective: "all_reduce", SizeBytes: 1 << 32, Next: []report.GroupTest{{Name: "group-3", Nodes: 2,
		Hosts: []string{"a", "b"}, Adapters: "0-1", Passes: .5}}}
	for engine, want := range map[string][]string{
		"slurm": {"#SBATCH --nodelist=a+b", "--ntasks-per-node=8", `echo "# adapters 0-1"`, "NCCL_IB_HCA==mlx5_0,mlx5_1",
			"all_reduce_perf -b 4294967296"},
		"kubernetes": {"replicas: 2", `values: ["a", "b"]`, "nvidia.com/gpu: 8", "NCCL_IB_HCA==mlx5_0,mlx5_1",
			"all_reduce_perf_mpi -b 4294967296"},
	} {
		var out bytes.Buffer
		if err := Write(&out, engine, d, func(hosts []string) string { return strings.Join(hosts, "+") }); err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%s has no %q:\n%s", engine, line, out.String())
			}
		}
		var job struct{ Kind string }
		if err := yaml.Unmarshal(out.Bytes(), &job); engine == "kubernetes" && (err != nil || job.Kind != "MPIJob") {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

// TestHalvesTell: two tests of all nodes, over the first half of each one's adapters and over the other, tell a machine that has lost an
// adapter from a healthy one, whatever predictions are off by.
func TestHalvesTell(t *testing.T) {
	a, r := asked(t, "dgx-h100", 4), rand.New(rand.NewPCG(8, 9))
	a.Repeats = 0.03
	sick := a
	var err error
	if sick.Topology, err = a.Topology.Degrade([]topology.Fault{{Part: topology.NICPart, Name: "node2/nic5"}}); err != nil {
		t.Fatal(err)
	}
	var halves [2][2]units.Time // what each takes on the healthy machine and on the sick one
	tests := [2]*report.GroupTest{{Name: "first", Adapters: "0-3"}, {Name: "others", Adapters: "4-7"}}
	for i, x := range tests {
		for n := range a.Topology.NumNodes() {
			x.Hosts = append(x.Hosts, a.Topology.NodeName(n))
		}
		halves[0][i], halves[1][i] = takes(t, a, x), takes(t, sick, x)
	}
	for k, took := range halves {
		told, draws := 0, long.Or(50, 100)
		for range draws {
			off := 0.3 * r.NormFloat64()
			a.Rows = nil
			for i, x := range tests {
				us := took[i].Microseconds() * math.Exp(off+a.Repeats*r.NormFloat64())
				a.Rows = append(a.Rows, row(x, units.FromMicroseconds(us)))
			}
			if found(t, a).Unhealthy() {
				told++
			}
		}
		if t.Logf("%v: %d of %d called faulty", took, told, draws); k == 0 && told > draws/50 || k == 1 && float64(told) < 0.95*float64(draws) {
			t.Errorf("%v: %d of %d are called faulty", took, told, draws)
		}
	}
}

// pairsOf are tests of pairs of nodes, each run with some probability; across is by how much longer those of two islands take than those of
// one, island by node.
func pairsOf(r *rand.Rand, island []int, runs, repeats, across float64) (out []report.GroupRow) {
	for a := range island {
		for b := range a {
			if r.Float64() >= runs {
				continue
			}
			x := report.GroupRow{Nodes: 2, Hosts: []string{fmt.Sprint("n", b), fmt.Sprint("n", a)}, Longer: math.Exp(repeats * r.NormFloat64())}
			if island[a] != island[b] {
				x.Longer *= across
			}
			out = append(out, x)
		}
	}
	return out
}

// TestIslands: in clusters of 4 to 24 nodes of which all pairs or some have run, islands that were planted are found wherever the pairs
// that ran join the nodes of each and those across take 1.65 times as long, and no set of nodes that mixes them is ever called one. No
// healthy cluster is split, nor one of which a node is slow with all others.
func TestIslands(t *testing.T) {
	const repeats = 0.05
	joinable, found := 0, 0
	for seed := range uint64(long.Or(1000, 20000)) {
		r := rand.New(rand.NewPCG(seed, 21))
		island := make([]int, 4+r.IntN(21))
		switch seed % 3 {
		case 1:
			for n := range island {
				island[n] = n % (2 + int(seed)%2)
			}
			r.Shuffle(len(island), func(i, j int) { island[i], island[j] = island[j], island[i] })
		case 2:
			island[r.IntN(len(island))] = 1 // a slow node
		}
		d := &diagnosis{Asked: Asked{Repeats: repeats}, doc: &report.GroupsDocument{}}
		d.doc.Rows = pairsOf(r, island, 0.3+0.7*r.Float64(), repeats, math.Exp(0.5+1.5*r.Float64()))
		within, at := d.islands(), map[string]int{}
		for n, i := range island {
			at[fmt.Sprint("n", n)] = i
		}
		for _, got := range d.doc.Islands {
			if hosts := strings.Fields(got.Hosts); seed%3 != 1 || slices.ContainsFunc(hosts, func(h string) bool { return at[h] != at[hosts[0]] }) {
				t.Errorf("seed %d: %v is called an island of %v", seed, hosts, island)
			}
		}
		inside := slices.DeleteFunc(slices.Clone(d.doc.Rows), func(x report.GroupRow) bool { return at[x.Hosts[0]] != at[x.Hosts[1]] })
		together := 0
		for _, hosts := range joined(inside) {
			together += len(hosts)
		}
		if seed%3 != 1 || together < len(island) || len(joined(inside)) > 1+slices.Max(island) || len(inside)+1 >= len(d.doc.Rows) {
			continue
		}
		if joinable++; len(d.doc.Islands) == 1+slices.Max(island) && len(within) == len(inside) {
			found++
		}
	}
	if t.Logf("%d of %d are found", found, joinable); joinable < 100 || found < joinable*99/100 {
		t.Errorf("islands of %d of %d clusters are found", found, joinable)
	}
}

// TestSlowAcross: what joins two islands of a cluster is slow, whatever expectations are off by; where they are off by more than
// predictions are, all of it is slow, too. Nothing of the topology is called faulty, and nothing is to be run next.
func TestSlowAcross(t *testing.T) {
	for off, all := range map[float64]bool{0.8: false, 4: true} {
		a, r := asked(t, "superpod-h100", 6), rand.New(rand.NewPCG(3, 4))
		took := takes(t, a, &report.GroupTest{Hosts: []string{"node0", "node1"}}).Microseconds()
		for i := range 6 {
			for j := range i {
				us := off * took * math.Exp(a.Repeats*r.NormFloat64())
				if i%2 != j%2 {
					us *= 3
				}
				hosts := []string{a.Topology.NodeName(j), a.Topology.NodeName(i)}
				a.Rows = append(a.Rows, row(&report.GroupTest{Name: fmt.Sprint(hosts), Hosts: hosts}, units.FromMicroseconds(us)))
			}
		}
		d, islands := found(t, a), []report.GroupIsland{{Nodes: 3, Hosts: "node0 node2 node4"}, {Nodes: 3, Hosts: "node1 node3 node5"}}
		if !slices.Equal(d.Islands, islands) || math.Abs(d.Across-3) > 0.3 || len(d.Suspects)+len(d.Next) > 0 || d.AllSlow() != all {
			t.Errorf("%v: %+v", off, d)
		}
	}
}
