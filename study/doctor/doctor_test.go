package doctor

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/study"
	"railyard/topologies"
)

// healthy is what a DGX H100 says of itself, as far as rules ask.
func healthy() *health.State {
	s := new(health.State)
	say := func(p *health.Part, facts map[string]any) {
		for fact, is := range facts {
			s.Say(p, fact, is, "test")
		}
	}
	say(s.Host(), map[string]any{"gpus": 8.0, "gpus_on_pci": 8.0, "nics": 8.0, "peermem": true, "driver_open": true, "memlock": 1e18,
		"open_files": 65536.0, "shm": 5e11, "memory": 2e12, "hugepages": 0.0, "hugepages_free": 0.0, "iommu": "pt", "numa_balancing": false,
		"virtual": false, "processors": 192.0})
	for i := range 8 {
		say(s.GPU(i), map[string]any{"product": "NVIDIA H100 80GB HBM3", "bus": fmt.Sprintf("0000:%02x:00.0", 0x18+i), "links": 18.0,
			"links_up": 18.0, "pcie_gen": 5.0, "pcie_gen_max": 5.0, "pcie_gen_device": 5.0, "pcie_width": 16.0, "pcie_width_max": 16.0,
			"pcie_replays": 60.0 + float64(i), "pcie_sent": 10.0, "pcie_received": 11.0, "ecc": true, "ecc_uncorrected": 0.0,
			"rows_failed": false, "rows_pending": false, "rows_remapped_uncorrected": 0.0,
			"persistence": true, "reset_required": false, "recovery": "None", "fabric": "Completed",
			"throttle_brake": false, "throttle_thermal": false, "throttle_hardware": false, "throttle_usual": false,
			"power_limit": 700.0, "power_limit_default": 700.0,
			"clock": 1980.0 - float64(i), "clock_max": 1980.0, "clock_app": 1980.0, "clock_app_default": 1980.0, "utilization": 100.0,
			"mig": false, "memory": 8e10, "memory_used": 7e10, "peers_reached": 7.0,
			"cpus": []string{"0-47,96-143", "48-95,144-191"}[i/4], "processes": fmt.Sprint(4711 + i),
			"access": "strided loads in pieces of 64 bytes", "access_share": 0.98, "numa": float64(i / 4)})
		say(s.Part(health.Process, fmt.Sprint(4711+i)), map[string]any{"cpus": fmt.Sprintf("%d-%d", 12*i, 12*i+11)})
		for nic := range 8 {
			far := map[bool]float64{true: 2, false: 3}[nic/4 == i/4]
			if nic == i {
				far = 0
			}
			s.Say(s.PathTo(i, fmt.Sprintf("mlx5_%d", nic)), "far", far, "test")
		}
		s.Say(s.PathTo(i, "eth0"), "far", 0.0, "test")
		for link := range 18 {
			say(s.Part(health.NVLink, fmt.Sprintf("%d/%d", i, link)), map[string]any{"up": true, "rate": 26.562, "replays": float64(link),
				"recoveries": 0.0, "crc_errors": 0.0, "load": 0.1})
		}
		say(s.Part(health.NIC, fmt.Sprintf("mlx5_%d", i)), map[string]any{"type": "MT4129", "firmware": "28.39.2048", "state": "Active",
			"physical": "LinkUp", "layer": "InfiniBand", "rate": 400.0, "pcie_gen": 5.0, "pcie_width": 16.0, "pcie_width_max": 16.0,
			"link_downed": float64(i), "symbol_errors": float64(i), "errors_received": 0.0, "recoveries": 0.0, "timeouts": 2.0,
			"load": 0.1})
	}
	say(s.Part(health.NIC, "eth0"), map[string]any{"type": "MT4125", "firmware": "22.36", "state": "Down", "physical": "Polling",
		"layer": "Ethernet", "rate": 40.0}) // not for jobs
	say(s.Part(health.PCI, "0000:15:01.0"), map[string]any{"device": "PCI bridge: Broadcom PEX890xx Gen 5 Switch", "bridge": true,
		"acs": false})
	say(s.Part(health.PCI, "0000:9a:00.0"), map[string]any{"device": "Infiniband controller: Mellanox MT2910 [ConnectX-7]", "bridge": false,
		"pcie_width": 16.0, "pcie_width_max": 16.0})
	say(s.Part(health.Variable, "NCCL_DEBUG"), map[string]any{"value": "WARN"})
	say(s.Part(health.Graph, "ring"), map[string]any{"channels": 12.0, "gpus": 8.0, "inside": 360.0, "way": "NVL"})
	say(s.Part(health.Graph, "tree"), map[string]any{"channels": 8.0, "gpus": 8.0, "inside": 384.0, "between": 384.0, "way": "NVL",
		"way_between": "PIX"})
	return s
}

// planted are faults: the rule that finds each, the fact that is changed, and what is said.
var planted = []struct {
	rule string
	kind health.Kind
	part string
	fact string
	is   any
	says string
}{
	{"gpus-without-driver", health.Host, "", "gpus_on_pci", 9.0, "this machine shows 8 of 9 GPUs that"},
	{"links-missing", health.GPU, "3", "links_up", 17.0, "GPU 3 has 17 of 18 NVLinks"},
	{"nvlink-slow", health.NVLink, "2/7", "rate", 13.281, "GPU 2 link 7 runs at 13.3 GB/s, the others at 26.6"},
	{"nvlink-recoveries", health.NVLink, "2/7", "recoveries", 3.0, "GPU 2 link 7 was retrained 3 times"},
	{"nvlink-replays", health.NVLink, "2/7", "replays", 5000.0, "GPU 2 link 7 sent 5000 packets again"},
	{"nvlink-crc", health.NVLink, "2/7", "crc_errors", 5000.0, "GPU 2 link 7 received 5000 damaged"},
	{"nvlink-hot", health.NVLink, "2/7", "load", 0.9, "GPU 2 link 7 carries 90 % of its line rate"},
	{"pcie-width", health.GPU, "5", "pcie_width", 8.0, "GPU 5 has 8 of 16 PCIe lanes"},
	{"pcie-slot", health.GPU, "5", "pcie_width_slot", 8.0, "GPU 5 has 16 PCIe lanes, its slot 8"},
	{"pcie-slot-generation", health.GPU, "5", "pcie_gen_slot", 4.0, "GPU 5 has a slot of PCIe 4.0, and could do 5.0"},
	{"nic-slot", health.NIC, "mlx5_3", "pcie_width_slot", 8.0, "mlx5_3 has 16 PCIe lanes, its slot 8"},
	{"pcie-generation", health.GPU, "5", "pcie_gen_max", 4.0, "GPU 5 runs PCIe 4.0 at most, though the GPU can do 5.0"},
	{"pcie-generation-busy", health.GPU, "5", "pcie_gen", 3.0, "GPU 5 runs at PCIe 3.0 of 5.0"},
	{"pcie-replays", health.GPU, "5", "pcie_replays", 9000.0, "GPU 5 sent 9000 PCIe packets again"},
	{"pcie-busy", health.GPU, "5", "pcie_sent", 60.0, "GPU 5 moves 60 of 63 GB/s"},
	{"ecc-uncorrected", health.GPU, "1", "ecc_uncorrected", 1.0, "GPU 1 has 1 memory error not corrected"},
	{"rows-failed", health.GPU, "0", "rows_failed", true, "GPU 0 could not replace a row"},
	{"rows-pending", health.GPU, "0", "rows_pending", true, "GPU 0 has a row of its memory to be replaced"},
	{"rows-remapped", health.GPU, "0", "rows_remapped_uncorrected", 2.0, "GPU 0 replaced 2 rows"},
	{"persistence-off", health.GPU, "0", "persistence", false, "GPU 0 is shut down by the driver"},
	{"ecc-off", health.GPU, "0", "ecc", false, "GPU 0 does not correct"},
	{"reset-required", health.GPU, "6", "reset_required", true, "GPU 6 wants a reset"},
	{"recovery", health.GPU, "6", "recovery", "Drain and Reset", `GPU 6 wants the action "Drain and Reset"`},
	{"fabric", health.GPU, "7", "fabric", "In Progress", `GPU 7 is not ready on the NVLink fabric: "In Progress"`},
	{"throttle-brake", health.GPU, "2", "throttle_brake", true, "GPU 2 is slowed by a power brake, at 1978 MHz of 1980 MHz"},
	{"throttle-thermal", health.GPU, "2", "throttle_thermal", true, "GPU 2 is slowed by heat"},
	{"throttle-hardware", health.GPU, "2", "throttle_hardware", true, "GPU 2 is slowed by its hardware"},
	{"power-cap", health.GPU, "2", "power_limit", 500.0, "GPU 2 may draw 500 W of 700 W"},
	{"clock-low", health.GPU, "4", "clock", 1200.0, "GPU 4 runs at 1200 MHz, most GPUs at 1976"},
	{"clock-set", health.GPU, "4", "clock_app", 1410.0, "GPU 4 is set to 1410 MHz, the default is 1980 MHz"},
	{"mig", health.GPU, "4", "mig", true, "GPU 4 is split"},
	{"memory-used", health.GPU, "4", "utilization", 0.0, "GPU 4 has 65.2 GiB of 74.5 GiB in use though"},
	{"access-slow", health.GPU, "4", "access_share", 0.7, "GPU 4 reaches 70 % of what such GPUs do with strided loads in pieces of 64"},
	{"p2p-off", health.GPU, "4", "peers_reached", 3.0, "GPU 4 reaches 3 of 7 other GPUs"},
	{"nic-left-out", health.Variable, "NCCL_IB_HCA", "value", "^mlx5_5:1,eth0", "NCCL_IB_HCA is ^mlx5_5:1,eth0: it leaves out " +
		"mlx5_5, nearest to GPU 5"},
	{"nic-other", health.Path, "5/mlx5_1", "taken", true, "GPU 5 sends over mlx5_1, which is on another socket: " +
		"host-staged, 37 of 43 GB/s; mlx5_5 is"},
	{"nics-missing", health.Host, "", "nics", 6.0, "this machine has 6 of 8 network adapters"},
	{"nic-down", health.NIC, "mlx5_3", "state", "Down", "mlx5_3 is down"},
	{"nic-unmanaged", health.NIC, "mlx5_3", "state", "Initializing", "mlx5_3 has a link, but no address"},
	{"nic-training", health.NIC, "mlx5_3", "physical", "Polling", "mlx5_3 does not come up"},
	{"nic-rate", health.NIC, "mlx5_3", "rate", 200.0, "mlx5_3 runs at 200 of 400 Gb/s"},
	{"nic-flaps", health.NIC, "mlx5_3", "link_downed", 900.0, "mlx5_3 lost its link 900 times"},
	{"nic-symbols", health.NIC, "mlx5_3", "symbol_errors", 70000.0, "mlx5_3 counted 70000 errors on its lanes, most adapters"},
	{"nic-damaged", health.NIC, "mlx5_3", "errors_received", 900.0, "mlx5_3 received 900 damaged packets, most adapters 0"},
	{"nic-recoveries", health.NIC, "mlx5_3", "recoveries", 40.0, "mlx5_3 has retrained its link 40 times"},
	{"nic-timeouts", health.NIC, "mlx5_3", "timeouts", 9000.0, "mlx5_3 waited 9000 times for an answer that did not come"},
	{"nic-hot", health.NIC, "mlx5_3", "load", 0.9, "mlx5_3 carries 90 % of its line rate now"},
	{"nic-firmware", health.NIC, "mlx5_3", "firmware", "28.35.1012", "mlx5_3 has firmware 28.35.1012, most of its type 28.39.2048"},
	{"nic-pcie-width", health.NIC, "mlx5_3", "pcie_width_max", 32.0, "mlx5_3 has 16 of 32 PCIe lanes"},
	{"nic-pcie", health.NIC, "mlx5_3", "pcie_gen", 4.0, "mlx5_3 has a port of 400 Gb/s on PCIe of 31.5 GB/s"},
	{"pci-width", health.PCI, "0000:9a:00.0", "pcie_width", 8.0,
		"0000:9a:00.0 (Infiniband controller: Mellanox MT2910 [ConnectX-7]) has 8 of 16"},
	{"acs", health.PCI, "0000:15:01.0", "acs", true, "0000:15:01.0 redirects peer-to-peer traffic to the root complex"},
	{"memlock", health.Host, "", "memlock", 65536.0, "this machine lets processes lock 64 KiB"},
	{"open-files", health.Host, "", "open_files", 1024.0, "this machine lets processes open 1024 files"},
	{"shm", health.Host, "", "shm", 67108864.0, "this machine has 64 MiB of shared memory"},
	{"hugepages", health.Host, "", "hugepages_free", 1e12, "this machine sets"},
	{"iommu", health.Host, "", "iommu", "on", "this machine translates addresses"},
	{"numa-balancing", health.Host, "", "numa_balancing", true, "this machine moves memory"},
	{"numa-unknown", health.GPU, "1", "numa", -1.0, "GPU 1 has no NUMA node"},
	{"nccl-p2p-disable", health.Variable, "NCCL_P2P_DISABLE", "value", "1", "NCCL_P2P_DISABLE is 1"},
	{"nccl-p2p-level", health.Variable, "NCCL_P2P_LEVEL", "value", "LOC", "NCCL_P2P_LEVEL is LOC"},
	{"nccl-shm-disable", health.Variable, "NCCL_SHM_DISABLE", "value", "1", "NCCL_SHM_DISABLE is 1"},
	{"nccl-ib-disable", health.Variable, "NCCL_IB_DISABLE", "value", "1", "NCCL_IB_DISABLE is 1"},
	{"nccl-ib-disable", health.Variable, "NCCL_NET", "value", "Socket", "NCCL_NET is Socket"},
	{"nccl-buffer", health.Variable, "NCCL_BUFFSIZE", "value", "1048576", "NCCL_BUFFSIZE is 1048576"},
	{"nccl-buffer", health.Variable, "NCCL_BUFFSIZE", "value", "8M", "NCCL_BUFFSIZE is 8M"}, // which is 8
	{"nccl-channels", health.Variable, "NCCL_MAX_CTAS", "value", "0x4", "NCCL_MAX_CTAS is 0x4"},
	{"nccl-threads", health.Variable, "NCCL_NTHREADS", "value", "256", "NCCL_NTHREADS is 256"},
	{"nccl-cross-nic", health.Variable, "NCCL_CROSS_NIC", "value", "1", "NCCL_CROSS_NIC is 1"},
	{"omp-threads", health.Variable, "OMP_NUM_THREADS", "value", "48", "OMP_NUM_THREADS is 48"},
	{"process-far", health.Process, "4716", "cpus", "0-11", "process 4716 is bound to 12 processors, none of the 96 near its GPU"},
	{"process-narrow", health.Process, "4716", "cpus", "50", "process 4716 may use one processor"},
	{"nccl-graph", health.Graph, "ring", "inside", 192.0, "NCCL's ring graph carries 192 GB/s of 360 GB/s inside a node: 12 channels over"},
	{"nccl-graph-between", health.Graph, "tree", "between", 192.0, "NCCL's tree graph carries 192 GB/s of 384 GB/s between nodes: 8 channels"},
	{"nccl-pxn", health.Variable, "NCCL_PXN_DISABLE", "value", "1", "NCCL_PXN_DISABLE is 1"},
	{"nccl-gdr", health.Variable, "NCCL_NET_GDR_LEVEL", "value", "LOC", "NCCL_NET_GDR_LEVEL is LOC"},
	{"nccl-nvls", health.Variable, "NCCL_NVLS_ENABLE", "value", "0", "NCCL_NVLS_ENABLE is 0"},
	{"nccl-algo", health.Variable, "NCCL_ALGO", "value", "Tree", "NCCL_ALGO is Tree"},
	{"nccl-proto", health.Variable, "NCCL_PROTO", "value", "LL", "NCCL_PROTO is LL"},
	{"nccl-channels", health.Variable, "NCCL_MAX_NCHANNELS", "value", "2", "NCCL_MAX_NCHANNELS is 2"},
	{"nccl-debug", health.Variable, "NCCL_DEBUG", "value", "TRACE", "NCCL_DEBUG is TRACE"},
	{"cuda-blocking", health.Variable, "CUDA_LAUNCH_BLOCKING", "value", "1", "CUDA_LAUNCH_BLOCKING is 1"},
	{"nccl-blocking", health.Variable, "TORCH_NCCL_BLOCKING_WAIT", "value", "1", "TORCH_NCCL_BLOCKING_WAIT is 1"},
	{"nccl-ifname", health.Variable, "NCCL_SOCKET_IFNAME", "value", "docker0", "NCCL_SOCKET_IFNAME is docker0"},
}

// several need more than one fact, or all parts: what they find is tried by TestSeveralFacts.
var several = []string{"nic-far", "nic-detour", "gpus-missing", "gpudirect", "pcie-line", "nic-rate-intended", "clock-held", "pcie-wired",
	"nccl-dmabuf"}

func examined(t *testing.T, s *health.State) *Diagnosis {
	t.Helper()
	d, err := Examine(Asked{State: s, Intended: study.Site{Name: "dgx-h100"}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNothingIsFoundOnAHealthyMachine, though its GPUs say which one it is.
func TestNothingIsFoundOnAHealthyMachine(t *testing.T) {
	d, err := Examine(Asked{State: healthy()})
	if err != nil || len(d.Findings) > 0 || d.Topology != "dgx-h100" || !d.Assumed || d.Faulty() {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestPlantedFaultsAreFound: by their rule and no other, with the figure; and each rule has a fault that it finds. What each costs is
// asked as well, which takes half a second: all of them are planted with -long.
func TestPlantedFaultsAreFound(t *testing.T) {
	found := map[string]bool{}
	for i, p := range planted {
		found[p.rule] = true
		if !long.Every(10, i) {
			continue
		}
		s := healthy()
		s.Set(s.Part(p.kind, p.part), p.fact, p.is, "plant")
		d := examined(t, s)
		if len(d.Findings) != 1 || d.Findings[0].Rule != p.rule {
			t.Errorf("%s: %+v", p.rule, d.Findings)
			continue
		}
		f := d.Findings[0]
		if said := f.Part + " " + f.Says; !strings.HasPrefix(said, p.says) || f.Why == "" || f.Do == "" ||
			!slices.Contains(f.From, "plant") && !slices.Contains(f.From, derived) ||
			strings.Contains(said+strings.ReplaceAll(f.Do, "grow?", ""), "?") {
			t.Errorf("%s: %q, do %q, from %q", p.rule, said, f.Do, f.From)
		}
	}
	for _, r := range rules().Rules {
		if !found[r.Name] && !slices.Contains(several, r.Name) {
			t.Errorf("no fault is planted for %s", r.Name)
		}
	}
}

// TestNoNumbers: texts without a number, and sizes that NCCL reads as large ones, set no rule off.
func TestNoNumbers(t *testing.T) {
	for _, value := range []string{"", "many", "0x800000", "99999999999999999999"} {
		s := healthy()
		s.Set(s.Part(health.Variable, "NCCL_MAX_CTAS"), "value", value, "plant")
		s.Set(s.Part(health.Variable, "NCCL_BUFFSIZE"), "value", value, "plant")
		if d := examined(t, s); len(d.Findings) > 0 {
			t.Errorf("%q: %+v", value, d.Findings)
		}
	}
}

// TestUnknownAdapters: names that are none of the adapters' set no rule off; those that leave the nearest of each GPU do neither.
func TestUnknownAdapters(t *testing.T) {
	for _, value := range []string{"bnxt_re0", "^bnxt_re0", "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7", "mlx5:1", ""} {
		s := healthy()
		s.Set(s.Part(health.Variable, "NCCL_IB_HCA"), "value", value, "plant")
		if d := examined(t, s); len(d.Findings) > 0 {
			t.Errorf("%q: %+v", value, d.Findings)
		}
	}
}

// TestFilterAsNCCL: which adapters a value leaves, as matchIfList of NCCL (src/misc/utils.cc) says, and what leaves mlx5_1 as well.
func TestFilterAsNCCL(t *testing.T) {
	for value, want := range map[string][2]string{
		"mlx5_10":         {"mlx5_10", "=mlx5_1,mlx5_10"},
		"mlx5_1":          {"mlx5_1 mlx5_10", "=mlx5_1,mlx5_10"},
		"=mlx5_0:1":       {"mlx5_0", "=mlx5_0,mlx5_1"},
		"^mlx5_1":         {"eth0 mlx5_0", "=eth0,mlx5_0,mlx5_1"},
		"^=mlx5_1":        {"eth0 mlx5_0 mlx5_10", "=eth0,mlx5_0,mlx5_1,mlx5_10"},
		"mlx5_0, mlx5_1":  {"mlx5_0", "=mlx5_0,mlx5_1"},
		"^eth,,mlx5_10:1": {"mlx5_0 mlx5_1", "=mlx5_0,mlx5_1"},
		"^":               {"", "=mlx5_1"},
		"":                {"eth0 mlx5_0 mlx5_1 mlx5_10", "=eth0,mlx5_0,mlx5_1,mlx5_10"},
	} {
		var s health.State
		all, passed := []string{"eth0", "mlx5_0", "mlx5_1", "mlx5_10"}, []string{}
		for _, a := range all {
			s.Say(s.PathTo(0, a), "far", 0.0, "test")
			s.Say(s.PathTo(1, a), "far", 3.0, "test")
		}
		s.Say(s.Part(health.Variable, hcaVariable), "value", value, "test")
		f := adapterFilter(&s)
		for _, a := range all {
			if f.passes(a) {
				passed = append(passed, a)
			}
		}
		if got := [2]string{strings.Join(passed, " "), f.with([]string{"mlx5_1"})}; got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// TestFarAdaptersAlone: where NCCL_IB_HCA leaves no GPU's nearest adapter, all share the farther ones that it leaves.
func TestFarAdaptersAlone(t *testing.T) {
	s := healthy()
	for fact, is := range map[string]any{"type": "MT4129", "state": "Active", "physical": "LinkUp", "layer": "InfiniBand", "rate": 400.0} {
		s.Say(s.Part(health.NIC, "mlx5_9"), fact, is, "test")
	}
	for i := range 8 {
		s.Say(s.PathTo(i, "mlx5_9"), "far", 3.0, "test")
	}
	s.Set(s.Part(health.Variable, "NCCL_IB_HCA"), "value", "mlx5_9", "plant")
	if d := examined(t, s); len(d.Findings) != 1 || d.Findings[0].Rule != "nic-left-out" || d.Findings[0].Cost.Share < 3 {
		t.Errorf("%+v", d.Findings)
	}
}

// TestOtherNetworks: adapters that are nearer and that no job uses with the others, of storage over Ethernet or without a port of RDMA, are
// neither missed nor better.
func TestOtherNetworks(t *testing.T) {
	s := healthy()
	storage := s.Part(health.NIC, "mlx5_9")
	for fact, is := range map[string]any{"type": "MT4129", "state": "Active", "layer": "Ethernet", "rate": 400.0} {
		s.Say(storage, fact, is, "test")
	}
	s.Say(s.PathTo(5, "mlx5_9"), "far", 0.0, "test")
	s.Say(s.PathTo(5, "eth1"), "far", 0.0, "test")
	s.Set(s.PathTo(5, "mlx5_5"), "far", 1.0, "test")
	s.Say(s.PathTo(5, "mlx5_5"), "taken", true, "test")
	s.Set(s.Part(health.Variable, "NCCL_IB_HCA"), "value", "^mlx5_9,eth", "test")
	if d := examined(t, s); len(d.Findings) > 0 {
		t.Errorf("%+v", d.Findings)
	}
}

// TestSeveralFacts are rules that one fact does not set off.
func TestSeveralFacts(t *testing.T) {
	plants := map[string]func(s *health.State){
		"gpus-missing": func(s *health.State) {
			s.Set(s.Host(), "gpus", 7.0, "plant")
			s.Set(s.Host(), "gpus_on_pci", 7.0, "plant")
		},
		"nic-far": func(s *health.State) {
			s.Set(s.PathTo(5, "mlx5_5"), "far", 2.0, "plant")
			s.Set(s.PathTo(5, "eth0"), "far", 2.0, "plant")
		},
		"nic-detour": func(s *health.State) {
			s.Say(s.PathTo(5, "mlx5_4"), "taken", true, "plant")
			s.Say(s.PathTo(5, "mlx5_4"), "direct", true, "plant")
		},
		"gpudirect": func(s *health.State) {
			s.Set(s.Host(), "peermem", false, "plant")
			s.Set(s.Host(), "driver_open", false, "plant")
		},
		"nccl-dmabuf": func(s *health.State) {
			s.Set(s.Host(), "peermem", false, "plant")
			s.Say(s.Part(health.Variable, "NCCL_DMABUF_ENABLE"), "value", "0", "plant")
		},
		"pcie-line": func(s *health.State) {
			s.GPU(2).Remove("pcie_width")
			s.Say(s.GPU(2), "pcie_line", 31.5, "plant")
		},
		"clock-held": func(s *health.State) {
			for _, p := range s.Parts(health.GPU) {
				s.Set(p, "clock", 1200.0, "plant")
			}
		},
		"nic-rate-intended": func(s *health.State) {
			for _, p := range s.Parts(health.NIC) {
				s.Set(p, "rate", 200.0, "plant")
			}
		},
	}
	for i, rule := range slices.Sorted(maps.Keys(plants)) {
		if !long.Every(3, i) {
			continue
		}
		s := healthy()
		plants[rule](s)
		if d := examined(t, s); len(d.Findings) != 1 || d.Findings[0].Rule != rule ||
			strings.Contains(d.Findings[0].Says, "?") {
			t.Errorf("%s: %+v", rule, d.Findings)
		}
	}
}

// TestClocksHeld: clocks of all GPUs that are low for their power cap, or while they rest, are no fault.
func TestClocksHeld(t *testing.T) {
	for fact, is := range map[string]any{"throttle_usual": true, "utilization": 10.0} {
		s := healthy()
		for _, p := range s.Parts(health.GPU) {
			s.Set(p, "clock", 1200.0, "plant")
			s.Set(p, fact, is, "plant")
		}
		if d := examined(t, s); len(d.Findings) > 0 && d.Findings[0].Rule != "memory-used" {
			t.Errorf("%s: %+v", fact, d.Findings)
		}
	}
}

// TestMissingGPUsAreNoFaultOfOthers: a GPU is asked for the peers that are there, of one that a job uses alone for none.
func TestMissingGPUsAreNoFaultOfOthers(t *testing.T) {
	s := new(health.State)
	s.Say(s.GPU(0), "peers_reached", 0.0, "test")
	if d := examined(t, s); len(d.Findings) > 0 || d.Judged != 1 {
		t.Errorf("%+v", d)
	}
	s.Say(s.GPU(1), "peers_reached", 1.0, "test")
	if d := examined(t, s); len(d.Findings) != 1 || d.Findings[0].Part != "GPU 0" ||
		!strings.HasPrefix(d.Findings[0].Says, "reaches 0 of 1 ") {
		t.Errorf("%+v", d.Findings)
	}
}

// TestCostIsAsked: 17 of 18 links leave an all-reduce in the switches 17/18 of its rate, and what two nodes send does not change.
func TestCostIsAsked(t *testing.T) {
	s := healthy()
	s.Set(s.GPU(3), "links_up", 17.0, "test")
	f := examined(t, s).Findings[0]
	if c := f.Cost; !c.Known || c.Share < 0.05 || c.Share > 1.0/17+0.001 || c.Best > c.Share || c.Of != "all-reduce of 1 GiB on 8 GPUs" {
		t.Errorf("%+v", c)
	}
}

// TestCostsWithoutAPlan: what is not a fault of the topology has a cost by the house's models all the same, which says what is derived or
// assumed; a clock of a GPU that rests has none.
func TestCostsWithoutAPlan(t *testing.T) {
	for i, x := range []struct {
		kind       health.Kind
		part, fact string
		is         any
		least      float64 // of the cost
		how        string
	}{
		{health.PCI, "0000:15:01.0", "acs", true, 0.5, "derived: between GPUs and adapters"},
		{health.Host, "", "iommu", "on", 0.5, "derived: between GPUs and adapters"},
		{health.Variable, "NCCL_NET_GDR_LEVEL", "value", "LOC", 0.5, "derived: what is staged goes up"},
		{health.Variable, "NCCL_MAX_NCHANNELS", "value", "2", 3, "derived: NCCL opens "},
		{health.GPU, "2", "power_limit", 500.0, 0.1, "assumed: power grows with the cube"},
		{health.GPU, "2", "peers_reached", 0.0, 3, "assumed: none of its peers"},
		{health.NVLink, "2/7", "recoveries", 3.0, 0.05, "once it fails"},
		{health.Variable, "CUDA_LAUNCH_BLOCKING", "value", "1", 1, "derived: two kernels"},
		{health.Variable, "NCCL_SHM_DISABLE", "value", "1", 0, "derived: all GPUs of dgx-h100 reach one another over NVLink"},
	} {
		if !long.Every(3, i) {
			continue
		}
		s := healthy()
		s.Set(s.Part(x.kind, x.part), x.fact, x.is, "plant")
		c := examined(t, s).Findings[0].Cost
		if !c.Known || c.Share < x.least || c.Share > 20 || !strings.Contains(c.How, x.how) {
			t.Errorf("%s: %+v", x.fact, c)
		}
	}
	for utilization, want := range map[float64]bool{100: true, 0: false} {
		s := healthy()
		s.Set(s.GPU(2), "throttle_thermal", true, "plant")
		s.Set(s.GPU(2), "clock", 990.0, "plant")
		s.Set(s.GPU(2), "utilization", utilization, "plant")
		for _, f := range examined(t, s).Findings {
			if f.Rule == "throttle-thermal" && (f.Cost.Known != want || want && f.Cost.Share != 1 || f.Level != health.Slow) {
				t.Errorf("at %g %%: %+v", utilization, f)
			}
		}
	}
}

// TestChoicesLeft: what a list of NCCL's algorithms or protocols costs is what those that are left take where NCCL would have chosen another,
// of small messages where large ones lose nothing; a list that leaves NCCL's choice at all sizes costs nothing.
func TestChoicesLeft(t *testing.T) {
	for _, x := range []struct {
		name, value, of string
		least, most     float64
	}{
		{"NCCL_PROTO", "Simple", "KiB", 0.3, 3},
		{"NCCL_PROTO", "LL,LL128,Simple", "1 GiB", 0, 0},
		{"NCCL_PROTO", "^Simple", "1 GiB", 0.1, 20},
		{"NCCL_ALGO", "Ring,Tree", "1 GiB", 0.2, 0.4},
		{"NCCL_ALGO", "^NVLS,NVLSTree", "1 GiB", 0.2, 0.4},
		{"NCCL_ALGO", "allgather:Tree", "1 GiB", 0, 0},
		{"NCCL_ALGO", "allreduce:NVLS,NVLSTree;broadcast:Ring", "KiB", 0.3, 3},
	} {
		s := healthy()
		s.Set(s.Part(health.Variable, x.name), "value", x.value, "plant")
		c := examined(t, s).Findings[0].Cost
		if !c.Known || c.Share < x.least || c.Share > x.most || !strings.Contains(c.Of, x.of) {
			t.Errorf("%s=%s: %+v", x.name, x.value, c)
		}
	}
}

// TestEveryRuleHasAPrice, unless it only says what is worth knowing, or that jobs end.
func TestEveryRuleHasAPrice(t *testing.T) {
	for _, r := range rules().Rules {
		if r.Effect == "" && r.Level == health.Slow || r.Effect != "" && r.Level == health.Broken {
			t.Errorf("%s is %s and has the effect %q", r.Name, r.Level, r.Effect)
		}
	}
}

// TestWithoutSharedMemory: where GPUs exchange through host memory, the adapters in its place are slower.
func TestWithoutSharedMemory(t *testing.T) {
	for name, want := range map[string]float64{"rtx4090-server": 1.5, "dgx-h100": 0, "pcie4-server": 1.5} {
		s := new(health.State)
		s.Say(s.Part(health.Variable, "NCCL_SHM_DISABLE"), "value", "1", "test")
		d, err := Examine(Asked{State: s, Intended: study.Site{Name: name, Source: topologies.Source}})
		if err != nil {
			t.Fatal(err)
		}
		if c := d.Findings[0].Cost; !c.Known || math.Abs(c.Share-want) > 0.1 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestAccesses: of what probe measured on a GPU, the worst beside its type's is judged; where nothing was measured of the type, nothing is.
func TestAccesses(t *testing.T) {
	rows := func(slower float64) (out []measurement.Link) {
		m, err := cost.GetMachine("h200")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Access.Rates {
			x := measurement.Link{Kind: r.Access.Kind(), Src: "0", Dst: "0", Bytes: r.Copied, Value: r.Rate.GBps()}
			if r.Pattern == measurement.Strided && r.Piece == 64 {
				x.Value /= slower
			}
			out = append(out, x)
		}
		return append(out, measurement.Link{Kind: "local_copy", Src: "0", Value: 1})
	}
	for slower, want := range map[float64]string{1.05: "", 1.5: "reaches 66.7 % of what such GPUs do with strided"} {
		d, err := Examine(Asked{State: new(health.State), Intended: study.Site{Name: "dgx-h200"}, Rows: rows(slower)})
		if err != nil || d.Judged != 1 || (len(d.Findings) > 0) != (want != "") {
			t.Errorf("%g: %+v, %v", slower, d, err)
		} else if want != "" && (!strings.HasPrefix(d.Findings[0].Says, want) || math.Abs(d.Findings[0].Cost.Share-0.5) > 1e-6) {
			t.Errorf("%g: %+v", slower, d.Findings)
		}
	}
	d, err := Examine(Asked{State: new(health.State), Intended: study.Site{Name: "dgx1-v100"}, Rows: rows(2)})
	if err != nil || d.Judged != 0 {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestEqualFindingsAreOne: what is wrong with all is said once, in a sentence that fits its verb, and costs what all of it costs; commands
// that take one part are written for one.
func TestEqualFindingsAreOne(t *testing.T) {
	s := healthy()
	for i := range 8 {
		s.Set(s.GPU(i), "pcie_width", 8.0, "test")
	}
	d := examined(t, s)
	if len(d.Findings) != 1 || d.Findings[0].Part != "each of GPUs 0-7" || !strings.Contains(d.Findings[0].Do, "-i 0,1,2,3,4,5,6,7") ||
		!d.Findings[0].Cost.Known {
		t.Errorf("%+v", d.Findings)
	}
	s = healthy()
	s.Set(s.Part(health.NIC, "mlx5_2"), "rate", 200.0, "test")
	s.Set(s.Part(health.NIC, "mlx5_5"), "rate", 200.0, "test")
	f := examined(t, s).Findings[0]
	if f.Part != "each of mlx5_2, mlx5_5" || f.Do != "mlxlink -d mlx5_2; swap cable, then port; the same for the others" {
		t.Errorf("%+v", f)
	}
}

// TestOneNodeOfACluster: a machine is compared with one node of the cluster that it is in.
func TestOneNodeOfACluster(t *testing.T) {
	s := healthy()
	s.Set(s.GPU(3), "links_up", 17.0, "test")
	d, err := Examine(Asked{State: s, Intended: study.Site{Name: "superpod-h100"}})
	if err != nil || len(d.Findings) != 1 || d.Findings[0].Rule != "links-missing" || len(d.Notes) != 1 ||
		d.Notes[0] != "compared with one of the 32 nodes of superpod-h100" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestVerbsAreSingular, since several parts are each of them.
func TestVerbsAreSingular(t *testing.T) {
	past := []string{"({device})", "could", "counted", "lost", "may", "received", "replaced", "sent", "waited", "was"}
	for _, r := range rules().Rules {
		if verb, _, _ := strings.Cut(r.Says.text, " "); !strings.HasSuffix(verb, "s") && !slices.Contains(past, verb) {
			t.Errorf("%s: each of GPUs 0-7 %s", r.Name, verb)
		}
	}
}

// TestUnknownFactsAreNoFault: rules without their facts are named with what they lack.
func TestUnknownFactsAreNoFault(t *testing.T) {
	s := new(health.State)
	s.GPU(0)
	d, err := Examine(Asked{State: s})
	if err != nil || len(d.Findings) > 0 || d.Judged != 0 || len(d.Unjudged) != len(rules().Rules) || d.Uncosted == "" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestNobodyLookedAtThePCIBus: what it has is not taken to be what the driver shows; GPUs that are missing are so all the same.
func TestNobodyLookedAtThePCIBus(t *testing.T) {
	for gpus, want := range map[float64]string{8: "", 7: "gpus-missing"} {
		s := healthy()
		s.Host().Remove("gpus_on_pci")
		s.Set(s.Host(), "gpus", gpus, "plant")
		d := examined(t, s)
		if !slices.ContainsFunc(d.Unjudged, func(u Unjudged) bool { return u.Rule == "gpus-without-driver" }) {
			t.Errorf("%g GPUs: not judged are %+v", gpus, d.Unjudged)
		}
		if found := len(d.Findings) > 0; found != (want != "") || found && d.Findings[0].Rule != want {
			t.Errorf("%g GPUs: %+v", gpus, d.Findings)
		}
	}
}

// TestRules: each has an address, and each machine that is guessed is shipped, with as many GPUs.
func TestRules(t *testing.T) {
	for _, r := range rules().Rules {
		if !strings.HasPrefix(r.Source, "https://") || r.Effect != "" && r.Left.text == "" {
			t.Errorf("%s: source %q, effect %q without left", r.Name, r.Source, r.Effect)
		}
	}
	for _, m := range rules().Machines {
		top, err := topology.Load(topologies.Source, m.Topology, topology.Options{})
		if err != nil || top.NumRanks() != m.GPUs || top.NumNodes() != 1 {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// TestWrongRules are refused with their line.
func TestWrongRules(t *testing.T) {
	for rule, want := range map[string]string{
		"if: links_up < 18, says: x":                    "",
		"if: links_high < 18, says: x":                  "links_high",
		"if: host.gpu < 18, says: x":                    "host.gpu",
		"if: median(peers.product) < 1, says: x":        "peers.product",
		`if: product < 1, says: x`:                      "invalid operation",
		`if: links_up < 1, says: "{links_up"`:           "without }",
		`if: links_up < 1, says: x, effect: earthquake`: "earthquake",
	} {
		_, err := readBook("r.yaml", []byte("schema: railyard.rules/v1\nmachines: [{gpu: x, gpus: 1, topology: y}]\nrules:\n"+
			"  - {name: r, of: gpu, "+rule+", level: slow, why: x, do: x, source: x}\n"))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "r.yaml:4: ")) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestSlots: what is below what card and slot can both is a fault; what the slot lacks is advice, which changes no exit code.
func TestSlots(t *testing.T) {
	for _, c := range []struct {
		slot, width float64
		want        string
	}{{16, 16, ""}, {8, 8, "pcie-slot notice"}, {8, 4, "pcie-width slow, pcie-slot notice"}, {16, 8, "pcie-width slow"}} {
		s := healthy()
		s.Set(s.GPU(5), "pcie_width", c.width, "test")
		s.Set(s.GPU(5), "pcie_width_slot", c.slot, "test")
		d, err := Examine(Asked{State: s})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range d.Findings {
			if strings.HasPrefix(f.Rule, "pcie-") {
				got = append(got, fmt.Sprintf("%s %v", f.Rule, f.Level))
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("slot x%v, runs x%v: %s, want %s", c.slot, c.width, text, c.want)
		}
	}
}

// TestLanesThatNobodyWired: fewer lanes than a card has are a fault where a slot, another GPU or the intended topology has them, else a
// notice: of the T4 and A10G of clouds, nvidia-smi shows 8 of 16 lanes.
func TestLanesThatNobodyWired(t *testing.T) {
	for _, c := range []struct {
		other, slot float64 // 0: there is none, or it is not known
		intended    string
		want        string
	}{{0, 0, "", "pcie-wired notice"}, {8, 0, "", "pcie-wired notice"}, {16, 0, "", "pcie-width slow"}, {0, 16, "", "pcie-width slow"},
		{8, 0, "dgx-h100", "pcie-width slow"}} {
		s := new(health.State)
		for i, width := range []float64{8, c.other} {
			if width > 0 {
				s.Say(s.GPU(i), "pcie_width", width, "test")
				s.Say(s.GPU(i), "pcie_width_max", 16.0, "test")
			}
		}
		if c.slot > 0 {
			s.Say(s.GPU(0), "pcie_width_slot", c.slot, "test")
		}
		d, err := Examine(Asked{State: s, Intended: study.Site{Name: c.intended}})
		if err != nil || len(d.Findings) == 0 {
			t.Fatalf("%+v: %+v, %v", c, d, err)
		}
		if f := d.Findings[0]; fmt.Sprintf("%s %v", f.Rule, f.Level) != c.want {
			t.Errorf("%+v: %s %v", c, f.Rule, f.Level)
		}
	}
}

// TestAdviceIsTheMakers: what is found on AMD's GPUs comes with commands of AMD's, for each GPU, and is called what AMD calls it.
func TestAdviceIsTheMakers(t *testing.T) {
	for _, p := range []struct {
		fact string
		is   any
		says string
	}{
		{"links_up", 6.0, "has 6 of 7 links of Infinity Fabric"},
		{"pcie_width", 8.0, "has 8 of 16 PCIe lanes"},
		{"pcie_replays", 9000.0, "sent 9000 PCIe packets again"},
		{"ecc_uncorrected", 1.0, "has 1 memory error not corrected"},
		{"throttle_thermal", true, "is slowed by heat"},
		{"clock", 900.0, "runs at 900 MHz"},
		{"memory_used", 6e10, "in use though no kernel runs"},
		{"peers_reached", 6.0, "reaches 6 of 7 other GPUs"},
	} {
		s := new(health.State)
		s.Say(s.Host(), "maker", health.AMD, "test")
		for i := range 8 {
			for fact, is := range map[string]any{"product": "AMD Instinct MI300X", "links_up": 7.0, "pcie_width": 16.0, "pcie_width_max": 16.0,
				"pcie_replays": 0.0, "ecc_uncorrected": 0.0, "throttle_thermal": false, "clock": 2100.0, "clock_max": 2100.0,
				"utilization": 100.0, "memory": 2e11, "memory_used": 0.0, "peers_reached": 7.0} {
				if fact == "utilization" && p.fact == "memory_used" {
					is = 0.0
				}
				s.Say(s.GPU(i), fact, is, "test")
			}
		}
		if d, err := Examine(Asked{State: s}); err != nil || len(d.Findings) > 0 || d.Topology != "mi300x-node" {
			t.Fatalf("%+v, %v", d, err)
		}
		s.Set(s.GPU(3), p.fact, p.is, "plant")
		s.Set(s.GPU(5), p.fact, p.is, "plant")
		d, err := Examine(Asked{State: s})
		if err != nil || len(d.Findings) != 1 {
			t.Errorf("%s: %+v, %v", p.fact, d, err)
			continue
		}
		f := d.Findings[0]
		text := f.Says + f.Why + f.Do
		if !strings.Contains(f.Says, p.says) || strings.Contains(text, "nvidia") || strings.Contains(text, "Xid") ||
			!strings.Contains(f.Do, "amd-smi") || !strings.Contains(f.Source, "amd") || strings.Contains(f.Do, "3,5") {
			t.Errorf("%s: %+v", p.fact, f)
		}
	}
}
