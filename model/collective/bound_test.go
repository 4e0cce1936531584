package collective_test

import (
	"fmt"
	"math"
	"testing"

	"railyard/internal/gen"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

// Switches that only forward leave all-reduce 2(n−1)/n of its bytes for each rank.
func TestBoundsWithoutInNetworkOperations(t *testing.T) {
	for name, want := range map[string]float64{"dgx-h100": 257.14, "dgx-a100": 171.43, "gb200-nvl72": 456.34} {
		topo, err := topology.Load(topologies.Source, name, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		topo = topo.WithoutInNetwork()
		b := collective.LowerBound(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()}, units.GiB)
		if got := float64(units.GiB) / b.Time.Seconds() / 1e9; math.Abs(got-want) > 0.01 {
			t.Errorf("%s: %.2f GB/s, want %.2f", name, got, want)
		}
	}
}

// Known optima in GB/s of algorithm bandwidth. On the cube meshes single GPUs could
// also use their PCIe links, which the published NVLink-only optima leave out.
func TestLowerBoundsMeetKnownOptima(t *testing.T) {
	for _, c := range []struct {
		topo  string
		nodes int
		kind  collective.Kind
		want  float64
	}{
		{"dgx-h100", 1, collective.AllGather, 514.29}, {"dgx-h100", 1, collective.AllReduce, 400},
		{"dgx-h100", 2, collective.AllReduce, 400},
		{"dgx-h100", 4, collective.AllReduce, 266.67}, {"gb200-nvl72", 0, collective.AllReduce, 900 * 72 / 73.0},
		{"dgx-h100", 2, collective.AllGather, 533.33}, {"dgx-h100", 4, collective.AllGather, 516.13},
		{"dgx-h100", 16, collective.AllGather, 426.67}, {"dgx-h100", 2, collective.AllToAll, 100},
		{"dgx-a100", 1, collective.AllGather, 342.86}, {"dgx-a100", 2, collective.AllGather, 346.67},
		{"dgx-a100", 2, collective.AllToAll, 50}, {"dgx2", 1, collective.AllGather, 160},
		{"mi300x-node", 1, collective.ReduceScatter, 512},
	} {
		topo, err := topology.Load(topologies.Source, c.topo, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		size := units.GiB
		b := collective.LowerBound(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, size)
		if got := float64(size) / b.Time.Seconds() / 1e9; math.Abs(got-c.want) > 0.01 {
			t.Errorf("%d × %s %v: %.2f GB/s (%s), want %.2f", c.nodes, c.topo, c.kind, got, b.Cut, c.want)
		}
	}
}

// What nobody uses carries nothing: the adapter of a lost GPU, which the others of its node
// have no way to. On a network of rails alone, they have one to other rails' adapters.
func TestBoundsLeaveOutIdleAdapters(t *testing.T) {
	for _, c := range []struct {
		rails bool
		fault string
		kind  collective.Kind
		want  float64
	}{
		{false, "gpu:node1/gpu2", collective.AllGather, 127.0 / 120 * 350},
		{false, "gpu:node1/gpu2", collective.ReduceScatter, 127.0 / 120 * 350},
		{false, "gpu:node1/gpu2", collective.AllReduce, (16*400.0 - 50) / 30},
		{false, "nic:node1/nic2", collective.AllGather, 128.0 / 120 * 350},
		{true, "gpu:node1/gpu2", collective.AllGather, 127.0 / 120 * 400},
	} {
		o := topology.Options{Nodes: 16}
		if c.rails {
			o.Set = []string{"fabrics.0.levels=[{kind: leaf, group: 32}]"}
		}
		topo, err := topology.Load(topologies.Source, "dgx-h100", o)
		if err != nil {
			t.Fatal(err)
		}
		if topo, err = topo.WithoutInNetwork().Degrade(gen.Faults(c.fault)); err != nil {
			t.Fatal(err)
		}
		b := collective.LowerBound(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, units.GiB)
		if got := float64(units.GiB) / b.Time.Seconds() / 1e9; math.Abs(got-c.want) > 0.01 {
			t.Errorf("%v without %s, rails alone %v: %.2f GB/s (%s), want %.2f", c.kind, c.fault, c.rails, got, b.Cut, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]collective.Kind{"all_reduce": collective.AllReduce, "AllReduce": collective.AllReduce,
		"alltoall": collective.AllToAll,
		"sendrecv": collective.SendRecv, "all-to-allv": collective.AllToAllV, "reduce_scatter": collective.ReduceScatter} {
		if got, err := collective.Parse(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := collective.Parse("allreducing"); err == nil {
		t.Error("accepted nonsense")
	}
	for k, want := range map[collective.Kind]float64{collective.AllReduce: 1.75, collective.AllGather: 0.875, collective.Broadcast: 1} {
		if got := k.BusFactor(8); got != want {
			t.Errorf("%v: %v", k, got)
		}
	}
}

func TestLatencyBounds(t *testing.T) {
	for _, c := range []struct {
		topo  string
		nodes int
		want  units.Time
	}{
		{"dgx-h100", 1, 680 * units.Nanosecond},  // two NVLink hops
		{"dgx1-v100", 1, 680 * units.Nanosecond}, // the far GPU over a neighbour
		{"dgx-h100", 2, 4200 * units.Nanosecond}, // PCIe, adapter, leaf, spine, leaf and back; the same rail saves the spine
	} {
		topo, err := topology.Load(topologies.Source, c.topo, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		got := collective.LatencyBound(topo, collective.Spec{Kind: collective.AllReduce, Ranks: topo.NumRanks()},
			(*topology.Class).Full).Time
		if got > c.want || got < c.want/2 {
			t.Errorf("%d × %s: %v, want at most %v", c.nodes, c.topo, got, c.want)
		}
		if c.nodes == 1 && got != c.want {
			t.Errorf("%s: %v, want %v", c.topo, got, c.want)
		}
	}
}

// Where each rank sends to the next, what crosses to another node counts, and not how far the first rank's data go.
func TestLatencyBoundOfSendRecv(t *testing.T) {
	for _, c := range []struct {
		topo   string
		nodes  int
		within units.Time // the way inside a node
	}{{"dgx-h100", 1, 680 * units.Nanosecond}, {"dgx-h100", 2, 680 * units.Nanosecond}, {"superpod-h100", 64, 680 * units.Nanosecond}} {
		topo, err := topology.Load(topologies.Source, c.topo, topology.Options{Nodes: c.nodes})
		if err != nil {
			t.Fatal(err)
		}
		n := topo.NumRanks()
		ring := collective.LatencyBound(topo, collective.Spec{Kind: collective.SendRecv, Ranks: n}, (*topology.Class).Full)
		all := collective.LatencyBound(topo, collective.Spec{Kind: collective.AllToAll, Ranks: n}, (*topology.Class).Full)
		if (c.nodes == 1) != (ring.Time == c.within) || ring.Time < c.within || ring.Time > all.Time {
			t.Errorf("%d × %s: %v (%s); between any two %v", c.nodes, c.topo, ring.Time, ring.Cut, all.Time)
		}
	}
}

// Groups behind oversubscribed switches exchange no more than what their uplinks carry, however much their adapters take.
func TestUplinksBoundGroups(t *testing.T) {
	for uplinks, want := range map[int]float64{ // three groups of four nodes with 32 GPUs; eight leaves a group, links of 50 GB/s
		1: 32 * 64 / 96.0 / (8 * 50e9), 2: 32 * 64 / 96.0 / (16 * 50e9), 4: 8 * 88 / 96.0 / 400e9, // then nodes are tighter
	} {
		levels := fmt.Sprintf("fabrics.0.levels=[{kind: leaf, group: 4, uplinks: %d}, {kind: spine}]", uplinks)
		topo, err := topology.Load(topologies.Source, "dgx-h100", topology.Options{Nodes: 12, Set: []string{levels}})
		if err != nil {
			t.Fatal(err)
		}
		b := collective.LowerBound(topo, collective.Spec{Kind: collective.AllToAll, Ranks: topo.NumRanks()}, units.GiB)
		if got := b.Time.Seconds() / float64(units.GiB); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%d uplinks: %.4g s a byte (%s), want %.4g", uplinks, got, b.Cut, want)
		}
	}
}
