package inspector

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// testdata: dumps of NCCL's Inspector (built from NVIDIA/nccl of June 2026) by two processes on one H200 (NCCL 2.28.9, driver
// 580.159.04, 2026-11-23), shortened; verbose.log with event traces.
func read(t *testing.T, name string) []observed.Call {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !Is(data[:512]) {
		t.Errorf("%s is not known for what it is", name)
	}
	calls, err := Parse(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestRealDumps(t *testing.T) {
	calls := read(t, "plain.log")
	if len(calls) != 28 { // of 30 lines two are messages
		t.Fatalf("%d calls", len(calls))
	}
	want := observed.Call{Place: observed.Place{File: "plain.log", Line: 2}, Group: "0x36a144996cc567", Rank: 0, Ranks: 2, Nodes: 2,
		Host: "vm",
		Kind: collective.AllGather, Size: 128 * units.KiB, Seq: 0, Start: 1795459241334857000, Time: 98_000_000}
	if got := calls[1]; got.On != nil || got.Place != want.Place || got.Size != want.Size || got.Start != want.Start ||
		got.Time != want.Time ||
		got.Kind != want.Kind || got.Ranks != want.Ranks || got.Nodes != want.Nodes || got.Group != want.Group || got.Host != want.Host {
		t.Errorf("%+v", got)
	}
	if got := read(t, "verbose.log")[0]; got.Start != 1795459256694513000 || got.Rank != 1 || got.Time != 4_951_000_000 {
		t.Errorf("%+v", got)
	}
}

// The example of the plugin's README.
const prometheus = `# HELP
nccl_bus_bandwidth_gbs{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",comm_name="DP Group 0",n_nodes="1",nranks="4",collective="AllReduce",message_size="4-5GB",algo_proto="Ring_ll"} 678.263
nccl_collective_exec_time_microseconds{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",comm_name="DP Group 0",n_nodes="1",nranks="4",collective="AllReduce",message_size="4-5GB",algo_proto="Ring_ll"} 9498.47
nccl_p2p_bus_bandwidth_gbs{version="v5.1",slurm_job_id="unknown",node="nvl72004-T01",gpu="GPU0",comm_name="DP Group 0",n_nodes="1",nranks="4",p2p_operation="Send",message_size="512-513MB"} 464.9
`

func TestMetrics(t *testing.T) {
	if !Is([]byte(prometheus)) {
		t.Error("is not known for what it is")
	}
	calls, err := Parse(strings.NewReader(prometheus), "m")
	if err != nil || len(calls) != 1 {
		t.Fatalf("%+v, %v", calls, err)
	}
	c := calls[0] // 678.263 GB/s of bus bandwidth for 9,498 µs by 1.5 are 4.0000 GiB: what was sent
	if c.Group != "DP Group 0" || c.Ranks != 4 || c.Nodes != 1 || !c.Mean || c.Time != 9_498_470_000 || c.Size < 4*units.GiB ||
		c.Size > 4*units.GiB+units.MiB {
		t.Errorf("%+v", c)
	}
	alone := prometheus[:strings.Index(prometheus, "nccl_collective")]
	calls, err = Parse(strings.NewReader(alone), "m")
	if err != nil || len(calls) != 1 || calls[0].Size != 4*units.GiB || math.Abs(calls[0].Time.Microseconds()-9498.5) > 1 {
		t.Errorf("without a time: %+v, %v", calls, err)
	}
	if calls, err = Parse(strings.NewReader(strings.Replace(alone, "4-5GB", "0-1KB", 1)), "m"); err != nil || len(calls) != 0 {
		t.Errorf("of no size: %+v, %v", calls, err)
	}
}

func TestMistakes(t *testing.T) {
	good := `{"header":{"id":"a","rank":0,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0"},"coll_perf":` +
		`{"coll":"AllReduce","coll_msg_size_bytes":8,"coll_exec_time_us":1}}`
	for _, c := range []struct{ data, want string }{
		{"\n{", "d:2: not a line of NCCL's Inspector"},
		{"{}", `d:1: it has no "inspector_output_format_version"`},
		{strings.Replace(good, `"rank":0`, `"rank":2`, 1), "d:1: rank 2 of 2"},
		{strings.Replace(good, "AllReduce", "AllThings", 1), `d:1: unknown collective "AllThings"`},
		{strings.Replace(good, `bytes":8`, `bytes":-8`, 1), "d:1: -8 bytes"},
		{good + "\nhello\n", "d:2: neither a line"},
		{strings.Replace(prometheus, "4-5GB", "many", 2), `d:2: message_size "many"`},
		{strings.Replace(prometheus, "678.263", "NaN", 1), `d:2: nccl_bus_bandwidth_gbs: "NaN"`},
	} {
		if _, err := Parse(strings.NewReader(c.data), "d"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.data, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"plain.log", "verbose.log"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(prometheus))
	f.Fuzz(func(t *testing.T, data []byte) {
		calls, err := Parse(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		for _, c := range calls {
			if c.Size < 0 || c.Time < 0 || c.Ranks < 1 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
