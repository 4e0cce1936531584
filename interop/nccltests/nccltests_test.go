package nccltests

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/units"
)

// A log as nccl-tests 2.x prints it, with a line of NCCL's own in between. The numbers
// are H200 rows measured on 2026-11-21.
const log = `# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809
# Collective test starting: all_reduce_perf
# nThread 1 nGpus 4 minBytes 1024 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#  Rank  0 Group  0 Pid   1234 on  vm device  0 [0x01] NVIDIA H200
#  Rank  1 Group  0 Pid   1234 on  vm device  1 [0x02] NVIDIA H200
#  Rank  2 Group  0 Pid   1234 on  vm device  2 [0x03] NVIDIA H200
#  Rank  3 Group  0 Pid   1234 on  vm device  3 [0x04] NVIDIA H200
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1    11.73    0.09    0.13      0    11.71    0.09    0.13      0
vm:1234:1240 [0] NCCL INFO Connected all rings
     1048576        262144     float     sum      -1    20.30   51.65   77.48      0    20.10   52.17   78.25      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 38.8
`

func TestParseText(t *testing.T) {
	set, err := ParseText(strings.NewReader(log), "log", "")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Rows) != 2 {
		t.Fatalf("%d rows", len(set.Rows))
	}
	r := set.Rows[1]
	if r.Collective != collective.AllReduce || r.GPUs != 4 || r.Nodes != 1 || r.InPlace != 20_100_000 || r.Size != units.MiB ||
		r.Time != 20_300_000 || r.DType != "float" || r.Line != 14 {
		t.Errorf("%+v", r)
	}
	old := "  1048576  262144  float  20.30  51.65  38.74  0e+00  20.10  52.17  39.12  0e+00\n"
	set, err = ParseText(strings.NewReader(old), "old", "all_gather")
	if err != nil || set.Rows[0].Time != 20_300_000 || set.Rows[0].Columns[9] != "20.10" {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := ParseText(strings.NewReader("nothing here\n"), "x", "all_reduce"); err == nil {
		t.Error("accepted a log without results")
	}
}

// preamble is what nccl-tests print before the results: of ranks on hosts with so many each.
func preamble(name string, hosts ...string) string {
	text, rank := "# Collective test starting: "+name+"_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor) warmup iters: 1 "+
		"iters: 20 agg iters: 1 validation: 1 graph: 0\n", 0
	for _, h := range hosts {
		text += fmt.Sprintf("#  Rank %2d Group  0 Pid   1234 on %10s device  0 [0000:01:00] NVIDIA H200\n", rank, h)
		rank++
	}
	return text
}

// ahead puts a launcher's words before each line.
func ahead(words, text string) string {
	return words + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+words) + "\n"
}

const result1MiB = "     1048576        262144     float     sum      -1    20.30   51.65   77.48      0    20.10   52.17   78.25      0\n"

func TestLogs(t *testing.T) {
	two := preamble("all_reduce", "a", "a", "b", "b") + result1MiB
	for _, c := range []struct {
		name, log, given string
		want             []string // collective, GPUs, nodes, time, in place, and why it cannot be used
	}{
		{"two nodes", two, "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"two tests", two + "# Collective test concluded: all_reduce_perf\n" + preamble("all_gather", "a", "a") + result1MiB, "",
			[]string{"all_reduce 4 2 20.3us 20.1us ", "all_gather 2 1 20.3us 20.1us "}},
		{"one of two tests", two + preamble("all_gather", "a", "a") + result1MiB, "allgather", []string{"all_gather 2 1 20.3us 20.1us "}},
		{"named at the end", strings.Split(preamble("", "a", "b"), "\n")[2] + "\n" + result1MiB +
			"# Collective test concluded: reduce_scatter_perf_mpi\n", "", []string{"reduce_scatter 1 1 20.3us 20.1us "}},
		{"another program's name", two + "b:1:2 [0] NCCL INFO gpu_perf alltoall_perf\n" + result1MiB, "",
			[]string{"all_reduce 4 2 20.3us 20.1us ", "all_reduce 4 2 20.3us 20.1us "}},
		{"without MPI", preamble("all_reduce", "a") + preamble("all_reduce", "b") + result1MiB, "",
			[]string{"all_reduce 1 2 20.3us 20.1us every process measured alone, as where nccl-tests are built without MPI=1"}},
		{"uneven", preamble("all_reduce", "a", "a", "b") + result1MiB, "",
			[]string{"all_reduce 3 2 20.3us 20.1us 3 ranks are spread unevenly over 2 nodes"}},
		{"not validated", preamble("all_reduce", "a", "a") + strings.ReplaceAll(result1MiB, "      0", "    N/A"), "",
			[]string{"all_reduce 2 1 20.3us 20.1us "}},
		{"wrong", preamble("all_reduce", "a", "a") + strings.Replace(result1MiB, "      0", "     12", 1), "",
			[]string{"all_reduce 2 1 20.3us 20.1us nccl-tests found wrong results: fix that first"}},
		{"wrong in place", preamble("all_reduce", "a", "a") + strings.TrimSuffix(result1MiB, "0\n") + "1e+03\n", "",
			[]string{"all_reduce 2 1 20.3us 20.1us nccl-tests found wrong results: fix that first"}},
		{"time of day", preamble("all_reduce", "a", "a") + strings.TrimSuffix(result1MiB, "\n") + "  2026-11-22 17:00:00\n", "",
			[]string{"all_reduce 2 1 20.3us 20.1us "}},
		{"iterations", preamble("all_reduce", "a", "a") +
			strings.ReplaceAll(result1MiB, "      0", "      0     19.0     22.0     21.9      1.5"), "",
			[]string{"all_reduce 2 1 20.3us 20.1us "}},
		{"no time", preamble("all_reduce", "a", "a") + strings.Replace(result1MiB, "  20.30", "    nan", 1), "",
			[]string{"all_reduce 2 1 0ps 20.1us no time was measured"}},
		{"a time that is no number", preamble("all_reduce", "a", "a") + strings.Replace(result1MiB, "  20.30", "    N/A", 1), "",
			[]string{"all_reduce 2 1 0ps 20.1us no time was measured"}},
		{"negative", preamble("all_reduce", "a", "a") + strings.Replace(result1MiB, "  20.30", "  -20.3", 1), "",
			[]string{"all_reduce 2 1 0ps 20.1us no time was measured"}},
		{"endless", preamble("all_reduce", "a", "a") + strings.Replace(result1MiB, "  20.30", "  1e309", 1), "",
			[]string{"all_reduce 2 1 0ps 20.1us no time was measured"}},
		{"processor's", preamble("all_reduce", "a", "a") + "#  size  count  type  redop  root  cputime  algbw  busbw\n" + result1MiB, "",
			[]string{"all_reduce 2 1 20.3us 20.1us the times are the processor's: measure without -C"}},
		{"split", strings.Replace(strings.Replace(preamble("all_reduce", "a", "a", "b", "b"), "2 Group  0", "0 Group  1", 1), "3 Group  0",
			"1 Group  1", 1) + result1MiB, "", []string{"all_reduce 2 1 20.3us 20.1us "}},
		{"mpirun --tag-output, quoted", ahead(">   [1,0]<stdout>:", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"mpirun --output tag", ahead("[prterun-a-12@1,0]<stdout>: ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"pdsh", ahead("worker-0: ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"srun -l", ahead("0: ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"srun -l of more than ten tasks", ahead(" 0: ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"a launcher's rank", ahead("[0] ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"kubectl logs --timestamps", ahead("2026-11-22T17:00:00.123456789Z ", two), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"headings of Markdown", strings.ReplaceAll(two, "# ", ""), "", []string{"all_reduce 4 2 20.3us 20.1us "}},
		{"cut", preamble("all_reduce", "a", "a") + result1MiB + result1MiB[:70], "", []string{"all_reduce 2 1 20.3us 20.1us "}},
	} {
		if strings.Contains(c.log, "nThread") && !Is([]byte(c.log)) {
			t.Errorf("%s: not recognised", c.name)
		}
		set, err := ParseText(strings.NewReader(c.log), "log", c.given)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, r := range set.Rows {
			got = append(got, fmt.Sprint(r.Collective, " ", r.GPUs, r.Nodes, r.Time, r.InPlace, " ", r.Unusable))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}

// Rows say how they were launched, and their columns what was reduced and how.
func TestRowsOfGraphs(t *testing.T) {
	for graphs, launch := range map[string]string{"graph: 0": "", "graph: 1": "graph", "graph: 20": "graph"} {
		set, err := ParseText(strings.NewReader(strings.Replace(preamble("all_reduce", "a", "a"), "graph: 0", graphs, 1)+result1MiB), "log",
			"")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"all_reduce", "2", "1", "1048576", "float", "sum", "20.30", "51.65", "77.48", "20.10"}
		if r := set.Rows[0]; r.Launch != launch || r.Replayed != (graphs == "graph: 20") || !slices.Equal(r.Columns, want) {
			t.Errorf("%s: launched by %q, %q", graphs, r.Launch, r.Columns)
		}
	}
}

// TestBandwidthsTell: only an all-reduce has more bus bandwidth than its algorithm.
func TestBandwidthsTell(t *testing.T) {
	set, err := ParseText(strings.NewReader(result1MiB), "log", "")
	if err != nil || set.Rows[0].Collective != collective.AllReduce {
		t.Errorf("%+v, %v", set, err)
	}
}

func TestLogsThatSayTooLittle(t *testing.T) {
	for _, c := range []struct{ log, given, want string }{
		{strings.Replace(result1MiB, "77.48", "51.65", 1), "", "log:1: the log does not say which collective it measured: give it with -c"},
		{preamble("all_reduce", "a") + result1MiB, "all_gather",
			"log measures all_reduce, not all_gather: leave -c out, or give another file"},
		{preamble("hypercube", "a") + result1MiB, "", `log:4: unknown collective "hypercube"`},
		{preamble("all_reduce", "a"), "", "log: no result line of nccl-tests found"},
	} {
		if _, err := ParseText(strings.NewReader(c.log), "log", c.given); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Where a test failed, its log says so, with or without results.
func TestFailedTests(t *testing.T) {
	const said = "n1: Test NCCL failure common.cu:1005 'unhandled system error / '\n .. n1 pid 7: Test failure common.cu:891\n"
	for _, rows := range []string{"", result1MiB} {
		set, err := ParseText(strings.NewReader(preamble("all_reduce", "a")+rows+said), "log", "")
		if err != nil || len(set.Failures) != 1 || set.Failures[0].Says != "NCCL failure common.cu:1005 'unhandled system error / ' on n1" {
			t.Errorf("%+v, %v", set, err)
		}
	}
}

// TestParseJSONOfNodes: what version 2 of the document says of the run.
func TestParseJSONOfNodes(t *testing.T) {
	const doc = `{"version":2,"args":["./build/all_reduce_perf_mpi","-b","1K"],"config":{"nthreads":3,"ngpus":2,"graph":1,"devices":[{"rank":0,"hostname":"a"},{"rank":2,"hostname":"b"}]},
"results":[{"size":1024,"count":256,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":11.73,"alg_bw":"nan","bus_bw":0.13,"nwrong":null},"in_place":{"time":11.71,"alg_bw":0,"bus_bw":0,"nwrong":3}}]}`
	set, err := ParseJSON(strings.NewReader(doc), "j", "", 8)
	if err != nil {
		t.Fatal(err)
	}
	if r := set.Rows[0]; r.Collective != collective.AllReduce || r.GPUs != 12 || r.Nodes != 2 || r.Launch != "graph" ||
		r.InPlace != 11_710_000 || r.Unusable == "" {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{`{"results":[{"size":1,"out_of_place":null}]}`, `{"results":[{"size":1,"out_of_place":{"cpu_time":1}}]}`,
		`{"results":[{"size":1,"out_of_place":{"time":-1}}]}`} {
		if _, err := ParseJSON(strings.NewReader(bad), "j", "all_reduce", 8); err == nil {
			t.Errorf("took %s", bad)
		}
	}
}

func TestParseJSON(t *testing.T) {
	const doc = `{"version":"2.19.6","results":[{"size":1024,"count":256,"type":"float","redop":"sum","root":-1,"out_of_place":{"time":11.73,"alg_bw":0.09,"bus_bw":0.13,"nwrong":0},"in_place":{"time":11.71}}]}`
	set, err := ParseJSON(strings.NewReader(doc), "j", "all_reduce", 4)
	if err != nil || len(set.Rows) != 1 || set.Rows[0].Time != 11_730_000 || set.Rows[0].GPUs != 4 {
		t.Errorf("%+v, %v", set, err)
	}
}

// Version 3 with the times of each iteration and process (src/util.cu of nccl-tests 2.19).
const perProcess = `{"version":3,"start_time":"2026-11-23 10:00:00","args":["./all_reduce_perf_mpi","-I","1"],"env":[],"nccl_version":22809,` +
	`"config":{"nthreads":1,"ngpus":2,"graph":0,"devices":[{"rank":0,"hostname":"a"},{"rank":2,"hostname":"b"}]},"results":[{"size":1048576,` +
	`"count":262144,"type":"float","redop":"sum","root":"    -1","out_of_place":{"time":31.0,"alg_bw":33.8,"bus_bw":50.7,"nwrong":0},` +
	`"out_of_place_per_iter":{"skipped_iterations":0,"min_us":30,"times_us":[31,32],"per_process_max_times_us":[[31,32],[21,22]]},` +
	`"in_place":{"time":30.0,"alg_bw":33.8,"bus_bw":50.7,"nwrong":0}}]}`

func TestIterationsOfProcesses(t *testing.T) {
	if !IsJSON([]byte(perProcess)) {
		t.Error("is not known for what it is")
	}
	calls, err := Calls(strings.NewReader(perProcess), "j")
	if err != nil || len(calls) != 4 {
		t.Fatalf("%+v, %v", calls, err)
	}
	c := calls[3]
	if c.Rank != 1 || c.Host != "b" || c.Ranks != 4 || c.Nodes != 2 || c.Seq != 1 || c.Time != 22_000_000 || c.Size != units.MiB ||
		c.Kind != collective.AllReduce {
		t.Errorf("%+v", c)
	}
	set, err := ParseJSON(strings.NewReader(perProcess), "j", "", 0)
	if err != nil || set.Rows[0].GPUs != 4 || set.Rows[0].Time != 31_000_000 {
		t.Errorf("%+v, %v", set, err)
	}
	each := strings.ReplaceAll(strings.ReplaceAll(perProcess, `"ngpus":2`, `"ngpus":4`), `"rank":2`, `"rank":1`) // a device for each rank
	if calls, err := Calls(strings.NewReader(each), "j"); err != nil || calls[0].Ranks != 2 {
		t.Errorf("%+v, %v", calls, err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"[21,22]", "[21]", "j: result 0: process 1 has 1 times, process 0 2"},
		{"[21,22]", "[21,-22]", "j: result 0: process 1, iteration 1: time -22"},
		{"out_of_place_per_iter", "other", "j: it has no times of iterations"},
		{"all_reduce_perf", "gossip_perf", `j: its "args" do not name the test`},
		{`"version":3`, `"version":3]`, "j: line 1: "},
		{`"ngpus":2`, `"ngpus":333333332`, `j: "config" has 333333332 GPUs a thread and 1 threads: a process has 1024 GPUs at most`},
	} {
		if _, err := Calls(strings.NewReader(strings.ReplaceAll(perProcess, c.from, c.to)), "j"); err == nil ||
			!strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func FuzzCalls(f *testing.F) {
	f.Add(perProcess)
	f.Fuzz(func(t *testing.T, s string) {
		calls, err := Calls(strings.NewReader(s), "f")
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

func FuzzParseText(f *testing.F) {
	f.Add(log)
	f.Fuzz(func(t *testing.T, s string) {
		if set, err := ParseText(strings.NewReader(s), "f", "all_reduce"); err == nil {
			for _, r := range set.Rows {
				if r.Size < 0 || r.Time < 0 || len(r.Columns) != len(header) {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

// TestBandwidthsTellRanks: a table without the list of ranks, as issues quote it, tells how many they were by the bus factor, as far as
// two decimals do; never another number than it was.
func TestBandwidthsTellRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	told := map[collective.Kind]int{}
	for range 2000 {
		kind := collective.All()[r.IntN(len(collective.All()))]
		ranks, text := 1+r.IntN(100), ""
		for range 1 + r.IntN(6) {
			algorithm := math.Exp(r.Float64() * 6)
			text += fmt.Sprintf(" 1048576 262144 float sum -1 20.30 %.2f %.2f 0\n", algorithm, algorithm*kind.BusFactor(ranks))
		}
		set, err := ParseText(strings.NewReader(text), "log", kind.String())
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Rows[0].GPUs; got != 0 && got != ranks {
			t.Errorf("%v of %d ranks: %d\n%s", kind, ranks, got, text)
		} else if got != 0 {
			told[kind]++
		}
	}
	if told[collective.AllReduce] < 80 || told[collective.AllToAll] < 80 || told[collective.Broadcast] > 0 {
		t.Errorf("%v", told)
	}
}
