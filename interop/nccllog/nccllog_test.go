package nccllog

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// testdata/four_sockets.log: four processes on one H200 as four pretended hosts over sockets (NCCL 2.28.9, PyTorch 2.11.0, driver
// 580.159.04, 2026-11-23; NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH,TUNING,COLL), shortened.
func TestRealLog(t *testing.T) {
	data, err := os.ReadFile("testdata/four_sockets.log")
	if err != nil {
		t.Fatal(err)
	}
	if !Is(data[:4096]) {
		t.Error("is not known for what it is")
	}
	log, err := Parse(File{"four", bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.28.9+cuda13.0" || len(log.Comms) != 2 {
		t.Fatalf("%s, %d communicators", log.Version, len(log.Comms))
	}
	c := log.Comms[0]
	if c.ID != "0x5efe9e671797676d" || c.Ranks != 4 || c.Nodes != 4 || c.Network != "Socket" || c.Channels != 2 || c.NVLSChannels != 0 ||
		c.PeerChannels != 2 || len(c.Hosts) != 4 || c.Hosts[2] != "vm" || c.Multicast {
		t.Errorf("%+v", c)
	}
	if want := [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}}; !reflect.DeepEqual(c.Rings, want) {
		t.Errorf("rings %v", c.Rings)
	}
	if len(c.Trees) != 8 || !reflect.DeepEqual(c.Trees[0], observed.Branch{Rank: 0, Up: -1, Down: []int{2}}) {
		t.Errorf("trees %+v", c.Trees)
	}
	if len(c.Connections) == 0 || c.Connections[0].Transport() != "NET/Socket" || c.Connections[0].GPUDirect() || c.Connections[0].From != 3 {
		t.Errorf("ways %+v", c.Connections)
	}
	if small := log.Comms[1]; small.Ranks != 2 || small.Nodes != 2 || len(small.Hosts) != 2 {
		t.Errorf("%+v", small)
	}
	want := observed.Choice{Place: log.Choices[1].Place, Comm: c.ID, Kind: collective.AllGather, Size: 256 * units.KiB, Algorithm: "ring",
		Protocol: "simple", Channels: 2, Times: 1}
	if !reflect.DeepEqual(log.Choices[1], want) {
		t.Errorf("%+v", log.Choices[1])
	}
	if v := log.Variables[0]; v.Name != "NCCL_SOCKET_IFNAME" || v.Value != "lo" || v.Line != 1 {
		t.Errorf("%+v", v)
	}
	if want := []observed.Adapter{{Host: "vm", Network: "Socket", Name: "lo"}}; !reflect.DeepEqual(log.Adapters, want) {
		t.Errorf("%+v", log.Adapters)
	}
}

// Lines of other machines, launchers and versions, as public issues have them, shortened: h100clust-worker-1 and the form of choices by
// number after NVIDIA/nccl#1453, H20-GPU-06 after NVIDIA/nccl#1189, "user" after NVIDIA/nccl#1595, #1038 and NVIDIA/nccl-tests#228; the warning
// is testdata's machine.
const issues = `[0] h100clust-worker-1:227602:227667 [0] NCCL INFO NVLS multicast support is available on dev 0
[0] h100clust-worker-1:227602:227667 [0] NCCL INFO NCCL_CROSS_NIC set by environment to 2.
[0] h100clust-worker-1:227602:227667 [0] NCCL INFO ncclCommInitRank comm 0x5639e9f0e8c0 rank 0 nranks 24 cudaDev 0 nvmlDev 0 busId a4000 commId 0x1 - Init START
[0] h100clust-worker-1:227602:227667 [0] NCCL INFO comm 0x5639e9f0e8c0 rank 0 nRanks 24 nNodes 3 localRanks 8 localRank 0 MNNVL 0
[0] h100clust-worker-1:497888:497958 [0] NCCL INFO Channel 05/16 :    0   7   6  13  12  11  10   9   8  15  14  21  20  19  18  17  16  23  22   5
[1,3]<stdout>:H20-GPU-06:4015539:4015652 [0] NCCL INFO comm 0xab rank 2 nranks 4 cudaDev 0 busId 60 - Init START
[1,3]<stdout>:H20-GPU-06:4015539:4015652 [0] NCCL INFO Channel 07/0 : 0[0] -> 2[0] [receive] via NET/IB/3/GDRDMA
[1,3]<stdout>:H20-GPU-06:4015539:4015652 [0] NCCL INFO Channel 00/1 : 3[1] -> 2[0] via P2P/CUMEM
[1,3]<stdout>:H20-GPU-06:4015539:4015652 [0] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 8 p2p channels per peer
user:5181:5232 [2] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_2:1/IB [RO]; OOB ibs85f0:192.168.1.10<0>
user:5181:5232 [2] NCCL INFO NCCL_IB_HCA set to mlx5_0
user:5181:5232 [2] NCCL INFO Using network IB
NCCL version 2.21.5+cuda12.4
user:5181:5232 [2] NCCL INFO AllReduce: 805306368 Bytes -> Algo 1 proto 2 time 3970.683594
user:5181:5232 [2] NCCL INFO AllReduce: 805306368 Bytes -> Algo 1 proto 2 time 3970.683594
user:5181:5232 [2] NCCL INFO AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_AGxLLMC_R nchannels 8 nthreads 512 nWorks 1
[2026-11-23 18:38:55] vm:794:907 [0] misc/socket.cc:72 NCCL WARN socketProgress: Connection closed by remote peer localhost<42078>
[2026-11-23 18:38:55] vm:794:907 [0] misc/socket.cc:72 NCCL WARN socketProgress: Connection closed by remote peer localhost<42078>
`

func TestLinesOfIssues(t *testing.T) {
	log, err := Parse(File{"a", strings.NewReader(issues)})
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Comms) != 2 || log.Version != "2.21.5+cuda12.4" {
		t.Fatalf("%+v", log)
	}
	if c := log.Comms[0]; c.Nodes != 3 || c.Ranks != 24 || !c.Multicast || c.Hosts[0] != "h100clust-worker-1" {
		t.Errorf("%+v", c)
	}
	c := log.Comms[1]
	want := []observed.Connection{{Place: observed.Place{File: "a", Line: 7}, Channel: 7, To: 2, Via: "NET/IB/3/GDRDMA"},
		{Place: observed.Place{File: "a", Line: 8}, Messages: true, From: 3, To: 2, Via: "P2P/CUMEM"}}
	if !reflect.DeepEqual(c.Connections, want) || !c.Connections[0].GPUDirect() || c.Connections[0].Transport() != "NET/IB" || c.Connections[1].Transport() != "P2P" {
		t.Errorf("%+v", c.Connections)
	}
	if c.Channels != 16 || c.PeerChannels != 16 || c.NVLSChannels != 0 {
		t.Errorf("%+v", c)
	}
	if x := log.Choices[0]; len(log.Choices) != 2 || x.Times != 2 || x.Algorithm != "ring" || x.Protocol != "simple" || x.Comm != "" {
		t.Errorf("%+v", log.Choices)
	}
	if x := log.Choices[1]; x.Algorithm != "symmetric" || x.Channels != 8 {
		t.Errorf("%+v", x)
	}
	if w := log.Warnings; len(w) != 1 || w[0].Times != 2 || !strings.HasPrefix(w[0].Text, "socketProgress") || w[0].Host != "vm" {
		t.Errorf("%+v", w)
	}
	if v := log.Variables; len(v) != 2 || v[1].Name != "NCCL_IB_HCA" || v[1].Value != "mlx5_0" {
		t.Errorf("%+v", v)
	}
	if len(log.Adapters) != 2 || log.Adapters[1] != (observed.Adapter{Host: "user", Network: "IB", Name: "mlx5_2"}) {
		t.Errorf("%+v", log.Adapters)
	}
}

// TestFailures: a warning behind which a call of the library's user returned an error says so; one that NCCL went on after does not, nor
// what another GPU of the process said.
func TestFailures(t *testing.T) {
	log, err := Parse(File{"a", strings.NewReader(`h:1:7 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed
h:1:9 [1] misc/socket.cc:58 NCCL WARN socket
h:1:7 [0] NCCL INFO transport/net_ib.cc:371 -> 2
h:1:7 [0] NCCL INFO init.cc:625 -> 2
h:1:7 [0] NCCL INFO group.cc:63 -> 2 [Async thread]
h:1:9 [1] NCCL INFO misc/socket.cc:832 -> 3
h:2:8 [0] NCCL INFO src/init.cc:99 -> 6
`)})
	if err != nil || len(log.Warnings) != 2 || log.Warnings[0].Failed != 2 || log.Warnings[1].Failed != 0 {
		t.Errorf("%+v %v", log, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"nothing\n", "a: no line of NCCL's"},
		{"h:1:1 [0] NCCL INFO comm 0xa rank 4 nranks 4 - Init START\n", "a:1: rank 4 of 4"},
		{"h:1:1 [0] NCCL INFO AllReduce: 1 Bytes -> Algo 9 proto 2 time 1.0\n", "a:1: 9 is none of tree, ring"},
		{"h:1:1 [0] NCCL INFO AllReduce: 99999999999999999999 Bytes -> Algo RING proto LL\n", "a:1: 99999999999999999999 bytes"},
		{"h:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={3..1}\n", "a:1: channels 3 to 1"},
	} {
		if _, err := Parse(File{"a", strings.NewReader(c.log)}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.log, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/four_sockets.log")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(issues))
	f.Add([]byte(strings.ReplaceAll(issues, ":", "")))
	f.Add([]byte("2026-11-29 10:00:00 [rank1]: NCCL INFO comm 0xa rank 1 nRanks 4 nNodes 2 localRanks 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := Parse(File{"f", bytes.NewReader(data)})
		if err != nil {
			return
		}
		for _, x := range log.Choices {
			if x.Size < 0 || x.Channels < 0 || x.Times < 1 {
				t.Fatalf("%+v", x)
			}
		}
		for _, c := range log.Comms {
			if c.Ranks < 1 || c.Channels < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
