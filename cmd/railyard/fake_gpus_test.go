//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/cmd/internal/cli"
	"railyard/cmd/internal/clitest"
	"railyard/internal/long"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
)

// TestProbeOnFakeGPUs: all kinds of rows are there, those of messages one way in all sizes and to all
// numbers of GPUs; the fit takes them.
func TestProbeOnFakeGPUs(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	file := filepath.Join(t.TempDir(), "links.csv")
	clitest.Succeeds(t, railyard("probe", "-t", "hgx-h200-4", "-o", strings.TrimSuffix(file, "csv")+"yaml"))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	links, err := measurement.ReadLinks(bytes.NewReader(text), file)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string][]string{}
	for _, l := range links {
		if b := l.Bytes.String(); !slices.Contains(sizes[l.Kind], b) {
			sizes[l.Kind] = append(sizes[l.Kind], b)
		}
	}
	for kind, want := range map[string]int{"ll_spread_overlap": 17, "relay_t256_overlap": 7, "relay_t128_overlap": 7} {
		if got := len(sizes[kind]); got != want {
			t.Errorf("%s: %d sizes, want %d", kind, got, want)
		}
	}
	for protocol, want := range map[string]int{"ll": 17, "ll128": 15, "simple": 9, "pull": 9} {
		for n := 1; n <= 3; n++ {
			kind := protocol + "_cast" + strconv.Itoa(n) + "_overlap"
			if got := len(sizes[kind]); got != want {
				t.Errorf("%s: %d sizes, want %d", kind, got, want)
			}
		}
	}
	for _, kind := range []string{"local_load_coalesced_p16", "local_store_misaligned_p1", "peer_load_strided_p64",
		"peer_store_scattered_p4096"} {
		if got := len(sizes[kind]); got != 2 {
			t.Errorf("%s: %d sizes, want 2", kind, got)
		}
	}
	for _, kind := range []string{"alloc_plain", "alloc_pool", "alloc_mapped", "copy_in_pool"} {
		if got := len(sizes[kind]); got != 3 {
			t.Errorf("%s: %d sizes, want 3", kind, got)
		}
	}
	profile, err := os.ReadFile(strings.TrimSuffix(file, "csv") + "yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"protocol: ll_oneway", "protocol: ll128_oneway", "protocol: simple_oneway", "protocol: pull_oneway",
		"window: "} {
		if !strings.Contains(string(profile), line) {
			t.Errorf("the profile has no %s", line)
		}
	}
}

// TestRunsAreForeseen: what GPUs run is predicted as railyard's own kernels run it, without a profile
// of the user's, whoever chose the schedule.
func TestRunsAreForeseen(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	h200, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	probed := filepath.Join(t.TempDir(), "h200.yaml") // nothing says what is fastest
	if err := cli.WriteMachine(probed, cost.NewMachine("h200").WithOwn(h200.Measured())); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		args        string
		schedule    string
		least, most float64 // µs
	}{
		{"-c all_reduce -s 1K", "direct/ll", 1.6, 2.0}, // 1.7 to 1.8 on two H200
		{"-c all_reduce -s 256M", "two_shot/copy×2", 700, 760},
		{"-c all_reduce -s 1K --algo direct --how mechanism=pull", "direct/pull", 2.5, 6},
		{"-c all_reduce -s 64M --algo two_shot --how mechanism=words_push --in-place", "two_shot/words", 185, 200}, // 189
		{"-c reduce -s 64M", "direct/pull", 180, 195},                                                              // 185
		// Nothing says what is fastest: pushed where that is predicted to be, but not in place.
		{"-c send_recv -s 64M", "direct", 185, 195}, // 188
		{"-c send_recv -s 64M --how mechanism=pull", "direct/pull", 200, 215},
		{"-c all_gather -s 64M --profile " + probed, "direct", 95, 102}, // 97
		{"-c all_gather -s 16M --in-place --profile " + probed, "direct/pull", 30, 36},
		{"-c all_reduce -s 1M --profile " + probed, "direct/words", 4, 6},
		{"-c all_reduce -s 64M --profile " + probed, "direct/words", 185, 200}, // 189 by words_push in two_shot
		{"-c reduce_scatter -s 1M --profile " + probed, "direct/words", 3, 6},
		{"-c all_reduce -s 1M -d int32 --profile " + probed, "direct/ll128", 5, 8}, // words carry floats
		{"-c all_reduce -s 1G --profile " + probed, "two_shot/copy×2", 2750, 2950}, // by copy engines, as measured: 2.78 ms in two slices
	} {
		if !long.Every(3, i) {
			continue
		}
		d := foreseen(t, railyard, c.args)
		if got := d.Rows[0]; d.Profile != "h200" || got.Schedule != c.schedule || !(got.PredictedUS >= c.least &&
			got.PredictedUS <= c.most) {
			t.Errorf("%s: %s in %g µs by profile %s", c.args, got.Schedule, got.PredictedUS, d.Profile)
		}
		unknown := "does not say what is fastest here"
		said := strings.Contains(strings.Join(d.Rows[0].Warnings, "\n"), unknown)
		if said != strings.Contains(c.args, probed) {
			t.Errorf("%s: a warning %q in its row: %v", c.args, unknown, said)
		}
	}
}

// TestMethodsWithoutCurves: a profile may say what is fastest and know nothing of such messages. Then
// the prediction is that of the schedule that runs, as if the user had asked for it.
func TestMethodsWithoutCurves(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	profile := filepath.Join(t.TempDir(), "library.yaml")
	h200, err := cost.GetMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	if err := cli.WriteMachine(profile, h200.WithOwn(nil)); err != nil {
		t.Fatal(err)
	}
	known := foreseen(t, railyard, "-c all_reduce -s 256M --profile "+profile)
	asked := foreseen(t, railyard, "-c all_reduce -s 256M --algo two_shot --slices 2 --how mechanism=copies --profile "+profile)
	if a, b := known.Rows[0], asked.Rows[0]; a.Schedule != b.Schedule || a.PredictedUS != b.PredictedUS {
		t.Errorf("%s in %g µs, %s in %g µs when asked for", a.Schedule, a.PredictedUS, b.Schedule, b.PredictedUS)
	}
}

// foreseen runs a collective on two fake GPUs, whose results are wrong, since they compute nothing.
func foreseen(t *testing.T, railyard func(...string) *exec.Cmd, args string) (d report.RunDocument) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "result")
	_ = railyard(append([]string{"run", "--backend", "cuda", "-t", "hgx-h200-4", "--gpus", "2", "-o", dir},
		strings.Fields(args)...)...).Run()
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "run.json"))), &d); err != nil || len(d.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", args, len(d.Rows), err)
	}
	return d
}

// TestOneNodeOnFakeGPUs: processes of one node run what one process runs there, kernel by kernel, and predict it alike.
func TestOneNodeOnFakeGPUs(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	for i, c := range []struct {
		args string
		size int // processes
	}{
		{"--gpus 2 -c all_reduce -s 1K", 2},
		{"--gpus 2 -c all_gather -s 1001 -d bfloat16 --how mechanism=pull,blocks=2 --algo direct", 2},
		{"--gpus 4 -c all_reduce -s 1M --how specialise=false", 2}, // two GPUs each
		{"--gpus 4 -c reduce -s 64K --in-place", 4},
		{"--gpus 2 -c all_reduce -s 256M", 2}, // copy engines
	} {
		if !long.Every(2, i) {
			continue
		}
		args := "-t hgx-h200-4 " + c.args
		r := launchOf(t, c.size, "run --backend cuda "+args, filepath.Join(t.TempDir(), "result"), railyard)
		for rank := range r.all {
			if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(), "wrong elements at ") {
				t.Fatalf("%s: rank %d: exit code %d, %s", c.args, rank, code, r.out[rank])
			}
		}
		alone := filepath.Join(t.TempDir(), "alone")
		_ = railyard(append(strings.Fields("run --backend cuda "+args), "-o", alone)...).Run()
		var several, one report.RunDocument
		for dir, d := range map[string]*report.RunDocument{r.dir: &several, alone: &one} {
			if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "run.json"))), d); err != nil || len(d.Rows) != 1 {
				t.Fatalf("%s: %d rows, %v", c.args, len(d.Rows), err)
			}
		}
		a, b := several.Rows[0], one.Rows[0]
		if a.Schedule != b.Schedule || a.PredictedUS != b.PredictedUS ||
			math.Round(a.MeasuredUS.Median*100) != math.Round(b.MeasuredUS.Median*100) {
			t.Errorf("%s: %s in %g µs (predicted %g), in one process %s in %g (%g)", c.args, a.Schedule, a.MeasuredUS.Median,
				a.PredictedUS, b.Schedule, b.MeasuredUS.Median, b.PredictedUS)
		}
	}
}

// TestSharedFakeGPU: processes that take the same GPU run what was fastest on GPUs of their own in as many blocks as fit together.
func TestSharedFakeGPU(t *testing.T) {
	fake := clitest.FakeGPUs(t, "railyard")
	cases := []string{"-c all_reduce -s 16M", "-c broadcast -s 64M", "-c all_reduce -s 256M", "-c all_gather -s 1G -n 1"}
	for _, args := range cases[:long.Or(1, len(cases))] {
		r := launchOf(t, 4, "run --backend cuda -t hgx-h200-4 "+args, filepath.Join(t.TempDir(), "result"), func(args ...string) *exec.Cmd {
			cmd := fake(args...)
			cmd.Env = append(cmd.Env, "RAILYARD_LOCAL_RANK=0") // each takes the first GPU
			return cmd
		})
		for rank := range r.all {
			if code, said := r.ended(rank), r.out[rank].String(); code != 1 || !strings.Contains(said, "wrong elements at ") ||
				rank == 0 && !strings.Contains(said, "4 ranks share a GPU") {
				t.Errorf("%s: rank %d: exit code %d, %s", args, rank, code, said)
			}
		}
	}
}

// TestBaselineOnFakeGPUs: NCCL's collectives are timed alike in one process and in several, of which rank 0 writes; what GPUs that
// compute nothing leave is wrong where it is checked.
func TestBaselineOnFakeGPUs(t *testing.T) {
	fake := clitest.FakeGPUs(t, "railyard")
	for i, c := range []struct {
		args, row string // a row's beginning
		checked   bool
	}{
		{"-c all_reduce,broadcast --root 1 -s 1M", "all_reduce,4,default,default,none,graph,float32,1048576,262144,sum,-1,10.000,", true},
		{"-c all_reduce -s 8M -d float8_e4m3", "all_reduce,4,default,default,none,graph,float8_e4m3,8388608,8388608,sum,-1,10.000,", true},
		{"-c all_reduce -s 1M -d float64 --setting windows",
			"all_reduce,4,default,default,window,graph,float64,1048576,131072,sum,-1,10.000,",
			false},
		{"-c all_reduce -s 1M --op avg --how launch=stream --setting ring/ll128", "all_reduce,4,ring,ll128,none,stream,float32,1048576," +
			"262144,avg,-1,13.000,", false},
	} {
		if !long.Every(2, i) {
			continue
		}
		for _, size := range long.Or([]int{1, 4}, []int{1, 2, 4}) {
			file := filepath.Join(t.TempDir(), "nccl.csv")
			args := "baseline -t hgx-h200-4 " + c.args
			r := &launched{t: t}
			if size > 1 {
				r = launchOf(t, size, args, file, fake)
			} else {
				cmd := fake(append(strings.Fields(args), "-o", file)...)
				r.all, r.out = []*exec.Cmd{cmd}, []*bytes.Buffer{new(bytes.Buffer)}
				cmd.Stdout, cmd.Stderr = r.out[0], r.out[0]
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
			}
			for rank := range r.all {
				want := 0
				if c.checked {
					want = 1
				}
				if code := r.ended(rank); code != want || c.checked != strings.Contains(r.out[rank].String(), "wrong elements") {
					t.Fatalf("%s, %d processes: rank %d: exit code %d, %s", c.args, size, rank, code, r.out[rank])
				}
			}
			if text := read(t, file); !strings.Contains(text, c.row) {
				t.Errorf("%s, %d processes: no row %s in\n%s", c.args, size, c.row, text)
			}
		}
	}
}

// TestLostOnFakeGPUs: whatever the GPUs, the driver or a library wait for, a process that is gone ends all others with the reason.
func TestLostOnFakeGPUs(t *testing.T) {
	fake := clitest.FakeGPUs(t, "railyard")
	for i, c := range []struct {
		args, hangs string
		lost        int
	}{
		{"-t hgx-h200-4 --gpus 3", "RAILYARD_FAKE_BUSY", 1},
		{"-t hgx-h200-4 --gpus 3", "RAILYARD_FAKE_STUCK", 0},
		{"-t dgx-h200 --nodes 3 --gpus 1", "RAILYARD_FAKE_BUSY", 0},
		{"-t dgx-h200 --nodes 3 --gpus 1", "RAILYARD_FAKE_STUCK", 2},
		{"-t dgx-h200 --nodes 3 --gpus 1 --how engine=proxy", "RAILYARD_FAKE_BUSY", 1},
	} {
		if !long.Every(2, i) {
			continue
		}
		stuck := filepath.Join(t.TempDir(), "stuck")
		r := launchOf(t, 3, "run --backend cuda -c all_reduce -s 1M "+c.args, filepath.Join(t.TempDir(), "result"),
			func(args ...string) *exec.Cmd {
				cmd := fake(args...)
				cmd.Env = append(cmd.Env, c.hangs+"="+stuck)
				return cmd
			})
		for {
			if _, err := os.Stat(r.dir); err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := r.all[c.lost].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for rank := range r.all {
			code := r.ended(rank)
			if said := r.out[rank].String(); rank != c.lost &&
				(code != 1 || !strings.Contains(said, fmt.Sprintf("lost rank %d on ", c.lost))) {
				t.Errorf("%s, %s: rank %d: exit code %d, %s", c.args, c.hangs, rank, code, said)
			}
		}
	}
}

// TestLostProbeOnFakeGPUs: so do processes that probe engines.
func TestLostProbeOnFakeGPUs(t *testing.T) {
	fake := clitest.FakeGPUs(t, "railyard")
	stuck := filepath.Join(t.TempDir(), "stuck")
	r := launchOf(t, 3, "probe -t dgx-h200 --nodes 3 --gpus 1 -e 1M", filepath.Join(t.TempDir(), "network.yaml"),
		func(args ...string) *exec.Cmd {
			cmd := fake(args...)
			cmd.Env = append(cmd.Env, "RAILYARD_FAKE_STUCK="+stuck)
			return cmd
		})
	for all := []string(nil); len(all) < 3; time.Sleep(20 * time.Millisecond) { // until the network is measured, but GPUs are not
		all, _ = filepath.Glob(stuck + "-*") // a pattern that is right
	}
	if err := r.all[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{0, 2} {
		if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(), "lost rank 1 on ") {
			t.Errorf("rank %d: exit code %d, %s", rank, code, r.out[rank])
		}
	}
}

// TestSocketsWithoutProxy: on GPUs only a proxy has sockets of railyard's; without one they are refused, not ignored.
func TestSocketsWithoutProxy(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	for _, args := range []string{"--nodes 2 --gpus 1 --how engine=stages", "--nodes 2 --gpus 1", "--gpus 2"} {
		r := launchOf(t, 2, "run --backend cuda -t dgx-h200 -c all_reduce -s 1K --sockets 2 "+args,
			filepath.Join(t.TempDir(), "result"), railyard)
		for rank := range r.all {
			if code := r.ended(rank); code != 2 || !strings.Contains(r.out[rank].String(), "--sockets has no effect on GPUs") {
				t.Errorf("%s: rank %d: exit code %d, %s", args, rank, code, r.out[rank])
			}
		}
	}
}

// TestStagesOnFakeGPUs: processes with GPUs of their own run stages, and NCCL's own collective beside; of each rank
// there are times. What GPUs that compute nothing leave is wrong, and every process says so.
func TestStagesOnFakeGPUs(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	for i, c := range []struct {
		args         string
		size, kernel int // processes, kernels that follow one another in an operation
	}{
		{"--nodes 2 --gpus 1 -c all_reduce -s 1M --algo two_shot", 2, 2},
		{"--nodes 2 --gpus 2 -c all_reduce -s 1M --algo hierarchical_two_shot", 2, 4},
		{"--nodes 3 --gpus 1 -c all_reduce -s 1M --algo direct --how mechanism=pull,blocks=2", 3, 2},
		{"--nodes 2 --gpus 2 -c all_reduce -s 1M --algo hierarchical_two_shot --how engine=proxy --sockets 2", 2, 1},
		{"--nodes 3 --gpus 1 -c all_reduce -s 1K --how engine=proxy", 3, 1},
	} {
		if !long.Every(3, i) { // one in stages, one by proxy
			continue
		}
		r := launchOf(t, c.size, "run --backend cuda -t dgx-h200 "+c.args, filepath.Join(t.TempDir(), "result"), railyard)
		for rank := range r.all {
			if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(), "wrong elements at ") {
				t.Fatalf("%s: rank %d: exit code %d, %s", c.args, rank, code, r.out[rank])
			}
		}
		var d report.RunDocument
		if err := json.Unmarshal([]byte(read(t, filepath.Join(r.dir, "run.json"))), &d); err != nil || len(d.Rows) != 1 {
			t.Fatalf("%s: %d rows, %v", c.args, len(d.Rows), err)
		}
		row := d.Rows[0]
		engine := "stages"
		if strings.Contains(c.args, "engine=proxy") {
			engine = "proxy"
		}
		if said := strings.Join(row.Warnings, "\n"); !strings.Contains(said, "cost by engine "+engine+" was not measured") {
			t.Errorf("%s: nothing says what its prediction of messages between nodes is: %s", c.args, said)
		}
		if us := 2 * float64(c.kernel); math.Round(row.MeasuredUS.Median) != us {
			t.Errorf("%s: %g µs for %d kernels", c.args, row.MeasuredUS.Median, c.kernel)
		}
		if row.Library.MeasuredUS == nil || math.Round(*row.Library.MeasuredUS) != 10 || !strings.HasPrefix(row.Slowest, "rank ") {
			t.Errorf("%s: NCCL %v µs, slowest %q", c.args, row.Library.MeasuredUS, row.Slowest)
		}
		ranks := strings.Count(read(t, filepath.Join(r.dir, "ranks.jsonl")), "\n")
		if _, gpus, _ := strings.Cut(c.args, "--gpus "); ranks != c.size*int(gpus[0]-'0') {
			t.Errorf("%s: times of %d ranks", c.args, ranks)
		}
	}
}

// TestEnginesOnFakeGPUs: probe says what messages between nodes cost by each engine, and a run takes for each size the one that is
// predicted to be faster, unless the user says which.
func TestEnginesOnFakeGPUs(t *testing.T) {
	railyard := clitest.FakeGPUs(t, "railyard")
	probed := filepath.Join(t.TempDir(), "network.yaml")
	r := launchOf(t, 2, "probe -t dgx-h200 --nodes 2 --gpus 1 -e 1M", probed, railyard)
	for rank := range r.all {
		if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(), "wrong elements") {
			t.Fatalf("rank %d: exit code %d, %s", rank, code, r.out[rank]) // GPUs that compute nothing cannot be measured
		}
	}
	profile := filepath.Join(t.TempDir(), "engines.yaml")
	curve := func(protocol string, alpha units.Time, share float64) cost.Curve {
		return cost.Curve{Medium: "network", Protocol: protocol, Segments: []cost.Segment{{Alpha: alpha, Efficiency: share}}}
	}
	if err := cli.WriteMachine(profile, cost.NewMachine("engines").WithOwn(&cost.Profile{Origin: cost.Origin{
		Kind: cost.Measured, Source: "a test", Date: "2026-11-23", Error: "none"}, Curves: []cost.Curve{
		curve("proxy", 10*units.Microsecond, 0.01), curve("stages", 40*units.Microsecond, 0.1)}})); err != nil {
		t.Fatal(err)
	}
	for how, want := range map[string][]string{"": {"direct/proxy", "direct/simple"}, " --how engine=proxy": {"direct/proxy",
		"direct/proxy"},
		" --how engine=stages": {"direct/simple", "direct/simple"}} {
		r := launchOf(t, 2, "run --backend cuda -t dgx-h200 --nodes 2 --gpus 1 -c all_reduce --algo direct --proto simple -b 1K -e 16M "+
			"-f 16384 --profile "+
			profile+how, filepath.Join(t.TempDir(), "result"), railyard)
		for rank := range r.all {
			if code := r.ended(rank); code != 1 || !strings.Contains(r.out[rank].String(), "wrong elements at ") {
				t.Fatalf("%q: rank %d: exit code %d, %s", how, rank, code, r.out[rank])
			}
		}
		var d report.RunDocument
		if err := json.Unmarshal([]byte(read(t, filepath.Join(r.dir, "run.json"))), &d); err != nil || len(d.Rows) != len(want) {
			t.Fatalf("%q: %d rows, %v: %s", how, len(d.Rows), err, r.out[0])
		}
		for i, row := range d.Rows {
			if row.Schedule != want[i] && row.Schedule != strings.Replace(want[i], "simple", "pull", 1) {
				t.Errorf("%q: %s in %g µs, want %s", how, row.Schedule, row.PredictedUS, want[i])
			}
		}
	}
}

// TestTuneNCCLOnFakeGPUs: of NCCL's ways those are kept that are faster than its own choice in every round, in the launch mode asked for;
// the table of NCCL's example plugin is written as well.
func TestTuneNCCLOnFakeGPUs(t *testing.T) {
	fake := clitest.FakeGPUs(t, "railyard")
	dir := t.TempDir()
	for _, c := range []struct{ how, file, row string }{
		{"nccl,launch=graph,rounds=5", "graph.c", `"allreduce tree/`},
		{"nccl,rounds=2", "stream.csv", ",tree,"},
	} {
		out := filepath.Join(dir, c.file)
		clitest.Succeeds(t, fake("tune", "-t", "hgx-h200-4", "--gpus", "2", "--how", c.how, "-c", "all_reduce", "-b", "1K", "-e",
			"16K", "-f", "16",
			"-o", out))
		text := read(t, out)
		if !strings.Contains(text, c.row) || !strings.Contains(text, " proven at 1KiB: 8") &&
			!strings.Contains(text, " proven from 1KiB to 16KiB: 8") {
			t.Errorf("%s: %s", c.how, text)
		}
		rows := read(t, strings.TrimSuffix(out, filepath.Ext(out))+"-rows.csv")
		rounds := int(c.how[len(c.how)-1] - '0')
		if got := strings.Count(rows, "all_reduce,2,default,default"); got != 2*rounds {
			t.Errorf("%s: NCCL's own choice was timed %d times at two sizes in %d rounds", c.how, got, rounds)
		}
	}
	for args, want := range map[string]string{
		"--how nccl": "which file?", "--how nccl -o x.c --per-case 1s": "no effect with --how nccl",
		"-o x.c":             "no effect without --how nccl",
		"--how nccl -o x.so": "which file?", "--profile x.yaml --how launch=graph": "no effect without --how nccl",
		"--how nccl -o x.c -c all_to_all": "NCCL's tuners do not take it", "": "which profile?",
	} {
		said, err := fake(append([]string{"tune", "-t", "hgx-h200-4"}, strings.Fields(args)...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(said), want) {
			t.Errorf("tune %s: %v, %s", args, err, said)
		}
	}
}
