package nccl

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/gen"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

func shipped(t testing.TB, name string) *cost.Profile {
	t.Helper()
	m, err := cost.GetMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.NCCL()
}

// machineOf is the name of a topology's machine.
func machineOf(t testing.TB, topo *topology.Topology) string {
	t.Helper()
	m, err := cost.MachineFor(topo)
	if err != nil {
		t.Fatal(err)
	}
	return m.Name
}

func runtime(t testing.TB, topo *topology.Topology, profile string) *Runtime {
	t.Helper()
	r, err := NewRuntime(topo, shipped(t, profile), cost.GeneralNCCL(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWorkIsWhatTheAlgorithmMoves(t *testing.T) {
	const size = units.Bytes(80e6)
	for _, c := range []struct {
		topology      string
		options       topology.Options
		kind          collective.Kind
		algorithm     string
		hops, netHops float64
		steps         float64
		chunk         units.Bytes
		line          float64
	}{
		{"dgx-h100", topology.Options{}, collective.AllReduce, "ring", 14, 0, 14, size / 8, 450e9},
		{"dgx-h100", topology.Options{}, collective.AllGather, "ring", 7, 0, 7, size / 8, 450e9},
		{"dgx-h100", topology.Options{}, collective.Broadcast, "ring", 7, 0, 1, size, 450e9},
		{"dgx-h100", topology.Options{}, collective.AllReduce, "nvls", 1, 0, 9, size / 8, 450e9 * 0.85},
		{"dgx-h100", topology.Options{}, collective.AllToAll, "p2p", 1, 0, 7, size / 8, 450e9},
		{"dgx-h100", topology.Options{GPUs: 2}, collective.AllReduce, "tree", 2, 0, 1, size, 450e9},
		{"dgx-h100", topology.Options{GPUs: 4}, collective.AllReduce, "tree", 6, 0, 1.5, size, 450e9},
		{"dgx-h100", topology.Options{GPUs: 3}, collective.AllReduce, "tree", 4, 0, 4.0 / 3, size, 450e9},
		{"dgx-h100", topology.Options{Nodes: 2}, collective.AllReduce, "ring", 28, 2, 30, size / 16, 400e9},
		{"dgx-h100", topology.Options{Nodes: 2}, collective.AllReduce, "tree", 14, 2, 1.75, size, 450e9},
		{"dgx-h100", topology.Options{Nodes: 3}, collective.AllReduce, "tree", 14, 4, 1.75, size, 450e9},
		{"dgx-h100", topology.Options{Nodes: 4}, collective.AllReduce, "tree", 14, 4, 2, size, 400e9},
		{"gb200-nvl72", topology.Options{Nodes: 36}, collective.AllReduce, "tree", 142, 2, 71.0 / 36, size, 900e9},
		{"dgx-h100", topology.Options{Nodes: 2}, collective.AllToAll, "p2p", 1, 1, 15, size / 16, 400e9 / 8 * 15 / 8},
		{"mi300x-node", topology.Options{GPUs: 2}, collective.AllReduce, "ring", 2, 0, 2, size / 2, 64e9},
		{"gb200-nvl72", topology.Options{}, collective.AllReduce, "ring", 142, 0, 142, (size + 71) / 72, 900e9},
	} {
		topo := load(t, c.topology, c.options)
		r := runtime(t, topo, machineOf(t, topo))
		w, err := r.rates.work(c.kind, c.algorithm, size)
		if err != nil {
			t.Fatal(err)
		}
		if w.Hops != c.hops || w.NetHops != c.netHops || w.Steps != c.steps || w.Chunk != c.chunk || math.Abs(w.Line-c.line) > 1 {
			t.Errorf("%s %v: %v by %s: %+v, want %+v", c.topology, c.options, c.kind, c.algorithm, w, c)
		}
	}
}

// How NVLS grows with the GPUs of a rack follows from the algorithm: a GPU pulls its part, so that 8 GPUs of a rack take at large
// sizes what 8 of a board do, and not what 72 take.
func TestRacksGrowByTheirHeads(t *testing.T) {
	size := 8 * units.GiB
	rack := predict(t, runtime(t, load(t, "gb200-nvl72", topology.Options{Nodes: 2}), "gb200"), Ask{Kind: collective.AllReduce, Size: size})
	board := predict(t, runtime(t, load(t, "dgx-b200", topology.Options{}), "b200"), Ask{Kind: collective.AllReduce, Size: size})
	if ratio := float64(rack.Time) / float64(board.Time); ratio < 0.8 || ratio > 1.25 {
		t.Errorf("8 GPUs of a rack %v, of a board %v", rack.Time, board.Time)
	}
	for _, c := range []struct {
		name     string
		trays    int
		size     units.Bytes
		measured float64 // µs
	}{{"gb200-nvl72", 18, 4 * units.GiB, 10094}, {"gb300-nvl72", 16, size, 18842}, {"gb300-nvl72", 2, size, 17930}} {
		p := predict(t, runtime(t, load(t, c.name, topology.Options{Nodes: c.trays}), "gb200"), Ask{Kind: collective.AllReduce,
			Size: c.size})
		if got := p.Time.Microseconds(); got < 0.92*c.measured || got > 1.08*c.measured {
			t.Errorf("%d GPUs of %s: %.0f µs, measured %.0f", 4*c.trays, c.name, got, c.measured)
		}
	}
}

// Trees of three ranks lie between those of two and four, as measured: 1 GiB in 3,911, 5,713 and 6,266 µs on 2, 3
// and 4 H200 (NCCL 2.28.9, in a graph). Kernels are fitted without the three.
func TestTreesOfThree(t *testing.T) {
	for gpus, measured := range map[int]float64{2: 3911, 3: 5713, 4: 6266} {
		r := runtime(t, load(t, "hgx-h200-4", topology.Options{GPUs: gpus}), "h200")
		p := predict(t, r, Ask{Kind: collective.AllReduce, Algorithm: "Tree", Protocol: "Simple", Size: units.GiB, Graph: true})
		if off := p.Time.Microseconds()/measured - 1; math.Abs(off) > 0.03 {
			t.Errorf("%d GPUs: %v, measured %.0f µs", gpus, p.Time, measured)
		}
	}
}

// The node with the fewest NICs and the rank with the fewest links limit all, wherever they are.
func TestWhatIsLostLimitsAll(t *testing.T) {
	for _, c := range []struct {
		fault            string
		scaleUp, network float64
	}{
		{"nic:node2/nic3", 450e9, 350e9}, {"nic:node0/nic3", 450e9, 350e9},
		{"link:node1/gpu5--node1/nvswitch1", 350e9, 400e9}, // five of 18 links
		{"nic:node3/nic0=0.5", 450e9, 350e9},               // channels have one rate: seven do better than eight at half of it
	} {
		topo, err := load(t, "dgx-h100", topology.Options{Nodes: 4}).Degrade(gen.Faults(c.fault))
		if err != nil {
			t.Fatal(err)
		}
		if m := runtime(t, topo, "h100").rates; math.Abs(m.scaleUp-c.scaleUp) > 1 || math.Abs(m.network-c.network) > 1 {
			t.Errorf("without %s: %.1f GB/s of each GPU and %.1f of each node, want %.1f and %.1f", c.fault, m.scaleUp/1e9, m.network/1e9,
				c.scaleUp/1e9, c.network/1e9)
		}
	}
}

// Four transfers over one host bridge get a quarter of it each.
func TestSharedPCIeIsShared(t *testing.T) {
	topo := load(t, "pcie3-server", topology.Options{})
	r := runtime(t, topo, "pcie3")
	one, err := topology.NewRouter(topo).Route(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ring, exchange := r.limits(collective.AllReduce, "ring").line, r.limits(collective.AllToAll, "p2p").line
	if exchange >= float64(one.Rate) || exchange > ring {
		t.Errorf("everybody to everybody gets %.1f GB/s each, a ring %.1f, a pair alone %v", exchange/1e9, ring/1e9, one.Rate)
	}
}

// No prediction of any kernel on any topology beats the line rate, and larger takes
// longer.
func TestPredictionsKeepToTheLine(t *testing.T) {
	kinds := []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.Reduce, collective.AllToAll, collective.SendRecv}
	for _, name := range topologies.Names() {
		topo := load(t, name, topology.Options{})
		r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{})
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		for _, k := range kinds {
			last := Prediction{}
			for size := units.KiB; size <= 16*units.GiB; size *= 4 {
				p, err := r.Predict(Ask{Kind: k, Algorithm: "", Protocol: "", Size: size})
				if err != nil {
					t.Logf("%s %v: %v", name, k, err)
					break
				}
				if p.Time < p.Work.Least() {
					t.Errorf("%s %v %v by %s/%s: %v beats the line's %v", name, k, size, p.Algorithm, p.Protocol, p.Time, p.Work.Least())
				}
				if p.Algorithm == last.Algorithm && p.Protocol == last.Protocol && p.Fitted == last.Fitted && p.Time < last.Time {
					t.Errorf("%s %v by %s/%s: %v takes %v, less than a quarter of it", name, k, p.Algorithm, p.Protocol, size, p.Time)
				}
				if low, high := p.Band(); low > p.Time || high < p.Time {
					t.Errorf("%v is not in %v to %v", p.Time, low, high)
				}
				last = p
			}
		}
	}
}

func TestFallbacksAreSaid(t *testing.T) {
	topo := load(t, "dgx-h100", topology.Options{Nodes: 2})
	p, err := runtime(t, topo, "v100").Predict(Ask{Kind: collective.AllReduce, Algorithm: "Ring", Protocol: "Simple", Size: units.GiB})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Warnings) == 0 || !strings.Contains(strings.Join(p.Warnings, " "), "has no kernel") {
		t.Errorf("warnings %q", p.Warnings)
	}
	if _, err := runtime(t, topo, "h100").Predict(Ask{Kind: collective.AllReduce, Algorithm: "CollNet", Protocol: "",
		Size: units.GiB}); err == nil {
		t.Error("CollNet is predicted")
	}
}

// Where NCCL's model knows nothing of the GPUs, any kernel of the profile may stand in, but
// none that needs switches which reduce where GPUs have links to one another only.
func TestMeshesHaveNoNVLS(t *testing.T) {
	r := runtime(t, load(t, "mi300x-node", topology.Options{}), "h100")
	if r.Chooses() {
		t.Fatal("NCCL knows the GPUs")
	}
	for _, size := range []units.Bytes{64 * units.KiB, 64 * units.MiB, units.GiB} {
		p, err := r.Predict(Ask{Kind: collective.AllReduce, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.Algorithm, "nvls") {
			t.Errorf("%v by %s", size, p.Algorithm)
		}
	}
	if p, err := r.Predict(Ask{Kind: collective.AllReduce, Algorithm: "NVLS", Size: units.GiB}); err == nil {
		t.Errorf("NVLS is predicted: %v", p.Time)
	}
}

// Where NCCL's model knows nothing of the GPUs, its constants choose: few bytes by LL, many by Simple.
func TestConstantsChooseTheProtocol(t *testing.T) {
	r := runtime(t, load(t, "pcie3-server", topology.Options{}), "pcie3")
	if r.Chooses() {
		t.Fatal("NCCL knows the GPUs")
	}
	for _, k := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
		collective.Reduce} {
		for size, want := range map[units.Bytes]string{64: "ll", 64 * units.KiB: "ll", 4 * units.MiB: "simple", 64 * units.MiB: "simple",
			units.GiB: "simple", 16 * units.GiB: "simple"} {
			if p := predict(t, r, Ask{Kind: k, Size: size}); p.Protocol != want {
				t.Errorf("%v of %v by %s, want %s", k, size, p.Protocol, want)
			}
		}
	}
}

func predict(t testing.TB, r *Runtime, a Ask) Prediction {
	t.Helper()
	p, err := r.Predict(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func BenchmarkPredict(b *testing.B) {
	r := runtime(b, load(b, "superpod-h100", topology.Options{}), "h100")
	for b.Loop() {
		if _, err := r.Predict(Ask{Kind: collective.AllReduce, Algorithm: "", Protocol: "", Size: 64 * units.MiB}); err != nil {
			b.Fatal(err)
		}
	}
}

// A protocol's parameters act: half the efficiency takes twice as long where the line
// limits, and a single small slot holds a network back.
func TestProtocolParametersAct(t *testing.T) {
	topo := load(t, "dgx-h100", topology.Options{Nodes: 2})
	ask := Ask{Kind: collective.AllReduce, Algorithm: "Ring", Protocol: "Simple", Size: units.GiB}
	time := func(change func(*cost.Protocol)) units.Time {
		p := *shipped(t, "h100").Complete()
		for i := range p.MessageProtocols {
			if p.MessageProtocols[i].Name == "simple" {
				change(&p.MessageProtocols[i])
			}
		}
		r, err := NewRuntime(topo, &p, cost.GeneralNCCL(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := r.Predict(ask)
		if err != nil {
			t.Fatal(err)
		}
		return x.Time
	}
	as := time(func(*cost.Protocol) {})
	if got := time(func(p *cost.Protocol) { p.Efficiency = 0.4 }); got < 2*as {
		t.Errorf("at an efficiency of 0.4 %v, as shipped %v", got, as)
	}
	if got := time(func(p *cost.Protocol) { p.Slots, p.Slot = 1, 4*units.KiB }); got < 2*as {
		t.Errorf("with a slot of 4 KiB %v, as shipped %v", got, as)
	}
}

// What launches take for each channel is added as a size takes more of them: nothing for one as small as those that show the
// floor, the same for all that take all channels, and never less for a larger size.
func TestLaunchesGrowWithChannels(t *testing.T) {
	const floor, channel = 35 * units.Microsecond, 2 * units.Microsecond
	r := runtime(t, load(t, "hgx-a100", topology.Options{}), "a100")
	last := units.Time(0)
	for size := units.Bytes(8); size <= units.GiB; size *= 2 {
		a := Ask{Kind: collective.AllReduce, Algorithm: "Ring", Protocol: "LL", Size: size}
		got, err := r.LaunchOf(a, Launch{Floor: floor, Channel: channel})
		if err != nil {
			t.Fatal(err)
		}
		most := floor + units.Time(r.model.nChannels-1)*channel
		if got < last || got > most || size <= LaunchSize && got != floor || size >= 2*units.MiB && got != most {
			t.Errorf("%v: launches take %v, of a small size %v, with all %d channels %v", size, got, floor, r.model.nChannels, most)
		}
		last = got
	}
	a := Ask{Kind: collective.AllToAll, Size: units.MiB}
	if got, err := r.LaunchOf(a, Launch{Floor: floor, Channel: channel}); err != nil || got != floor {
		t.Errorf("sends and receives: %v (%v)", got, err)
	}
}

// One process launches for all GPUs: small sizes take what launches take, large ones what kernels take, and those between take more than
// either, as was measured on 4 H200 (validation/h200-nccl.csv, all_reduce in bfloat16: launches of 26 µs).
func TestLaunchesDelayKernels(t *testing.T) {
	const floor = 26 * units.Microsecond
	r := runtime(t, load(t, "hgx-h200-4", topology.Options{}), "h200")
	last := units.Time(0)
	for size := units.Bytes(8); size <= units.GiB; size *= 2 {
		a := Ask{Kind: collective.AllReduce, Size: size}
		kernel := predict(t, r, a)
		p, err := r.PredictLaunched(a, Launch{Floor: floor})
		if err != nil {
			t.Fatal(err)
		}
		if more := max(floor, kernel.Time); p.Time < more || float64(p.Time) > math.Sqrt2*float64(more) || p.Time < last ||
			p.Floored != (floor > kernel.Time) {
			t.Errorf("%v: %v behind launches of %v, the kernel takes %v", size, p.Time, floor, kernel.Time)
		}
		if size <= LaunchSize && p.Time != floor {
			t.Errorf("%v: %v, launches take %v", size, p.Time, floor)
		}
		if size == units.GiB && float64(p.Time) > 1.01*float64(kernel.Time) {
			t.Errorf("%v: launches cost %v of %v", size, p.Time-kernel.Time, p.Time)
		}
		last = p.Time
	}
	for size, measured := range map[units.Bytes]float64{512 * units.KiB: 30, units.MiB: 33, 2 * units.MiB: 36, 4 * units.MiB: 43} {
		p, err := r.PredictLaunched(Ask{Kind: collective.AllReduce, Size: size}, Launch{Floor: floor})
		if err != nil || math.Abs(p.Time.Microseconds()/measured-1) > 0.15 {
			t.Errorf("%v: %v (%v), measured %v µs", size, p.Time, err, measured)
		}
	}
}
