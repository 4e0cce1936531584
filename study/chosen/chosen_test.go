package chosen

import (
	"os"
	"slices"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/nccllog"
	"railyard/model/health"
	"railyard/model/observed"
	"railyard/report"
	"railyard/study"
)

func find(t *testing.T, site, text string) ([]health.Finding, []string) {
	t.Helper()
	log, err := nccllog.Parse(nccllog.File{Name: "log", Reader: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	f := Find(log, Machine{Site: study.Site{Name: site}})
	return f.Findings, f.Notes
}

func rulesOf(list []health.Finding) (out []string) {
	for _, f := range list {
		out = append(out, f.Rule)
	}
	return out
}

// A real log: four pretended hosts over sockets. Beside an InfiniBand cluster that is wrong; nothing else is.
func TestRealLog(t *testing.T) {
	data, err := os.ReadFile("../../interop/nccllog/testdata/four_sockets.log")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := find(t, "superpod-h100", string(data))
	i := slices.IndexFunc(got, func(f health.Finding) bool { return f.Rule == "nccl/socket" && strings.Contains(f.Part, "of 4 ranks") })
	if i < 0 || !got[i].Cost.Known || got[i].Cost.Share < 1 || got[i].Level != health.Slow {
		t.Errorf("%+v", got)
	}
}

// TestSaid: rings, trees, channels, connections and choices of a log stand in rows, whether or not a machine is named.
func TestSaid(t *testing.T) {
	data, err := os.Open("../../interop/nccllog/testdata/four_sockets.log")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	log, err := nccllog.Parse(nccllog.File{Name: "log", Reader: data})
	if err != nil {
		t.Fatal(err)
	}
	f := Find(log, Machine{})
	want := report.DoctorSetup{Count: 1, Ranks: 4, Nodes: 4, Network: "Socket", Channels: 2, Connections: "64 NET/Socket", Rings: "2 × 0-3",
		Trees: "1 × 0 (2 (1 3)), 1 × 3 (1 (2 0))"}
	if len(f.Setups) != 2 || f.Setups[0] != want {
		t.Errorf("%+v", f.Setups)
	}
	from := Find(log, Machine{Site: study.Site{Name: "superpod-h100"}})
	if e := from.Setups[0].Expected; e == nil || *e <= 2 {
		t.Errorf("%+v", from.Setups[0])
	}
	calls := func(list []report.DoctorChoice) (n int) {
		for _, c := range list {
			n += c.Calls
		}
		return n
	}
	slower := slices.ContainsFunc(from.Choices, func(c report.DoctorChoice) bool {
		return c.Collective == "all_reduce" && c.From == 8<<10 && c.Chose == "ring/ll" && c.Expected == "tree/ll" && *c.Longer > tolerated
	})
	if n := calls(f.Choices); n == 0 || n != calls(from.Choices) || f.Choices[0].Expected != "" || !slower {
		t.Errorf("%+v\n%+v", f.Choices, from.Choices)
	}
}

// TestTreesEnd, also where a log has a rank below itself.
func TestTreesEnd(t *testing.T) {
	c := &observed.Comm{Trees: []observed.Branch{{Rank: 0, Up: -1, Down: []int{1}}, {Rank: 1, Up: 0, Down: []int{0, 1}}}}
	if got := trees(c).list(strings.Clone); got != "1 × 0 (1 (0 1))" {
		t.Error(got)
	}
	long := &observed.Comm{}
	for i := range 100_000 {
		long.Trees = append(long.Trees, observed.Branch{Rank: i, Up: i - 1, Down: []int{i + 1}})
	}
	if got := trees(long).list(cut); len(got) > longest+10 || !strings.HasSuffix(got, "…") {
		t.Error(got)
	}
}

// one is the log of a communicator of eight ranks of one host.
func one(lines ...string) string {
	prefix := "h:1:1 [0] NCCL INFO "
	out := prefix + "ncclCommInitRank comm 0xa rank 0 nranks 8 cudaDev 0 nvmlDev 0 busId 60 commId 0x1 - Init START\n" +
		prefix + "comm 0xa rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n"
	for rank := 1; rank < 8; rank++ {
		out += "h:" + string(rune('1'+rank)) + ":1 [0] NCCL INFO ncclCommInitRank comm 0xb rank " + string(rune('0'+rank)) +
			" nranks 8 cudaDev 0 nvmlDev 0 busId 60 commId 0x1 - Init START\n"
	}
	for _, l := range lines {
		out += prefix + l + "\n"
	}
	return out
}

const (
	whole = "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, 32 p2p channels per peer"
	peer  = "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"
)

func TestHealthyLog(t *testing.T) {
	got, notes := find(t, "dgx-h100", one("NVLS multicast support is available on dev 0", whole, peer,
		"AllReduce: 1073741824 Bytes -> Algo NVLS proto SIMPLE channel{Lo..Hi}={0..15}"))
	if len(got) != 0 || len(notes) != 0 {
		t.Errorf("%+v, %q", got, notes)
	}
}

// What is planted is found, with its cost where the machine is known.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		rule, says, do string
		costs          bool
		lines          []string
	}{
		{"nccl/no-nvls", "0 NVLS channels", "unset NCCL_NVLS_ENABLE=0 (log:10)", true, []string{"NCCL_NVLS_ENABLE set by environment to 0.",
			"24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer", peer}},
		{"nccl/choice", "runs all_reduce of 1 GiB as tree/simple where", "unset NCCL_ALGO=Tree", true, []string{whole, peer,
			"NCCL_ALGO set by environment to Tree", "AllReduce: 1073741824 Bytes -> Algo TREE proto SIMPLE channel{Lo..Hi}={0..23}"}},
		{"nccl/no-peer", "ranks 0 and 1 of one host reach each other via SHM/direct/direct", "unset NCCL_P2P_DISABLE=1", false,
			[]string{whole, "NCCL_P2P_DISABLE set by environment to 1.", "Channel 00 : 0[0] -> 1[1] via SHM/direct/direct"}},
		{"nccl/channels", "4 channels where", "unset NCCL_MAX_NCHANNELS=4", false, []string{"NCCL_MAX_NCHANNELS set by environment to 4.",
			"4 coll channels, 4 collnet channels, 16 nvls channels, 4 p2p channels, 4 p2p channels per peer", peer}},
	} {
		got, _ := find(t, "dgx-h100", one(c.lines...))
		i := slices.IndexFunc(got, func(f health.Finding) bool { return f.Rule == c.rule })
		if i < 0 || !strings.Contains(got[i].Says, c.says) || !strings.Contains(got[i].Do, c.do) || got[i].Cost.Known != c.costs ||
			c.costs && got[i].Cost.Share <= 0 || got[i].Level != health.Slow {
			t.Errorf("%s: %v, %+v", c.rule, rulesOf(got), got)
		}
	}
}

func TestNetworks(t *testing.T) {
	two := strings.NewReplacer("nranks 8", "nranks 16", "nRanks 8 nNodes 1", "nRanks 16 nNodes 2").Replace(one(whole, peer,
		"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>"))
	way := func(via string) string {
		return "h:1:1 [0] NCCL INFO Channel 00/0 : 15[7] -> 0[0] [receive] via " + via + "\n"
	}
	got, _ := find(t, "superpod-h100", two+way("NET/IB/0/GDRDMA"))
	if len(got) != 0 {
		t.Errorf("%+v", got)
	}
	got, _ = find(t, "superpod-h100", two+way("NET/Socket/0"))
	if len(got) != 1 || got[0].Rule != "nccl/socket" || !strings.Contains(got[0].Says, "though mlx5_0, mlx5_1 are there") ||
		got[0].Cost.Share < 1 {
		t.Errorf("%+v", got)
	}
	got, _ = find(t, "superpod-h100", two+way("NET/IB/0")+way("NET/IB/0/GDRDMA"))
	if len(got) != 1 || got[0].Rule != "nccl/no-gpudirect" || !strings.HasPrefix(got[0].Says, "has 1 of 2 connections") {
		t.Errorf("%+v", got)
	}
	// Without a machine, what needs no expectation is found all the same.
	got, notes := find(t, "", two+way("NET/Socket/0"))
	if len(got) != 1 || got[0].Cost.Known || len(notes) != 1 {
		t.Errorf("%+v, %q", got, notes)
	}
}

func TestLargest(t *testing.T) {
	j := judge{log: &observed.Log{}}
	if j.largest(&observed.Comm{}) != size {
		t.Error("without choices")
	}
}

// TestOrdersThatBeginAlike: rings of many ranks that differ at their ends alone are two orders, and communicators that do are two.
func TestOrdersThatBeginAlike(t *testing.T) {
	order := func(last ...int) (ring []int) {
		for r := 98; r > 2; r -= 2 {
			ring = append(ring, r)
		}
		return append(ring, last...)
	}
	a := observed.Comm{Ranks: 50, Channels: 2, Rings: [][]int{order(2, 0), order(0, 2)}}
	b := observed.Comm{Ranks: 50, Channels: 2, Rings: [][]int{order(2, 0), order(2, 0)}}
	got := Find(&observed.Log{Comms: []observed.Comm{a, b, a}}, Machine{}).Setups
	if len(got) != 2 || got[0].Count != 2 || strings.Count(got[0].Rings, "1 × ") != 2 || !strings.HasPrefix(got[1].Rings, "2 × ") {
		t.Errorf("%+v", got)
	}
}
