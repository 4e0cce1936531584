package nccl

import (
	"math"
	"testing"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
)

// Which kernels run inside a node follows from the topology: peer-to-peer over PCIe switches alone, elsewhere through
// host memory.
func TestPeerToPeerFollowsFromTheTopology(t *testing.T) {
	for _, c := range []struct {
		topology string
		gpus, cc int
		want     string
	}{
		{"pcie4-server", 2, 89, "pcie"}, {"pcie4-server", 4, 89, cost.HostMemory}, {"pcie4-server", 0, 89, cost.HostMemory},
		{"pcie4-server", 2, 0, "pcie"}, {"pcie4-server", 0, 0, cost.HostMemory}, // GPUs that nobody names
		{"rtx2080ti-server", 2, 0, cost.HostMemory}, {"rtx4090-server", 0, 0, cost.HostMemory},
		{"rtx3090-nvlink", 2, 0, "nvlink"}, {"rtx3090-nvlink", 4, 0, cost.HostMemory}, {"a100-pcie-nvlink", 2, 0, "nvlink"},
		{"dgx1-v100", 0, 0, "nvlink"}, {"dgx-h100", 0, 0, "nvlink"}, {"mi300x-node", 0, 0, "xgmi"}, {"gh200-quad", 0, 0, "nvlink"},
	} {
		topo := load(t, c.topology, topology.Options{GPUs: c.gpus})
		r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{ComputeCapability: c.cc})
		if err != nil {
			t.Fatal(err)
		}
		if r.rates.inside != c.want {
			t.Errorf("%s, %d GPUs, compute capability %d: over %s, want %s", c.topology, c.gpus, c.cc, r.rates.inside, c.want)
		}
	}
}

// What NCCL_P2P_LEVEL says goes before what NCCL decides, both ways, but not where the hardware cannot, and where NCCL is not known it is
// a mistake.
func TestPeerToPeerLevel(t *testing.T) {
	for _, c := range []struct {
		topology, level string
		gpus            int
		want            string
	}{
		{"pcie4-server", "PIX", 4, cost.HostMemory}, {"pcie4-server", "PHB", 4, "pcie"}, {"pcie4-server", "PHB", 0, cost.HostMemory},
		{"pcie4-server", "SYS", 0, "pcie"}, {"rtx2080ti-server", "SYS", 2, cost.HostMemory}, {"rtx3090-nvlink", "LOC", 2, cost.HostMemory},
		{"dgx1-v100", "NVL", 0, "nvlink"}, {"mi300x-node", "SYS", 0, ""},
	} {
		topo := load(t, c.topology, topology.Options{GPUs: c.gpus})
		o := Options{P2PLevel: c.level}
		if c.topology == "pcie4-server" {
			o.ComputeCapability = 89
		}
		r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), o)
		if c.want == "" && err == nil || c.want != "" && (err != nil || r.rates.inside != c.want) {
			t.Errorf("%s, %d GPUs, level %s: %v, over %+v, want %s", c.topology, c.gpus, c.level, err, r, c.want)
		}
	}
}

// NVSwitches reduce and multicast without peer-to-peer too, over the links to them.
func TestSwitchesReduceWithoutPeerToPeer(t *testing.T) {
	topo := load(t, "dgx-h100", topology.Options{})
	for _, size := range []units.Bytes{8, 64 * units.KiB, units.GiB} {
		var times []units.Time
		for _, level := range []string{"", "LOC"} {
			r, err := NewRuntime(topo, shipped(t, machineOf(t, topo)), cost.GeneralNCCL(), Options{P2PLevel: level})
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.raw(Ask{Kind: collective.AllReduce, Algorithm: "nvls", Size: size})
			if err != nil || p.Over != "nvlink" {
				t.Fatalf("%v, level %q: over %s, %v", size, level, p.Over, err)
			}
			times = append(times, p.Time)
		}
		if ratio := float64(times[1]) / float64(times[0]); ratio < 0.5 || ratio > 2 {
			t.Errorf("%v: %v, without peer-to-peer %v", size, times[0], times[1])
		}
	}
}

// Without peer-to-peer two GPUs of a switch share its way to host memory, and what they send comes down again.
func TestStagingCosts(t *testing.T) {
	size := units.GiB
	for _, k := range []collective.Kind{collective.AllReduce, collective.AllGather, collective.SendRecv} {
		direct := runtime(t, load(t, "pcie3-server", topology.Options{GPUs: 2}), "pcie3")
		staged := runtime(t, load(t, "pcie3-server", topology.Options{GPUs: 2, Set: []string{"devices.0.p2p=false"}}), "pcie3")
		p, q := predict(t, direct, Ask{Kind: k, Size: size}), predict(t, staged, Ask{Kind: k, Size: size})
		if q.Time < 3*p.Time/2 {
			t.Errorf("%v: %v with peer-to-peer, %v through host memory", k, p.Time, q.Time)
		}
	}
	// Measured on two RTX 2080 Ti of one switch. The kernel is of three kinds of GPUs over PCIe 3, of which each alone would be nearer.
	r := runtime(t, load(t, "rtx2080ti-server", topology.Options{GPUs: 2}), "pcie3")
	for _, c := range []struct {
		kind         collective.Kind
		took, within float64 // µs, share
	}{{collective.AllReduce, 268588, 0.12}, {collective.AllGather, 141614, 0.1}} {
		if got := predict(t, r, Ask{Kind: c.kind, Size: size}).Time.Microseconds(); math.Abs(got-c.took) > c.within*c.took {
			t.Errorf("%v: %.0f µs, measured %.0f", c.kind, got, c.took)
		}
	}
}

// Staging crosses the same links whether a topology's GPUs have no peer-to-peer or NCCL takes none; what host memory sustains bounds
// times, but is not slowed down by a kernel's headers and flags.
func TestStagingCrossesTheSameLinks(t *testing.T) {
	for _, name := range []string{"pcie3-server", "pcie4-server", "pcie5-server"} {
		for _, gpus := range []int{2, 4, 8} {
			asked := Ask{Kind: collective.AllReduce, Algorithm: "ring", Protocol: "simple", Size: units.GiB}
			o := Options{ComputeCapability: 80}
			none, err := NewRuntime(load(t, name, topology.Options{GPUs: gpus, Set: []string{"devices.0.p2p=false"}}), nil, cost.GeneralNCCL(), o)
			if err != nil {
				t.Fatal(err)
			}
			o.P2PLevel = "LOC"
			level, err := NewRuntime(load(t, name, topology.Options{GPUs: gpus}), nil, cost.GeneralNCCL(), o)
			if err != nil {
				t.Fatal(err)
			}
			if p, q := predict(t, none, asked), predict(t, level, asked); p.Work.Line != q.Work.Line {
				t.Errorf("%s, %d GPUs: %.2f GB/s without peer-to-peer, %.2f where NCCL takes none", name, gpus, p.Work.Line/1e9, q.Work.Line/1e9)
			}
		}
	}
	fast := load(t, "rtx4090-server", topology.Options{})
	slow := load(t, "rtx4090-server", topology.Options{Set: []string{"classes.dram.rate=20GB/s"}})
	asked := Ask{Kind: collective.AllReduce, Size: units.GiB}
	p, q := predict(t, runtime(t, fast, "pcie4"), asked), predict(t, runtime(t, slow, "pcie4"), asked)
	if p.Work.Line != q.Work.Line || q.Time <= p.Time || q.Time != q.least {
		t.Errorf("host memory of 76 GB/s: %v at %.2f GB/s, of 20: %v at %.2f, bound %v", p.Time, p.Work.Line/1e9, q.Time, q.Work.Line/1e9, q.least)
	}
}

// Sockets have their kind of network under every name; messages over them take longer than over the fabric's own library:
// by 17 µs on Polaris and 33 on Alps (series polaris-2n-ar and -tcp-2n-ar, alps-2n-ar and -tcp-2n-ar in validation/).
func TestSocketsAreSlow(t *testing.T) {
	topo := load(t, "dgx-h100", topology.Options{Nodes: 2})
	times := map[string]units.Time{}
	for _, fabric := range []string{"ib", "tcp", "sockets", "slingshot", "opa"} {
		r, err := NewRuntime(topo, shipped(t, "h100"), cost.GeneralNCCL(), Options{Fabric: fabric})
		if err != nil {
			t.Fatal(err)
		}
		times[fabric] = predict(t, r, Ask{Kind: collective.AllReduce, Size: units.KiB}).Time
	}
	if times["tcp"] != times["sockets"] || times["tcp"] < times["ib"]+17*units.Microsecond {
		t.Errorf("times of 1 KiB by network: %v", times)
	}
}
